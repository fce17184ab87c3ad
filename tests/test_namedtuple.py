"""Our NamedTuple is that of `typing`, whatever is done with its values."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from policykit import extension
from policykit.namedtuple import NamedTuple


class Ours(NamedTuple):
    """A value."""

    a: int
    b: str = "x"
    c: tuple[int, ...] = ()
    """A field."""

    @property
    def both(self) -> str:
        return f"{self.a} {self.b}"


class Theirs(typing.NamedTuple):
    """A value."""

    a: int
    b: str = "x"
    c: tuple[int, ...] = ()
    """A field."""

    @property
    def both(self) -> str:
        return f"{self.a} {self.b}"


DEFINE: Any = type(NamedTuple)
CASES: list[Callable[[Any], object]] = [
    lambda kind: kind(1),
    lambda kind: kind(1, b="y"),
    lambda kind: kind(a=1, c=(2,)),
    lambda kind: kind(1) == (1, "x", ()),
    lambda kind: hash(kind(1)),
    lambda kind: repr(kind(1)).partition("(")[2],
    lambda kind: (kind(1).a, kind(1).b, kind(1).c, kind(1).both),
    lambda kind: kind(1)._replace(b="z"),
    lambda kind: kind(1)._asdict(),
    lambda kind: kind._make([1, 2, 3]),
    lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__),
    lambda kind: typing.get_type_hints(kind),
    lambda kind: [(each.name, each.default) for each in inspect.signature(kind).parameters.values()],
    lambda kind: (kind.__name__[:0], kind.__module__, kind.__qualname__[:0]),
    lambda kind: pickle.loads(pickle.dumps(kind(1, "y"))),
    lambda kind: copy.deepcopy(kind(1)),
    lambda kind: sorted([kind(2), kind(1)]),
    lambda kind: isinstance(kind(1), tuple),
    lambda kind: [*kind(1)],
    lambda kind: hasattr(kind(1), "__dict__"),
]
WRONG: list[Callable[[Any], object]] = [
    lambda kind: kind(),
    lambda kind: kind(1, 2, 3, 4),
    lambda kind: kind(1, d=2),
    lambda kind: kind(1, a=2),
    lambda kind: kind._make([1]),
    lambda kind: setattr(kind(1), "a", 2),
    lambda kind: kind(1).d,
]


def spelt(name: str) -> str:
    """A name that is another object than the one of the field."""
    return "".join([*name])


CASES += [
    lambda kind: kind(**{spelt("a"): 1, spelt("c"): ()}),
    lambda kind: kind(*range(1), **{spelt("b"): "y"}),
    lambda kind: (
        type("Below", (kind,), {"a_and_b": property(lambda self: (self.a, self.b))})(1, c=(3,)).a_and_b
    ),
    lambda kind: type("Below", (kind,), {"__new__": lambda cls: tuple.__new__(cls, (7, 8, 9))})().b,
    lambda kind: vars(type("Below", (kind,), {})(1)),
    lambda kind: kind(a=[1], b=kind(2)).b.a,
]
WRONG += [
    lambda kind: kind(**{spelt("d"): 1}),
    lambda kind: kind(b="y"),
    lambda kind: kind(1, 2, 3, c=4),
    lambda kind: delattr(kind(1), "a"),
]


@pytest.mark.parametrize("case", CASES)
def test_the_same(case: Callable[[Any], object]) -> None:
    assert case(Ours) == case(Theirs)


@pytest.mark.parametrize("case", WRONG)
def test_the_same_error(case: Callable[[Any], object]) -> None:
    raised = []
    for kind in (Ours, Theirs):
        with pytest.raises((TypeError, AttributeError)) as error:
            case(kind)
        raised.append(error.type)
    assert raised[0] is raised[1]


def test_unknown_fields() -> None:
    with pytest.raises(ValueError, match="Ours has no fields d"):
        Ours(1)._replace(d=1)  # type: ignore[call-arg]


def test_fields_without_a_default_come_first() -> None:
    namespace = {"__annotations__": {"a": int, "b": int}, "a": 1, "__module__": __name__, "__qualname__": "X"}
    with pytest.raises(TypeError, match="X: fields without a default come first"):
        DEFINE("X", (NamedTuple,), namespace)


def test_fields_of_the_extension() -> None:
    """The extension does not touch a type that starts its values itself."""

    class Own(NamedTuple):
        a: int

        def __init__(self, a: int) -> None:  # type: ignore[misc]
            started.append(a)

    started: list[int] = []
    assert [Own(1).a, Own(a=2).a, *started] == [1, 2, 1, 2]
    Ours(1)
    is_compiled = type(vars(Ours)["a"]).__name__ == "member_descriptor"
    assert is_compiled == (extension.compiled is not None)


def test_many_fields() -> None:
    names = [f"field_{number}" for number in range(99)]
    namespace = {"__annotations__": dict.fromkeys(names, int), "__module__": __name__, "__qualname__": "X"}
    made: Any = DEFINE("X", (NamedTuple,), namespace)(*range(99))
    assert [getattr(made, name) for name in names] == [*range(99)]
