"""An object as it was generated, and what the cluster has of it: the server adds defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping
from policykit.model.quantity import parse

_NAMES = ("name", "key", "kind")
"""What tells the items of a list apart."""


def part_of(there: Any, wanted: Any) -> Any:
    """What an object in the cluster has of the fields that `wanted` states: equal to it if nothing differs.

    Amounts that are written differently are equal; what is empty may be absent.
    """
    if isinstance(wanted, Mapping) and isinstance(there, Mapping):
        found = {key: part_of(there.get(key), value) for key, value in wanted.items()}
        return {key: value for key, value in found.items() if value is not None or wanted[key] is None}
    if isinstance(wanted, list) and isinstance(there, list):
        return _list(there, wanted)
    return wanted if _same(there, wanted) else there


def _same(there: Any, wanted: Any) -> bool:
    if there is None or wanted is None:
        return not there and not wanted
    if isinstance(there, bool) or isinstance(wanted, bool):
        return there is wanted
    if there == wanted:
        return True
    if not isinstance(there, (str, int)) or not isinstance(wanted, (str, int)):
        return False
    one, other = parse(there), parse(wanted)
    return one is not None and other is not None and one.nanos == other.nanos


def _list(there: list[Any], wanted: list[Any]) -> list[Any]:
    """Item by item; items with names are compared with those of their names."""
    key = next((name for name in _NAMES if wanted and all(name in mapping(each) for each in wanted)), "")
    if not key:
        pairs = zip(there, [*wanted, *[None] * len(there)], strict=False)
        return [part_of(one, other) if other is not None else one for one, other in pairs]
    named = {mapping(each).get(key): each for each in there}
    found = [part_of(named.pop(each[key]), each) for each in wanted if each[key] in named]
    return [*found, *named.values()]
