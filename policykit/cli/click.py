"""Click's decorators, recorded: a plain command line is parsed without importing click.

The import takes more instructions than reading and checking a small file. Declarations are calls of click,
made when click is needed: it shows help and mistakes, and parses every line that is not plain. A test
holds both parsers equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    import click

Function = TypeVar("Function", bound=Callable[..., Any])

_SETTINGS = (
    "callback default expose_value help is_flag metavar multiple nargs required shell_complete "
    "show_default type"
)
"""Settings of parameters that are understood here: with any other, click parses all calls of a command."""


class _Call(NamedTuple):
    """A call of click, to be made when click is needed."""

    name: str
    positional: tuple[Any, ...]
    settings: Mapping[str, Any]

    def make(self) -> Any:
        import click

        from policykit.cli import ranges

        settings = {key: each.make() if type(each) is _Call else each for key, each in self.settings.items()}
        made = getattr(ranges if self.name.endswith("Range") else click, self.name)
        return made(*self.positional, **settings)


def Choice(choices: Sequence[str]) -> Any:  # noqa: N802, click's name
    """One of some words."""
    return _Call("Choice", (choices,), {})


def IntRange(**limits: int) -> Any:  # noqa: N802, click's name
    """A whole number."""
    return _Call("IntRange", (), limits)


def FloatRange(**limits: float | bool) -> Any:  # noqa: N802, click's name
    """A number that may have a fraction."""
    return _Call("FloatRange", (), limits)


def Path(**checks: bool) -> Any:  # noqa: N802, click's name
    """A file or folder."""
    return _Call("Path", (), checks)


class _Recorder:
    """A decorator that adds an option or argument to a function."""

    def __init__(self, call: _Call) -> None:
        self._call = call

    def __call__(self, function: Function) -> Function:
        function.__dict__.setdefault("parameters", []).insert(0, self._call)
        return function


def option(*names: str, **settings: Any) -> _Recorder:
    """As click's."""
    return _Recorder(_Call("option", names, settings))


def argument(name: str, **settings: Any) -> _Recorder:
    """As click's."""
    return _Recorder(_Call("argument", (name,), settings))


def command(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """As click's."""
    return lambda function: Command(_Call("command", (name,), settings), function)


class Command:
    """A function with the options and arguments that are declared for it."""

    def __init__(self, call: _Call, function: Callable[..., Any]) -> None:
        self.function = function
        self._call = call
        self._parameters: Sequence[_Call] = function.__dict__.get("parameters", ())

    def made(self) -> click.Command:
        """The command of click."""

        def function(**values: Any) -> Any:
            return self.function(**values)

        function.__doc__ = self.function.__doc__
        for call in reversed(self._parameters):
            call.make()(function)
        made: click.Command = self._call.make()(function)
        return made

    def parsed(self, words: Sequence[str]) -> Mapping[str, Any] | None:
        """Values for the function's parameters; None: click has to parse these words, or to refuse them."""
        try:
            return _values([_parameter(call) for call in self._parameters], words)
        except _NotPlainError:
            return None

    def stated(self, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Names and first flags of the parameters whose values are not their defaults."""
        for parameter in map(_parameter, self._parameters):
            if values.get(parameter.name) not in (None, parameter.default):
                yield parameter.name, parameter.flags[0] if parameter.flags else ""


class _NotPlainError(Exception):
    """Click has to parse this."""


class _Parameter(NamedTuple):
    """An option or argument."""

    name: str
    flags: tuple[str, ...]
    """Empty: an argument."""
    settings: Mapping[str, Any]

    @property
    def is_flag(self) -> bool:
        return bool(self.settings.get("is_flag"))

    @property
    def repeats(self) -> bool:
        return bool(self.settings.get("multiple")) or self.settings.get("nargs") == -1

    @property
    def required(self) -> bool:
        optional = self.flags or self.repeats or "default" in self.settings
        return bool(self.settings.get("required", not optional))

    @property
    def default(self) -> Any:
        return () if self.repeats else self.settings.get("default", False if self.is_flag else None)

    def value(self, given: Sequence[Any]) -> Any:
        """Of what was given, the last or all. Raises _NotPlainError."""
        if not given and self.required:
            raise _NotPlainError
        if not given:
            return self.default
        if "callback" in self.settings:
            raise _NotPlainError
        values = tuple(_converted(self.settings.get("type"), word) for word in given)
        return values if self.repeats else values[-1]


def _converted(kind: _Call | None, word: Any) -> Any:
    """A word as a type of click converts it. Raises _NotPlainError."""
    if kind is None or (kind.name == "Choice" and word in kind.positional[0]):
        return word
    if kind.name == "IntRange" and kind.settings == {"min": 0} and re.fullmatch("[0-9]{1,9}", word):
        return int(word)
    raise _NotPlainError


def _parameter(call: _Call) -> _Parameter:
    if not set(_SETTINGS.split()).issuperset(call.settings):
        raise _NotPlainError
    flags = tuple(name for name in call.positional if name.startswith("-"))
    stated = [name for name in call.positional if name not in flags]
    name = stated[0] if stated else max(flags, key=len)
    return _Parameter(name.lstrip("-").replace("-", "_"), flags, call.settings)


def _values(parameters: Sequence[_Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Values of the parameters, by name. Raises _NotPlainError."""
    given: dict[str, list[Any]] = {each.name: [] for each in parameters}
    flags = {flag: each for each in parameters for flag in each.flags}
    places: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            places += rest
        elif word == "-" or not word.startswith("-"):
            places.append(word)
        else:
            name, value = _option(flags, word, rest)
            given[name].append(value)
    for each in parameters:
        if not each.flags:
            size = len(places) if each.repeats else 1
            given[each.name], places = places[:size], places[size:]
    if places:
        raise _NotPlainError
    values = {each.name: each.value(given[each.name]) for each in parameters}
    for each in parameters:
        if "callback" in each.settings:
            each.settings["callback"](None, None, values[each.name])
    return {each.name: values[each.name] for each in parameters if each.settings.get("expose_value", True)}


def _option(flags: Mapping[str, _Parameter], word: str, rest: Iterator[str]) -> tuple[str, Any]:
    """The name and value of an option. Raises _NotPlainError."""
    if word in flags and flags[word].is_flag:
        return flags[word].name, True
    flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
    if flag not in flags or flags[flag].is_flag:
        raise _NotPlainError
    if not equals:
        value = next(rest, "-")
        if value.startswith("-"):
            raise _NotPlainError  # a value is missing, or looks like an option
    return flags[flag].name, value
