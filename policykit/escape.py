"""Escapes untrusted text so that no terminal, log or CI system interprets it.

Every message and report passes through this module. It escapes characters that do not
print (control characters, line breaks within a value, marks that change the
direction of text, lone surrogates) and commands of CI systems in logs: a line that begins with `::`, and
`##[...]` or `##vso[...]` anywhere in one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_ANYWHERE = re.compile(r"#(?=#\w*\[)")
"""GitHub's runner (ActionCommand.cs) looks for `##[`, Azure's for `##vso[`, TeamCity for `##teamcity[`."""
_AT_THE_START = re.compile(r"^( *):(?=:)")
"""GitHub's runner ignores spaces before it."""


def one_line(text: str) -> str:
    """The text on one line, with escapes such as `\\x1b[31m`. Idempotent."""
    return _escaped(text, _for_people)


def lines(text: str) -> str:
    """The same for several lines, with tabs kept, such as a diff on a terminal."""
    return "\n".join(_escaped(line, _for_people_with_tabs) for line in text.split("\n"))


def in_place(line: str) -> str:
    """The same for a line with marks below it: a space for each unprintable character."""
    return _escaped(line, _blank)


def dumps(data: Any, *, indent: int | None = 2) -> str:
    """JSON of the data; on one line without an indent."""
    import json

    separators = (",", ":") if indent is None else None
    text = json.dumps(data, indent=indent, separators=separators, ensure_ascii=False)
    if text.isascii() and "##" not in text and "\x7f" not in text:
        return text
    return "\n".join(_escaped(line, _for_json) for line in text.split("\n"))


def xml_text(text: str) -> str:
    """XML text or attribute value on one line; characters not allowed in XML are escaped as in `one_line`."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return _escaped(plain, _for_xml)


def markdown(text: str) -> str:
    """One line of Markdown, also in a table, without tags, links or images from the text."""
    shown = one_line(text).replace("\\", "\\\\")
    return shown.replace("|", "\\|").replace("[", "\\[").replace("<", "&lt;")


def _escaped(text: str, spell: Callable[[str], str]) -> str:
    if not text.isprintable():
        text = "".join(c if c.isprintable() else spell(c) for c in text)
    if "##" in text:
        text = _ANYWHERE.sub(lambda _: spell("#"), text)
    if "::" in text:
        text = _AT_THE_START.sub(lambda match: match[1] + spell(":"), text)
    return text


def _blank(_: str) -> str:
    return " "


def _for_people(character: str) -> str:
    if character in "#:":
        return f"\\x{ord(character):02x}"
    return character.encode("unicode_escape").decode()


def _for_people_with_tabs(character: str) -> str:
    return character if character == "\t" else _for_people(character)


def _for_json(character: str) -> str:
    if character > "\uffff":
        units = character.encode("utf-16-be").hex()
        return f"\\u{units[:4]}\\u{units[4:]}"
    return f"\\u{ord(character):04x}"


def _for_xml(character: str) -> str:
    code = ord(character)
    allowed = code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
    return f"&#x{code:x};" if allowed else _for_people(character)
