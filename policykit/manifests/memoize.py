"""Memoizes results: every rule asks about one object before the next object comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def memoize_last(function: Callable[[Argument], Result]) -> Callable[[Argument], Result]:
    """Keeps the last result, and returns it again for the same object (by identity).

    For pure functions of objects that nobody changes.
    """
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
