"""Substitutes variables in built objects as Flux does: `${NAME}`, with the operators of shells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from policykit.manifests.parser import parse
from policykit.namedtuple import NamedTuple
from policykit.workspace.gitops.sources import Variables

Operator = Callable[[str, Sequence[str]], str]
"""From a value and arguments to a value."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z", re.ASCII)
_LONGEST_PATTERN = 10_000
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
    if len(value) > _LONGEST_PATTERN or len(pattern) > _LONGEST_PATTERN:
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
    if not variables.change_texts:
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
