"""Reads the bytes of a file as text and documents, and recognises templates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache

from policykit.manifests import extension
from policykit.manifests.parser import ParsedDocument, Problem, parse
from policykit.namedtuple import NamedTuple

BOM = b"\xef\xbb\xbf"
_DIRECTIVE = re.compile(r"^[ \t]*(?:- +)?[$%]\{(?:.*\}[ \t\r]*|[^}\n]*)$", re.MULTILINE)
"""A line that Terraform or envsubst replaces as a whole, or that starts a block of theirs:
`${indent(4, labels)}`, `%{ if gpu }`."""
_WORD = "# Source: "
_COMMENT = re.compile(r"^# Source: (\S.*?)[ \t]*\r?$", re.MULTILINE)
_ESCAPES = ("\\x", "\\u", "\\U", "\\/", *(f"\\{line_break}" for line_break in "\n\r\x85\u2028\u2029"))
"""With these a quoted scalar in YAML or JSON can contain a word that is not in the text."""


class Text(NamedTuple):
    """A file's text, or the problem with its bytes."""

    text: str
    problem: Problem | None = None


def decode(raw: bytes) -> Text:
    """The text of UTF-8 bytes, with or without a byte order mark; other bytes are a problem."""
    body = raw[3:] if raw.startswith(BOM) else raw
    try:
        return Text(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n")
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", errors="replace"))
        message = f"byte 0x{body[error.start]:02x} is not UTF-8"
        return Text(body.decode("utf-8", errors="replace"), Problem(message, line, column))


_NO_TEXT = (
    (b"\x00GITCRYPT\x00", "encrypted with git-crypt"),
    (b"CHARTMART-ENCRYPTED", "encrypted with Plural"),
    (b"age-encryption.org/", "encrypted with age"),
    (b"Salted__", "encrypted with OpenSSL"),
    (b"\x00\x05\x16\x07", "metadata of macOS"),
)
"""First bytes of files that are not YAML, whatever their name.

Source: `crypto.hpp` of git-crypt, `pkg/crypto` of Plural's CLI, the specification of age, `apps/enc.c` of
OpenSSL, AppleDouble in RFC 1740.
"""


def no_text(raw: bytes) -> str:
    """What a file contains instead of text; empty: unknown."""
    return next((what for start, what in _NO_TEXT if raw.startswith(start)), "")


def documents(text: Text) -> Iterator[ParsedDocument]:
    """The documents of a file; a file with a problem in its bytes is not read further."""
    if text.problem:
        yield ParsedDocument(None, 0, problem=text.problem)
    else:
        yield from parse(text.text)


def is_template(text: str) -> bool:
    """Whether a text has braces of a Helm, Jinja, Terraform or envsubst template."""
    if "{" not in text:
        return False
    if ("{{" in text and "}}" in text) or ("{%" in text and "%}" in text) or "\n%{" in text:
        return True
    return ("${" in text or "%{" in text) and _DIRECTIVE.search(text) is not None


_PLACEHOLDER = re.compile(r"\{|%\([\w.-]+\)[a-z]|@@?\w[\w.-]*@|%%?\w[\w.-]*%")


def stops_at_placeholder(text: str, problem: Problem) -> bool:
    """Whether a document is invalid because of a placeholder in a position that YAML does not allow:
    `${NAME}` of envsubst in a flow collection, or `%(name)s`, `@NAME@`, `%NAME%` at the start of a value."""
    from policykit.manifests.lines import split

    lines = split(text)
    line = lines[problem.line] if problem.line < len(lines) else ""
    found = _PLACEHOLDER.match(line, problem.column)
    if found is None:
        return False
    return found.group() != "{" or line[problem.column - 1 : problem.column] == "$"


def source_comments(text: str) -> tuple[tuple[int, str], ...]:
    """(line from 0, path) of each `# Source:` comment of Helm."""
    if _WORD not in text:
        return ()
    found = []
    line = counted = 0
    for match in _COMMENT.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        found.append((line, match[1]))
    return tuple(found)


def source_of(said: tuple[tuple[int, str], ...], first_line: int, start_line: int) -> str:
    """The template of a document with its `---` at `first_line` and its content from `start_line`, both
    from 0; empty: unknown."""
    last = bisect_left(said, start_line, key=lambda comment: comment[0]) - 1
    return said[last][1] if last >= 0 and said[last][0] >= first_line else ""


def absent_substrings(text: str, words: frozenset[str]) -> frozenset[str]:
    """Those of the words that certainly no scalar in a YAML or JSON text contains."""
    if "\\" in text and any(escape in text for escape in _ESCAPES):
        return frozenset()
    if extension.words and (found := extension.words.absent(text, _listed(words))) is not None:
        return _as_set(found)
    return absent_in_python(text, words)


@lru_cache(maxsize=64)
def _listed(words: frozenset[str]) -> tuple[str, ...]:
    return tuple(words)


@lru_cache(maxsize=1024)  # files of a tree lack the same words
def _as_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words)


def absent_in_python(text: str, words: frozenset[str]) -> frozenset[str]:
    """The words that a text does not contain, without the extension."""
    lacking: list[str] = []
    for word, longer in _by_containment(words).items():
        if word not in text:
            lacking.append(word)
        elif longer:
            lacking += [each for each in longer if each not in text]
    return _with_longer(words, tuple(lacking))


@lru_cache(maxsize=1024)  # files of a tree lack the same words
def _with_longer(words: frozenset[str], lacking: tuple[str, ...]) -> frozenset[str]:
    """The words that a text lacks, given those that were looked for and not found."""
    groups = _by_containment(words)
    return frozenset(lacking).union(*(groups.get(word, ()) for word in lacking))


@lru_cache(maxsize=64)
def _by_containment(words: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    """Words that contain no other word, each with longer ones that contain it: without the one, a text has
    none of the others."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=lambda each: (len(each), each)):
        within = next((known for known in groups if known in word), None)
        if within is None:
            groups[word] = []
        else:
            groups[within].append(word)
    return {word: tuple(longer) for word, longer in groups.items()}
