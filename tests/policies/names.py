"""What a policy in the making has so far: the names that other parts may speak of."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from hypothesis import strategies as st

Draw = st.DrawFn


class Names(NamedTuple):
    """Names drawn already."""

    cards: tuple[str, ...] = ()
    """Each of a resource of its own."""
    whole: dict[str, str] = {}
    """Pools with cards that are neither cut nor shared, to their card."""
    virtual: bool = False
    """Volcano's device plugin shares cards of a pool."""
    pools: tuple[str, ...] = ()
    usages: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    """Queues without queues below them."""
    priorities: tuple[str, ...] = ()
    placements: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    """schedulerNames of the targets."""


def some(draw: Draw, names: tuple[str, ...], least: int = 0, most: int = 3) -> list[str]:
    """A few of the names, each once, in their order."""
    bits = draw(_bits(len(names)))
    chosen = [name for number, name in enumerate(names) if bits >> number & 1][:most]
    return chosen if len(chosen) >= least else list(names[:least])


@functools.cache
def _bits(number: int) -> st.SearchStrategy[int]:
    """One bit for each of some names: drawing one number is faster than drawing a set."""
    return st.integers(0, 2**number - 1)


def chance(draw: Draw) -> bool:
    """Half of the time."""
    return draw(st.booleans())


def maybe(draw: Draw, data: dict[str, Any], key: str, value: st.SearchStrategy[Any]) -> None:
    """Adds a key half of the time."""
    if draw(st.booleans()):
        data[key] = draw(value)


def optional(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A map of some of these keys; a trailing underscore is not a part of a key."""
    return st.fixed_dictionaries({}, optional={key.rstrip("_"): each for key, each in values.items()})


def quantities(most: int, unit: str = "") -> st.SearchStrategy[Any]:
    """1 to `most`, as a number, or as text with a unit."""
    numbers = st.integers(1, most)
    return numbers.map(lambda number: f"{number}{unit}") if unit else numbers


DURATIONS = st.sampled_from(["30s", "10m", "1h30m", "24h", "7d"])
PEOPLE = st.sampled_from(["ann", "bob", "system:serviceaccount:ci:bot", "carol@example.com"])
GROUPS = st.sampled_from(["dev", "research", "platform"])
