"""Plain data to YAML: stable bytes that pass yamllint and that every Kubernetes tool reads the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from policykit.manifests.scalars import resolve
from policykit.namedtuple import NamedTuple

_WIDTH = 80
_PLAIN = re.compile(r"[A-Za-z0-9_./(][A-Za-z0-9_./*+=@%$,()<>;~^-]*(?:[ :][A-Za-z0-9_./*+=@%$,()<>;~^-]+)*\Z")
_SEXAGESIMAL = re.compile(r"[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
_DIGITS = re.compile(r"[0-9.][0-9A-Fa-fxob_.+-]*\Z")
"""May be a number; how much of it, readers disagree about where there is a `_` or no end."""
_LONG_DIGITS = 64
_BREAK = re.compile(r"(?<=\S) (?=\S)")
_UGLY_BLOCK = re.compile(r"[ \t](?:\n|\Z)|\n{4}")
"""What yamllint refuses in a block: spaces at the end of a line, three empty lines."""


class Layout(NamedTuple):
    """Columns by which a block is indented from the key it belongs to."""

    mapping: int = 2
    sequence: int = 2
    """0 puts the dashes below the key, as kubectl and Go programs do."""


HOUSE = Layout()


def dump(data: Any, layout: Layout = HOUSE) -> str:
    """One document, without `---`, ending in a newline. Mappings keep their order."""
    if isinstance(data, (Mapping, list, tuple)) and data:
        lines: list[str] = []
        _block(data, 0, lines, layout)
        return "\n".join(lines) + "\n"
    return _flow(data) + "\n"


def dump_all(documents: Iterable[Any]) -> str:
    """A stream: each document after a `---` line."""
    return "".join(f"---\n{dump(document)}" for document in documents)


def _block(data: Any, indent: int, lines: list[str], layout: Layout) -> None:
    pad = " " * indent
    if isinstance(data, Mapping):
        for key, value in data.items():
            _entry(f"{pad}{scalar(str(key))}:", value, indent, lines, layout)
        return
    for item in data:
        if isinstance(item, (Mapping, list, tuple)) and item:
            start = len(lines)
            _block(item, indent + 2, lines, layout)
            lines[start] = f"{pad}- {lines[start][indent + 2 :]}"
        else:
            _leaf(f"{pad}-", item, indent, lines)


def _entry(lead: str, value: Any, indent: int, lines: list[str], layout: Layout) -> None:
    if isinstance(value, (Mapping, list, tuple)) and value:
        lines.append(lead)
        _block(
            value, indent + (layout.mapping if isinstance(value, Mapping) else layout.sequence), lines, layout
        )
    else:
        _leaf(lead, value, indent, lines)


def _leaf(lead: str, value: Any, indent: int, lines: list[str]) -> None:
    pad = " " * (indent + 2)
    if isinstance(value, str) and "\n" in value:
        _literal(lead, value, pad, lines)
        return
    text = _flow(value)
    if len(lead) + 1 + len(text) <= _WIDTH or not isinstance(value, str):
        lines.append(f"{lead} {text}")
    elif _BREAK.search(value) and value.strip() == value and value.isprintable():
        lines.append(f"{lead} >-")
        lines.extend(pad + line for line in _folded(value, _WIDTH - len(pad)))
    elif lead.endswith(":"):
        lines.append(lead)
        lines.append(pad + text)
    else:
        lines.append(f"{lead} {text}")


def _literal(lead: str, text: str, pad: str, lines: list[str]) -> None:
    body = text.removesuffix("\n")
    first = body.lstrip("\n")[:1]
    clean = all(c.isprintable() or c in "\n\t" for c in body)
    if body.endswith("\n") or not first.strip() or not clean or _UGLY_BLOCK.search(f"\n{body}"):
        lines.append(f"{lead} {_quoted(text)}")
        return
    lines.append(f"{lead} |" if body != text else f"{lead} |-")
    lines.extend(pad + line if line else "" for line in body.split("\n"))


def _folded(text: str, width: int) -> Iterator[str]:
    """Lines that YAML joins with single spaces again: broken only at single spaces."""
    line = ""
    for word in _BREAK.split(text):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[]"
    return scalar(value)


def scalar(value: Any) -> str:
    """A scalar as YAML text; text that any YAML 1.1 or 1.2 reader could misread is quoted."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return repr(value)
    return _text(str(value))


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    return text if _plain(text) else _quoted(text)


def _plain(text: str) -> bool:
    """Whether the text may be written without quotes."""
    if _PLAIN.match(text) is None or resolve(text) is not text or text.startswith("..."):
        return False
    if _DIGITS.match(text) and ("_" in text or len(text) > _LONG_DIGITS):
        return False
    return not _SEXAGESIMAL.match(text) and not _DATE.match(text)


def _float(number: float) -> str:
    text = repr(number)
    if text in ("inf", "-inf", "nan"):
        return f"-.{text[1:]}" if text.startswith("-") else f".{text}"
    # YAML 1.1 reads an exponent as a number only behind a point and with a sign.
    mantissa, exponent, power = text.partition("e")
    if not exponent:
        return text
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}e{power if power[0] in '+-' else f'+{power}'}"


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _quoted(text: str) -> str:
    body = "".join(
        _ESCAPES.get(c)
        or (c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}")
        for c in text
    )
    return f'"{body}"'
