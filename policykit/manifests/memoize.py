"""Memoizes results: every rule asks about one object before the next object comes."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from policykit.extension import compiled

Argument = TypeVar("Argument")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def memoize_last(function: Callable[[Argument], Result]) -> Callable[[Argument], Result]:
    """Keeps the last result, and returns it again for the same object (by identity).

    For pure functions of objects that nobody changes.
    """
    if compiled:
        return compiled.Last(function)  # type: ignore[no-any-return]
    last: tuple[Argument, Result] | None = None

    def memoized(argument: Argument) -> Result:
        nonlocal last
        cached = last  # read once: another thread may call with another object
        if cached is not None and cached[0] is argument:
            return cached[1]
        result = function(argument)
        last = (argument, result)
        return result

    memoized.__doc__ = function.__doc__
    return memoized


def memoize_last_call(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """As `memoize_last`, for functions of several positional arguments."""
    if compiled:
        return compiled.Last(function)  # type: ignore[no-any-return]
    last: tuple[tuple[object, ...], Result] | None = None

    def memoized(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        nonlocal last
        cached = last
        if (
            cached is not None
            and not named
            and len(cached[0]) == len(arguments)
            and all(map(is_, cached[0], arguments))
        ):
            return cached[1]
        result = function(*arguments, **named)
        if not named:
            last = (arguments, result)
        return result

    memoized.__doc__ = function.__doc__
    return memoized


def memoize_beside(
    function: Callable[Concatenate[Argument, Arguments], Result],
) -> Callable[Concatenate[Argument, Arguments], Result]:
    """Keeps the results of a pure function of an object that nobody changes, such as a policy, known by its
    identity, and of hashable values: every pod asks the same of the same policy.
    """
    known: dict[int, tuple[Argument, dict[tuple[object, ...], Result]]] = {}

    def memoized(argument: Argument, /, *others: Arguments.args, **named: Arguments.kwargs) -> Result:
        kept = known.get(id(argument))
        if kept is None:
            if len(known) >= _MAX_OBJECTS:
                known.clear()
            kept = known[id(argument)] = (argument, {})
        results = kept[1]
        if others in results:
            return results[others]
        if len(results) >= _MAX_RESULTS:
            results.clear()  # what manifests contain may be hostile
        result = results[others] = function(argument, *others, **named)
        return result

    memoized.__doc__ = function.__doc__
    return memoized


_MAX_OBJECTS = 16
_MAX_RESULTS = 1024


class computed_once(Generic[Result]):  # noqa: N801  a decorator, like property
    """A property that is computed when it is first read; afterwards reading it is reading an attribute.

    For values that nobody changes. Its class needs a `__dict__`.
    """

    __slots__ = ("_compute", "_name")

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        self._compute = compute
        self._name = compute.__name__

    @overload
    def __get__(self, owner: None, kind: type) -> computed_once[Result]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> Result: ...
    def __get__(self, owner: object | None, kind: type) -> computed_once[Result] | Result:
        if owner is None:
            return self
        result = owner.__dict__[self._name] = self._compute(owner)
        return result
