"""Substitutes variables in built objects as Flux does: `${NAME}`, with the operators of shells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from policykit.manifests.parser import parse
from policykit.namedtuple import NamedTuple
from policykit.workspace.sources import Variables
from policykit.workspace.substitution_operators import OPERATORS

DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
"""Label or annotation that excludes an object if its value is `disabled`."""
_DEEPEST = 50
"""Maximum depth of nested expressions."""
_LONGEST = 1 << 20
"""Most characters of the result of an expression."""
_MOST = 1 << 26
"""Most characters of the resulting text."""
_SEPARATOR = "---\n"
_OPERATOR = re.compile(r":[-=?+]|=|:|,[,^]?|\^[,^]?|//|/#|/%|/|##?|%%?")
_ALIKE = {"=": "default", ":=": "default", ":-": "default", ":?": "default", ":+": "default"}


class SubstitutionError(Exception):
    """Why Flux refuses a text."""


def substituted(text: str, variables: Variables) -> str:
    """The objects of a build with the values of variables. An expression with an unknown value is left as it
    is. Raises SubstitutionError.
    """
    if not (variables.known or variables.unknown) and variables.complete:
        return text
    return "".join(
        each if _is_disabled(each) else expanded(each, variables) for each in _documents(text) if each
    )


def expanded(text: str, variables: Variables) -> str:
    """A text with the values of variables. Raises SubstitutionError."""
    return _Expansion(text, variables).whole()


def _documents(text: str) -> Iterator[str]:
    """Each document with its separator."""
    start = 0
    while True:
        end = text.find(f"\n{_SEPARATOR}", start)
        if end < 0:
            yield text[start:]
            return
        yield text[start : end + 1 + len(_SEPARATOR)]
        start = end + 1 + len(_SEPARATOR)


def _is_disabled(text: str) -> bool:
    if DISABLED not in text:
        return False
    data = next((parsed.root.data for parsed in parse(text) if parsed.root), None)
    about = data.get("metadata") if isinstance(data, dict) else None
    stated = [about.get(field) for field in ("labels", "annotations")] if isinstance(about, dict) else []
    return any(isinstance(each, dict) and each.get(DISABLED) == "disabled" for each in stated)


class _Value(NamedTuple):
    """The result of an expression."""

    text: str
    known: bool = True
    """Whether the value is known; if not, the text is the expression itself."""


class _Expansion:
    """Expands a text from start to end."""

    def __init__(self, text: str, variables: Variables) -> None:
        self._text = text
        self._variables = variables
        self._at = 0

    def whole(self) -> str:
        parts: list[str] = []
        size = 0
        while self._at < len(self._text):
            start = self._text.find("$", self._at)
            if start < 0:
                parts.append(self._text[self._at :])
                break
            parts.append(self._text[self._at : start])
            self._at = start
            if self._starts("${"):
                self._at += 2
                parts.append(self._expression(0).text)
            else:
                # `$$` is an escaped `$`.
                parts.append("$")
                self._at += 2 if self._starts("$$") else 1
            size += len(parts[-1]) + len(parts[-2])
            if size > _MOST:
                raise SubstitutionError("variables make it too long")
        return "".join(parts)

    def _expression(self, depth: int) -> _Value:
        """An expression after `${`, up to its brace."""
        start = self._at - 2
        if depth > _DEEPEST:
            raise SubstitutionError(f"more than {_DEEPEST} expressions within one another")
        if self._starts("#"):
            self._at += 1
            name, operator = self._name(), "length"
            arguments: list[_Value] = []
        else:
            name = self._name()
            operator, arguments = self._operation(depth)
        self._expect("}")
        known, value = self._value_of(name)
        if not (known and all(argument.known for argument in arguments)):
            if operator == "default" and known and value:
                return _Value(value)
            return _Value(self._text[start : self._at], known=False)
        if operator:
            value = OPERATORS[operator](value, [argument.text for argument in arguments])
        if len(value) > _LONGEST:
            raise SubstitutionError(f"{name} becomes too long")
        return _Value(value)

    def _value_of(self, name: str) -> tuple[bool, str]:
        variables = self._variables
        if name in variables.known:
            return True, variables.known[name]
        return variables.complete and name not in variables.unknown, ""

    def _operation(self, depth: int) -> tuple[str, list[_Value]]:
        """An operator and its arguments; empty: there is none."""
        found = _OPERATOR.match(self._text, self._at)
        if not found:
            return "", []
        operator = found.group()
        self._at = found.end()
        if operator in _ALIKE:
            return "default", self._words(depth)
        if operator == ":":
            return operator, self._part(depth)
        if operator[0] in ",^":
            return operator, []
        if operator[0] == "/":
            return operator, self._replacement(depth)
        return operator, [self._argument(depth, "}")]

    def _words(self, depth: int) -> list[_Value]:
        found = []
        while not self._starts("}"):
            found.append(self._argument(depth, "}"))
        return found

    def _part(self, depth: int) -> list[_Value]:
        """Offset and length."""
        found = [self._argument(depth, ":}")]
        if self._skip(":"):
            found.append(self._argument(depth, "}"))
        return found

    def _replacement(self, depth: int) -> list[_Value]:
        """Pattern and replacement."""
        found = [self._argument(depth, "/", escapes=True)]
        if not self._skip("/"):
            raise SubstitutionError("a replacement has no second /")
        if not self._starts("}"):
            found.append(self._argument(depth, "}", escapes=True))
        return found

    def _argument(self, depth: int, ends: str, *, escapes: bool = False) -> _Value:
        """An argument: text up to one of the characters `ends`, with expressions expanded."""
        if self._starts("${"):
            self._at += 2
            return self._expression(depth + 1)
        parts = []
        while self._at < len(self._text) and not self._starts("${"):
            if escapes and self._text[self._at : self._at + 2] in ("$$", "\\/", "\\\\"):
                parts.append(self._text[self._at + 1])
                self._at += 2
                continue
            if self._text[self._at] in ends:
                break
            parts.append(self._text[self._at])
            self._at += 1
        if not parts:
            raise SubstitutionError(f"an argument is missing before {self._text[self._at : self._at + 10]!r}")
        return _Value("".join(parts))

    def _name(self) -> str:
        start = self._at
        self._run(lambda character: character.isalnum() or character == "_")
        if start == self._at:
            raise SubstitutionError(f"${{ is not followed by a name: {self._text[start - 2 : start + 20]!r}")
        return self._text[start : self._at]

    def _skip(self, character: str) -> bool:
        """Skips all of a character that follow; False: there is none."""
        start = self._at
        self._run(lambda each: each == character)
        return start != self._at

    def _run(self, accept: Callable[[str], bool]) -> None:
        while self._at < len(self._text) and accept(self._text[self._at]):
            self._at += 1

    def _starts(self, words: str) -> bool:
        return self._text.startswith(words, self._at)

    def _expect(self, character: str) -> None:
        if not self._starts(character):
            before = self._text[max(0, self._at - 20) : self._at]
            raise SubstitutionError(f"a closing brace is missing after {before!r}")
        self._at += 1
