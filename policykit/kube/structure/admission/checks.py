"""Checks that several kinds share, on data of any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.problem import CONFLICTING
from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem
from policykit.manifests.shape import whole
from policykit.model.severity import Severity

Data = Mapping[str, Any]


def mappings(listed: object) -> Iterator[tuple[int, Data]]:
    """Position and value of the mappings in a list."""
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, dict):
            yield position, item


def name_of(item: Data, field: str = "name") -> str:
    """A name that is written out; empty: there is none, or a placeholder."""
    name = item.get(field)
    return name if isinstance(name, str) and not is_filled_in(name) else ""


def words(listed: object) -> Iterator[tuple[int, str]]:
    """Position and text of the words in a list, without placeholders."""
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, str) and item and not is_filled_in(item):
            yield position, item


def refused(
    path: Path,
    predicate: str,
    help_: str,
    severity: Severity | None = None,
    *,
    key: bool = False,
    kind: str = CONFLICTING,
) -> Problem:
    """A problem of the value at `path`; `predicate` follows its name."""
    return Problem(path, f"{dotted(path)} {predicate}", help_, severity, key, kind)


def ordered(data: Data, base: Path, low: str, high: str, who: str) -> Iterator[Problem]:
    """`low` must not be above `high`."""
    least, most = whole(data.get(low)), whole(data.get(high))
    if least is not None and most is not None and least > most:
        yield refused((*base, low), f"is {least}, above {high} {most}", f"raise {high} or lower {low}: {who}")


def not_below(data: Data, base: Path, field: str, least: int, who: str) -> Iterator[Problem]:
    """A number must be `least` or more."""
    there = whole(data.get(field))
    if there is not None and there < least:
        yield refused((*base, field), f"is {there}, but must be at least {least}", who)


def named_differently(listed: object, base: Path, field: str, what: str) -> Iterator[Problem]:
    """Items of a list need unique names."""
    first: dict[str, int] = {}
    for position, item in mappings(listed):
        name = name_of(item, field)
        if name and first.setdefault(name, position) != position:
            yield refused(
                (*base, position, field),
                f'is "{name}", which is also the name of {dotted((*base, first[name]))}',
                f"give each {what} a name of its own",
            )
