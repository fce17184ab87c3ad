"""Bytes to text and documents, with what stands in the way of reading them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from policykit.manifests.parser import ParsedDocument, Problem, parse

BOM = b"\xef\xbb\xbf"


class Text(NamedTuple):
    """A file's text, or the problem with its bytes."""

    text: str
    problem: Problem | None = None


def decode(raw: bytes) -> Text:
    """UTF-8, a byte order mark tolerated; other bytes are a problem with their place."""
    body = raw[3:] if raw.startswith(BOM) else raw
    try:
        return Text(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n")
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", errors="replace"))
        message = f"byte 0x{body[error.start]:02x} is not UTF-8"
        return Text(body.decode("utf-8", errors="replace"), Problem(message, line, column))


def documents(text: Text) -> Iterator[ParsedDocument]:
    """The documents of a file; a file with a problem in its bytes is not read further."""
    if text.problem:
        yield ParsedDocument(None, 0, problem=text.problem)
    else:
        yield from parse(text.text)


_DIRECTIVE = re.compile(r"^[ \t]*(?:- +)?[$%]\{(?:.*\}[ \t\r]*|[^}\n]*)$", re.MULTILINE)
"""A line that Terraform or envsubst replaces as a whole, or that begins such a part: `${indent(4, labels)}`,
`%{ if gpu }`."""


def is_template(text: str) -> bool:
    """Braces of a Helm, Jinja, Terraform or envsubst template: YAML only once it is rendered."""
    if ("{{" in text and "}}" in text) or ("{%" in text and "%}" in text) or "\n%{" in text:
        return True
    return ("${" in text or "%{" in text) and _DIRECTIVE.search(text) is not None
