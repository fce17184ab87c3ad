"""`.gitignore` files, as git reads them, in linear time.

A pattern becomes a regular expression that never backtracks over a `*`, so matching a name takes at
most its length times that of the pattern.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from policykit.namedtuple import NamedTuple

MAX_GLOBS = 50_000
"""Most characters of patterns in one file that must be tried one by one. The rest is ignored: nobody writes
that many, and they would slow down every name."""
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\v\f\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_SPECIAL = re.compile(r"[*?\[\\]")
_STAR, _DEEP, _FOLDERS = "*", "**", "**/"
"""Anything within a name, anything, and any number of folders."""


class Rule(NamedTuple):
    """What a pattern decides, and its index in the file: the last one that matches counts."""

    number: int
    ignores: bool
    folders: bool
    """Whether it matches only folders."""


class _Glob(NamedTuple):
    rule: Rule
    is_name: bool
    """Whether it is matched against the last part of a path, not the whole."""
    pattern: re.Pattern[str]


class Gitignore:
    """The patterns of one file. Literals, and `*` with a literal, are looked up in a dictionary."""

    def __init__(self, content: bytes) -> None:
        self._names: dict[str, list[Rule]] = {}
        self._paths: dict[str, list[Rule]] = {}
        self._ends: dict[int, dict[str, list[Rule]]] = {}
        """Suffixes of names, by length."""
        self._globs: list[_Glob] = []
        """Other patterns, from the last to the first."""
        left = MAX_GLOBS
        for number, line in enumerate(_lines(content)):
            pattern = line.removeprefix("!")
            rule = Rule(number, pattern == line, pattern.endswith("/"))
            pattern = pattern.removesuffix("/")
            if not self._enter(pattern, rule) and len(pattern) <= left:
                left -= len(pattern)
                self._globs += _glob(pattern, rule)
        self._globs.reverse()

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path, relative to the file's folder, is ignored; None: no pattern matches."""
        rule = self.last(path, is_folder)
        return None if rule is None else rule.ignores

    def last(self, path: str, is_folder: bool) -> Rule | None:
        """The last rule that matches a path, relative to the file's folder."""
        path = path if path.isascii() else os.fsencode(path).decode("latin-1")
        name = path[path.rfind("/") + 1 :]
        last: Rule | None = None
        for rule in self._listed(path, name):
            if (is_folder or not rule.folders) and (last is None or rule.number > last.number):
                last = rule
        for glob in self._globs:
            if last is not None and glob.rule.number < last.number:
                break
            if (is_folder or not glob.rule.folders) and glob.pattern.match(name if glob.is_name else path):
                return glob.rule
        return last

    def _listed(self, path: str, name: str) -> Iterator[Rule]:
        yield from self._names.get(name, ())
        yield from self._paths.get(path, ())
        for length, ends in self._ends.items():
            yield from ends.get(name[-length:], ())

    def _enter(self, pattern: str, rule: Rule) -> bool:
        """Adds a pattern that can be looked up; False: it cannot."""
        is_name = "/" not in pattern
        if not _SPECIAL.search(pattern):
            _note(self._names if is_name else self._paths, pattern.removeprefix("/"), rule)
        elif is_name and pattern[0] == "*" and len(pattern) > 1 and not _SPECIAL.search(pattern, 1):
            _note(self._ends.setdefault(len(pattern) - 1, {}), pattern[1:], rule)
        else:
            return False
        return True


def _note(rules: dict[str, list[Rule]], key: str, rule: Rule) -> None:
    """Adds a rule. Of one text, the last rule for all paths counts, and the last for folders after it."""
    before = [other for other in rules.get(key, ()) if rule.folders and not other.folders]
    rules[key] = [*before, rule]


def _glob(pattern: str, rule: Rule) -> tuple[_Glob, ...]:
    """The pattern as a regular expression; empty: it matches nothing."""
    is_name = "/" not in pattern
    made = _expression(pattern.removeprefix("/"), is_name)
    return (_Glob(rule, is_name, re.compile(made, re.DOTALL)),) if made is not None else ()


