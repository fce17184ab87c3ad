"""The operators of expressions such as `${NAME:-default}` and `${NAME%.*}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

Operator = Callable[[str, Sequence[str]], str]
"""From a value and arguments to a value."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z", re.ASCII)
_LONGEST = 10_000
"""Longest value to which patterns are applied, since every prefix of it is tried."""


def _default(value: str, arguments: Sequence[str]) -> str:
    return value or "".join(arguments)


def _length(value: str, arguments: Sequence[str]) -> str:
    return str(len(value.encode("utf-8", errors="surrogatepass")))


def _part(value: str, arguments: Sequence[str]) -> str:
    """A substring, counted in bytes; the value itself if an argument is not a number."""
    if not all(_WHOLE.match(each) for each in arguments):
        return value
    raw = value.encode("utf-8", errors="surrogatepass")
    start = int(arguments[0])
    start = max(0, len(raw) + start) if start < 0 else start
    end = len(raw)
    if len(arguments) > 1:
        length = int(arguments[1])
        end = len(raw) + length if length < 0 else start + length
    return raw[start:end].decode("utf-8", errors="replace") if end >= start else ""


def _first(change: Callable[[str], str]) -> Operator:
    return lambda value, arguments: change(value[:1]) + value[1:]


def _every(change: Callable[[str], str]) -> Operator:
    return lambda value, arguments: change(value)


def _replaced(most: int) -> Operator:
    return lambda value, arguments: value.replace(arguments[0], arguments[1] if arguments[1:] else "", most)


def _replaced_prefix(value: str, arguments: Sequence[str]) -> str:
    if len(arguments) == 2 and value.startswith(arguments[0]):
        return arguments[1] + value[len(arguments[0]) :]
    return value


def _replaced_suffix(value: str, arguments: Sequence[str]) -> str:
    if len(arguments) == 2 and value.endswith(arguments[0]):
        return value[: len(value) - len(arguments[0])] + arguments[1]
    return value


def _without_prefix(*, longest: bool) -> Operator:
    return lambda value, arguments: _trimmed(value, arguments[0], longest)


def _without_suffix(*, longest: bool) -> Operator:
    return lambda value, arguments: _trimmed(value[::-1], arguments[0][::-1], longest)[::-1]


def _trimmed(value: str, pattern: str, longest: bool) -> str:
    """The value without its longest or shortest non-empty prefix that matches a pattern."""
    if len(value) > _LONGEST or len(pattern) > _LONGEST:
        return value
    terms = _terms(pattern)
    if terms is None:
        return value
    lengths = range(len(value), 0, -1) if longest else range(1, len(value) + 1)
    return next((value[length:] for length in lengths if _matches(terms, value[:length])), value)


_STAR = None
_Term = Callable[[str], bool] | None
"""Whether a character matches; None: any number of any characters."""


def _terms(pattern: str) -> list[_Term] | None:
    """The parts of a pattern of `*`, `?`, `[a-z]` and `\\`; None: it is malformed."""
    found: list[_Term] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            if not found or found[-1] is not _STAR:
                found.append(_STAR)
        elif character == "?":
            found.append(lambda each: True)
        elif character == "[":
            ranges, at = _ranges(pattern, at)
            if ranges is None:
                return None
            found.append(ranges)
        else:
            if character == "\\":
                if at == len(pattern):
                    return None
                character = pattern[at]
                at += 1
            found.append(character.__eq__)
    return found


def _ranges(pattern: str, at: int) -> tuple[Callable[[str], bool] | None, int]:
    """The characters in brackets, and the index after them."""
    negated = pattern.startswith("^", at)
    at += negated
    pairs: list[tuple[str, str]] = []
    while not (pairs and pattern.startswith("]", at)):
        low, at = _character(pattern, at)
        high = low
        if low and pattern.startswith("-", at):
            high, at = _character(pattern, at + 1)
        if not low or not high:
            return None, at
        pairs.append((low, high))
    return lambda each: any(low <= each <= high for low, high in pairs) != negated, at + 1


def _character(pattern: str, at: int) -> tuple[str, int]:
    """A character in brackets and the index after it; empty: there is none."""
    if pattern.startswith(("-", "]"), at):
        return "", at
    at += pattern.startswith("\\", at)
    return (pattern[at], at + 1) if at + 1 < len(pattern) else ("", at)


def _matches(terms: Sequence[_Term], text: str) -> bool:
    """Whether a whole text matches. A star matches more only if the rest fails."""
    at = term = 0
    star = -1
    after = 0
    while at < len(text):
        here = terms[term] if term < len(terms) else _STAR
        if term < len(terms) and here is _STAR:
            star, after = term, at
            term += 1
        elif here is not None and here(text[at]):
            at += 1
            term += 1
        elif star >= 0:
            after += 1
            at, term = after, star + 1
        else:
            return False
    return all(each is _STAR for each in terms[term:])


OPERATORS: Mapping[str, Operator] = {
    "default": _default,
    "length": _length,
    ":": _part,
    ",": _first(str.lower),
    ",,": _every(str.lower),
    "^": _first(str.upper),
    "^^": _every(str.upper),
    ",^": lambda value, arguments: value,
    "^,": lambda value, arguments: value,
    "/": _replaced(1),
    "//": _replaced(-1),
    "/#": _replaced_prefix,
    "/%": _replaced_suffix,
    "#": _without_prefix(longest=False),
    "##": _without_prefix(longest=True),
    "%": _without_suffix(longest=False),
    "%%": _without_suffix(longest=True),
}
