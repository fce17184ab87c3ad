"""Regular expressions from files, in Go's syntax (RE2), matched in linear time.

Python's matcher backtracks, which takes 2^n steps for `(a+)+`. This one follows all alternatives at once,
so each character costs at most the size of the expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from policykit.namedtuple import NamedTuple

_MAX_STATES = 1000
_MAX_GROUPS = 50
"""Groups within groups."""
_MAX_CHARACTERS = 4096
"""Longest expression and longest text: no name, label or enum value is longer."""
_MAX_KNOWN = 1000
"""Steps that are remembered."""

_FLAGS = re.compile(r"\(\?([is]+)\)")
_GROUP = re.compile(r"\((?:\?(?::|P?<[A-Za-z_][A-Za-z0-9_]*>))?")
_ATOM = re.compile(
    r"\.|\\[dswDSW]|\\[^A-Za-z0-9]|\\[aftnrv]|\\x[0-9A-Fa-f]{2}"
    r"|\[\^?\]?(?:[^\]\[\\]|\\[^A-Za-z0-9]|\\[dswDSWaftnrv]|\\x[0-9A-Fa-f]{2}|\[(?!:))*\]"
    r"|[^\\\[\](){}*+?|^$]|[\]}]",
    re.DOTALL,
)
_EDGE = re.compile(r"\^|\$|\\[Az]")
_TIMES = re.compile(r"(?:([*+?])|\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\})\??")
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class _UnreadableError(Exception):
    """The expression is too large, or uses syntax that is not supported."""


class _Atom(NamedTuple):
    """One character, of those that `takes` knows."""

    takes: Callable[[str], object]


class _Edge(NamedTuple):
    """The start of the text, or its end."""

    start: bool


class _Sequence(NamedTuple):
    parts: tuple[_Node, ...]


class _Choice(NamedTuple):
    options: tuple[_Node, ...]


class _Repeat(NamedTuple):
    part: _Node
    least: int
    most: int | None


_Node: TypeAlias = _Atom | _Edge | _Sequence | _Choice | _Repeat


class _State(NamedTuple):
    """A state: the condition of its transitions (None: none) and the states they lead to."""

    what: _Atom | _Edge | None
    next: list[int]


class Pattern:
    """A compiled expression."""

    def __init__(self, states: list[_State], start: int) -> None:
        """The end of the expression is state 0."""
        self._states, self._start = states, start
        self._known: dict[tuple[frozenset[int], str], tuple[frozenset[int], bool]] = {}

    def search(self, text: str) -> bool | None:
        """Whether it matches a part of a text; None: the text is too long to tell."""
        if len(text) > _MAX_CHARACTERS:
            return None
        here = frozenset((self._start,))
        first = True
        for character in text:
            here, done = self._step(here, character, first=True) if first else self._after(here, character)
            first = False
            if done:
                return True
        return 0 in self._reached(here, first=first, last=True)

    def _after(self, here: frozenset[int], character: str) -> tuple[frozenset[int], bool]:
        key = (here, character)
        if key not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._step(here, character)
        return self._known[key]

    def _step(
        self, here: frozenset[int], character: str, *, first: bool = False
    ) -> tuple[frozenset[int], bool]:
        """The states after a character, the start included, and whether the expression matched before it."""
        reached = self._reached(here, first=first)
        after = {self._start}
        for number in reached:
            what, following = self._states[number]
            if isinstance(what, _Atom) and what.takes(character):
                after.update(following)
        return frozenset(after), 0 in reached

    def _reached(self, here: Iterable[int], *, first: bool = False, last: bool = False) -> set[int]:
        """States that need no character to be reached."""
        found = set(here)
        pending = list(found)
        while pending:
            what, following = self._states[pending.pop()]
            if what is None or (isinstance(what, _Edge) and (first if what.start else last)):
                more = [number for number in following if number not in found]
                found.update(more)
                pending.extend(more)
        return found


@lru_cache(maxsize=1024)
def pattern(text: str, *, whole: bool = False) -> Pattern | None:
    """The compiled expression; None if it is too large or uses unsupported syntax (`\\b`, `\\pL`).

    `whole`: it must match the whole text.
    """
    try:
        node = _Reader(text).read()
        return _built(_Sequence((_Edge(True), node, _Edge(False))) if whole else node)
    except _UnreadableError:
        return None


class _Reader:
    """Reads an expression from its start."""

    def __init__(self, text: str) -> None:
        flags = _FLAGS.match(text)
        self._text, self._at = text, flags.end() if flags else 0
        self._flags = re.ASCII
        for letter in flags[1] if flags else "":
            self._flags |= re.IGNORECASE if letter == "i" else re.DOTALL

    def read(self) -> _Node:
        if len(self._text) > _MAX_CHARACTERS:
            raise _UnreadableError
        node = self._choice(0)
        if self._at < len(self._text):
            raise _UnreadableError
        return node

    def _choice(self, depth: int) -> _Node:
        if depth > _MAX_GROUPS:
            raise _UnreadableError
        options = [_Sequence(tuple(self._parts(depth)))]
        while self._text.startswith("|", self._at):
            self._at += 1
            options.append(_Sequence(tuple(self._parts(depth))))
        return _Choice(tuple(options)) if len(options) > 1 else options[0]

    def _parts(self, depth: int) -> Iterator[_Node]:
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            part = self._part(depth)
            if times := self._take(_TIMES):
                least, most = _bounds(times)
                part = _Repeat(part, least, most)
            yield part

    def _part(self, depth: int) -> _Node:
        if edge := self._take(_EDGE):
            return _Edge(edge[0] in ("^", r"\A"))
        if atom := self._take(_ATOM):
            return _Atom(_taker(atom[0], self._flags))
        if self._take(_GROUP) and not self._text.startswith("?", self._at):
            inside = self._choice(depth + 1)
            if self._text.startswith(")", self._at):
                self._at += 1
                return inside
        raise _UnreadableError

    def _take(self, what: re.Pattern[str]) -> re.Match[str] | None:
        found = what.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found


def _bounds(times: re.Match[str]) -> tuple[int, int | None]:
    sign, least, comma, most = times.groups()
    if sign:
        return _REPEATS[sign]
    if most and int(most) < int(least):
        raise _UnreadableError
    return int(least), int(most) if most else None if comma else int(least)


@lru_cache(maxsize=1024)
def _taker(atom: str, flags: int) -> Callable[[str], object]:
    try:
        return re.compile(atom, flags).match
    except re.error:
        raise _UnreadableError from None


def _built(node: _Node) -> Pattern:
    states = [_State(None, [])]
    return Pattern(states, _before(node, 0, states))


def _before(node: _Node, after: int, states: list[_State]) -> int:
    """The state from which a node leads to the state `after`."""
    if isinstance(node, _Sequence):
        for part in reversed(node.parts):
            after = _before(part, after, states)
        return after
    if isinstance(node, _Choice):
        return _add(states, None, [_before(option, after, states) for option in node.options])
    if isinstance(node, _Repeat):
        return _repeated(node, after, states)
    return _add(states, node, [after])


def _repeated(node: _Repeat, after: int, states: list[_State]) -> int:
    if node.most is None:
        again = _add(states, None, [after])
        states[again].next.append(_before(node.part, again, states))
        start = again
    else:
        start = after
        for _ in range(node.most - node.least):
            start = _add(states, None, [_before(node.part, start, states), after])
    for _ in range(node.least):
        before, start = start, _before(node.part, start, states)
        if start == before:  # Nothing, however often.
            break
    return start


def _add(states: list[_State], what: _Atom | _Edge | None, following: list[int]) -> int:
    if len(states) > _MAX_STATES:
        raise _UnreadableError
    states.append(_State(what, following))
    return len(states) - 1
