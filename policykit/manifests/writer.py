"""Plain data to YAML: stable bytes that yamllint likes and every Kubernetes tool reads alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policykit.manifests.scalars import resolve

_PLAIN = re.compile(r"[A-Za-z0-9_./<*(%$@][A-Za-z0-9_./*+=@%$,()<>;~^-]*(?:[ :]?[A-Za-z0-9_./*+=@%$,()<>;~^-]+)*\Z")
_UNSAFE_START = re.compile(r"[*%@<$]")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")


def dump(data: Any) -> str:
    """One document, without `---`, ending in a newline. Mappings keep their order."""
    if isinstance(data, (Mapping, list, tuple)) and data:
        lines: list[str] = []
        _block(data, 0, lines)
        return "\n".join(lines) + "\n"
    return _flow(data) + "\n"


def dump_all(documents: Iterable[Any]) -> str:
    """A stream: each document after a `---` line."""
    return "".join(f"---\n{dump(document)}" for document in documents)


def _block(data: Any, indent: int, lines: list[str]) -> None:
    pad = " " * indent
    if isinstance(data, Mapping):
        for key, value in data.items():
            _entry(f"{pad}{scalar(str(key))}:", value, indent, lines)
        return
    for item in data:
        if isinstance(item, (Mapping, list, tuple)) and item:
            start = len(lines)
            _block(item, indent + 2, lines)
            lines[start] = f"{pad}- {lines[start][indent + 2 :]}"
        elif isinstance(item, str) and "\n" in item:
            _literal(f"{pad}-", item, indent, lines)
        else:
            lines.append(f"{pad}- {_flow(item)}")


def _entry(lead: str, value: Any, indent: int, lines: list[str]) -> None:
    if isinstance(value, (Mapping, list, tuple)) and value:
        lines.append(lead)
        _block(value, indent + 2, lines)
    elif isinstance(value, str) and "\n" in value:
        _literal(lead, value, indent, lines)
    else:
        lines.append(f"{lead} {_flow(value)}")


def _literal(lead: str, text: str, indent: int, lines: list[str]) -> None:
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    if body[:1] in (" ", "") or not all(c.isprintable() or c in "\n\t" for c in body):
        lines.append(f"{lead} {_quoted(text)}")
        return
    lines.append(f"{lead} |{'-' if trailing == 0 else '+' if trailing > 1 else ''}")
    pad = " " * (indent + 2)
    lines.extend(pad + line if line else "" for line in body.split("\n"))
    lines.extend([""] * (trailing - 1))


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
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    plain = (
        _PLAIN.match(text) is not None
        and not _UNSAFE_START.match(text)
        and resolve(text) is text
        and not _SEXAGESIMAL.match(text)
        and not _DATE.match(text)
        and text not in ("=", "<<")
    )
    return text if plain else _quoted(text)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _quoted(text: str) -> str:
    body = "".join(
        _ESCAPES.get(c) or (c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}")
        for c in text
    )
    return f'"{body}"'
