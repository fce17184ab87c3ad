"""Checks that several kinds share, on data of any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import dns_label_problem
from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.kube.structure.problem import BAD_VALUE, CONFLICTING, INCONSISTENT
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest

Data = Mapping[str, Any]

CHANGING: Mapping[str, str] = {
    "app.kubernetes.io/version": "the version",
    "helm.sh/chart": "the version of the chart",
}
"""Labels that each release changes, in words."""


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
    for position, item in numbered(listed):
        name = name_of(item, field)
        if name and first.setdefault(name, position) != position:
            yield refused(
                (*base, position, field),
                f'is "{name}", which is also the name of {dotted((*base, first[name]))}',
                f"give each {what} a name of its own",
            )


def service_name(
    data: Data, who: str, longest: int = 63, severity: Severity | None = None
) -> Iterator[Problem]:
    """The name of an object becomes a part of a Service's name, which begins with a letter.

    `longest`: above that the object is refused by some releases only, and others shorten the name.
    """
    name = name_of(mapping(data.get("metadata")))
    if not name:
        return
    if "." in name or not name[0].isalpha():
        wrong = "contains a dot" if "." in name else "does not begin with a letter"
        yield refused(_NAME, f'is "{name}", which {wrong}', f"write a name for a Service: {who}", severity)
    elif len(name) > longest:
        what = f"has {len(name)} characters, more than {longest}"
        severity = None if dns_label_problem(name) else Severity.WARNING
        yield refused(_NAME, what, f"shorten it: {who}", severity)


_NAME: Path = ("metadata", "name")


def variables(pod: object) -> Mapping[str, Path]:
    """Names of the variables of a pod's first container, with their paths in the pod."""
    path: Path = ("spec", "containers", 0, "env")
    return {str(each.get("name")): (*path, position) for position, each in numbered(lookup(pod, path))}


def alternatives(
    data: Data, base: Path, fields: tuple[str, ...], who: str, *, needed: bool = False
) -> Iterator[Problem]:
    """At most one of several fields is set; `needed`: exactly one."""
    there = [field for field in fields if data.get(field) is not None]
    if len(there) > 1:
        what = f"conflicts with {there[0]}: only one of them may be set"
        yield refused((*base, there[1]), what, f"delete one of the two: {who}", key=True)
    elif needed and not there and not any(map(is_placeholder, data)):
        listed = f"{', '.join(fields[:-1])} and {fields[-1]}"
        yield refused(base, f"has none of {listed}", f"set one of them: {who}", kind=INCONSISTENT)


def one_of(data: Data, path: Path, known: tuple[str, ...], who: str, base: Path = ()) -> Iterator[Problem]:
    """A word is one of a list; `path` starts at `data`, and `base` leads to it."""
    value = lookup(data, path)
    if not isinstance(value, str) or not value or value in known or is_filled_in(value):
        return
    close = nearest(value, known)
    advice = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
    yield refused((*base, *path), f"is {value}: {who}", advice)


def time_zone(name: object, path: Path) -> Iterator[Problem]:
    """A name that is nearly one of the list: the API server may know newer ones."""
    if not isinstance(name, str) or not name or is_filled_in(name):
        return
    from policykit.kube.time_zones import TIME_ZONES

    if name in TIME_ZONES:
        return
    lower = {each.lower(): each for each in TIME_ZONES}
    near = lower.get(name.lower()) or nearest(name, tuple(sorted(TIME_ZONES)))
    if near:
        yield refused(path, f"is {name}, no time zone", f"did you mean {near}?", kind=BAD_VALUE)


_DEEPEST = 32
"""Steps of the longest path that is followed."""


def texts(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text below a value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)) and len(path) < _DEEPEST:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(inner, (*path, key))