def _lines(content: bytes) -> Iterator[str]:
    """The patterns, with each byte as a character, since git compares bytes."""
    for line in content.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n"):
        pattern = _without_spaces(line.removesuffix("\r").partition("\0")[0])
        if pattern and pattern[0] != "#":
            yield pattern


def _without_spaces(line: str) -> str:
    """A line without trailing spaces, except those after a backslash."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and kept != line else kept


def _expression(pattern: str, is_name: bool) -> str | None:
    """A pattern as a regular expression; None: it matches nothing.

    The text between two wildcards is matched at its first occurrence: if the rest matches after a later
    one, it matches after the first too. So nothing is tried twice, which the atomic groups ensure; only
    the last text is matched from the end.
    """
    made, deep = "", ""
    group: list[str] = [""]
    for token in _tokens(pattern, is_name):
        if token is None:
            return None
        if token == _STAR:
            group.append("")
        elif token in (_DEEP, _FOLDERS):
            made += f"(?>{deep}{_joined(group)})"
            group, deep = [""], ".*?" if token == _DEEP else "(?:.*?/)??"
        else:
            group[-1] += token
    *before, end = group
    tail = f"[^/]*{end}" if before else end
    return f"{made}{deep}{_joined(before)}{tail}\\Z"


def _joined(pieces: list[str]) -> str:
    first, *others = pieces or [""]
    return first + "".join(f"(?>[^/]*?{piece})" for piece in others)


def _tokens(pattern: str, is_name: bool) -> Iterator[str | None]:
    """Regular expressions of single characters, and wildcards; None: the pattern matches nothing."""
    special = _SPECIAL.search(pattern)
    first = special.start() if special else -1
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "*":
            end = at + 1
            while pattern.startswith("*", end):
                end += 1
            # git compares the text before the first wildcard separately: `**` directly after it is free.
            free = end - at > 1 and not is_name and (at == first or pattern[at - 1] == "/")
            if free and pattern.startswith("/", end):
                yield _FOLDERS
                at = end + 1
            else:
                yield _DEEP if free and (end == len(pattern) or pattern.startswith("\\/", end)) else _STAR
                at = end
        elif character == "[":
            made, at = _set(pattern, at + 1)
            yield made
        elif character == "?":
            yield "[^/]"
            at += 1
        else:
            at += character == "\\"
            yield re.escape(pattern[at]) if at < len(pattern) else None
            at += 1


def _set(pattern: str, at: int) -> tuple[str | None, int]:
    """The set in brackets whose content starts at `at`, as a regular expression, and the index after it."""
    negated = pattern[at : at + 1] in ("!", "^")
    first = at = at + negated
    items: list[str] = []
    before = ""
    while (character := pattern[at : at + 1]) != "]" or at == first:
        following = pattern[at + 1 : at + 2]
        if not character:
            return None, at
        if character == "\\":
            at, character = at + 1, following
            if not character:
                return None, at
            items.append(_escaped(character))
        elif character == "-" and before and following not in ("", "]"):
            at += 1
            if following == "\\":
                at, following = at + 1, pattern[at + 1 : at + 2]
            if not following:
                return None, at
            if before <= following:
                items.append(f"{_escaped(before)}-{_escaped(following)}")
            character = ""
        elif character == "[" and following == ":":
            end = pattern.find("]", at + 2)
            if end < 0:
                return None, at
            if end > at + 2 and pattern[end - 1] == ":":
                named = _CLASSES.get(pattern[at + 2 : end - 1])
                if named is None:
                    return None, at
                items.append(named)
                at, character = end, ""
            else:
                items.append(_escaped("["))
        else:
            items.append(_escaped(character))
        before = character
        at += 1
    inside = "".join(items)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _escaped(character: str) -> str:
    return f"\\x{ord(character):02x}"
