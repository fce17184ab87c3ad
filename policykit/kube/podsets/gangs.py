"""Gangs of an object: how many pods it has, and how many must fit at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.kube.podsets import minima, replicas
from policykit.kube.podsets.conditions import hold
from policykit.kube.podsets.facts import Entry, GangFacts, Target, Template
from policykit.kube.podsets.reading import bindings
from policykit.kube.podsets.rules import textual, whole
from policykit.kube.podsets.table import entry
from policykit.kube.podsets.walk import Binding, Wildcard, literal, matches, value
from policykit.manifests.once import once
from policykit.manifests.path import Path


class Minimum(NamedTuple):
    """The minimum of one part of a gang, as written."""

    part: str
    """task, role, clique or group."""
    path: Path
    value: int | None
    """None: not a whole number (a placeholder)."""


class Gang(NamedTuple):
    """Pods that start together. Paths are relative to the object."""

    unit: str
    """What forms one gang, in words: job, group, controller of the pods."""
    min_member: int | None
    """Members that must fit at once, as written or by default; None: unknown."""
    written: bool
    """The object states the number."""
    path: Path
    """Path of the number, also if it is missing; (): the kind computes it and has no field."""
    pods: int | None
    """Pods that one unit makes; None: unknown."""
    members: tuple[str, ...]
    """Names of the pod sets that count, from `pod_sets` (variants share a name)."""
    enabled: bool = True
    """The object meets its kind's condition for a gang."""
    enabled_by: Path | None = None
    """Path of that condition, also if it is missing; None: there is none."""
    minima: tuple[Minimum, ...] = ()
    """Minima of single tasks, roles, cliques or groups."""
    scheduler: str = ""
    """The only scheduler that reads the number; empty: the scheduler of the pods."""


def gang(data: Mapping[str, Any]) -> Gang | None:
    """The first gang of an object; None: its kind has none, or it makes no pods."""
    return next(iter(gangs(data)), None)


@once
def gangs(data: Mapping[str, Any]) -> tuple[Gang, ...]:
    """Every gang of an object: one, or one for each independent child job, role or component."""
    known = entry(data.get("apiVersion"), data.get("kind"))
    if known is None:
        return ()
    found = [
        one for template in known.templates if template.shape == "object" for one in _embedded(data, known)
    ]
    if known.gang is not None:
        found.extend(_gangs(data, known, known.gang))
    return tuple(found)


def _embedded(data: Any, known: Entry) -> Iterator[Gang]:
    (template,) = known.templates
    for binding in bindings(data, template):
        inner, base = value(data, binding.path), binding.path
        for one in gangs(inner) if isinstance(inner, dict) else ():
            yield one._replace(
                path=(*base, *one.path) if one.path else (),
                members=tuple(f"{template.name}{binding.suffix}.{name}" for name in one.members),
                enabled_by=None if one.enabled_by is None else (*base, *one.enabled_by),
                minima=tuple(m._replace(path=(*base, *m.path)) for m in one.minima),
            )


def _gangs(data: Any, known: Entry, facts: GangFacts) -> Iterator[Gang]:
    """Members grouped by gang."""
    groups: dict[Path, list[minima.Member]] = {}
    for template in _counted(known, facts):
        for binding in bindings(data, template):
            if any(isinstance(step, Wildcard) for step in binding.bound(facts.per)):
                continue  # a template without a gang
            pods = replicas.pods(data, known, template, binding, facts.multiplied_by)
            member = minima.Member(template, binding, pods)
            groups.setdefault(literal(binding.bound(facts.per)), []).append(member)
    for members in groups.values():
        if hold(facts.only, data, members[0].binding):
            yield _gang(data, facts, members)


def _counted(known: Entry, facts: GangFacts) -> list[Template]:
    """Templates whose pods count: stored ones only if the kind is itself a store."""
    found = [t for t in known.templates if t.makes_pods and (not facts.members or t.name in facts.members)]
    return [t for t in found if t.use == "pods"] or found


def _gang(data: Any, facts: GangFacts, members: list[minima.Member]) -> Gang:
    binding = members[0].binding
    size, path, written = facts.size, literal(binding.bound(facts.size.place)), None
    for target in (facts.size, *facts.alternatives):
        found = binding.value(data, target.place) if target.form else None
        # If a rule gives the default, it also replaces a minimum of 0.
        if found is not None and not (found == 0 and size.rule):
            written, path = found, literal(binding.bound(target.place))
            break
    return Gang(
        unit=facts.unit,
        min_member=_size(data, size, members) if written is None else _read(size, written),
        written=written is not None,
        path=path,
        pods=minima.total(m.pods for m in members),
        members=tuple(m.template.name + m.binding.suffix for m in members),
        enabled=facts.enable is None or _enabled(data, facts.enable, binding),
        enabled_by=None if facts.enable is None else literal(binding.bound(facts.enable.place)),
        minima=tuple(_parts(data, facts, binding)),
        scheduler=facts.scheduler,
    )


def _size(data: Any, size: Target, members: list[minima.Member]) -> int | None:
    if size.rule:
        return minima.RULES[size.rule](data, members)
    return size.default if isinstance(size.default, int) else None


def _read(size: Target, found: Any) -> int | None:
    return whole(found) if size.form == "field" else textual(found)


def _enabled(data: Any, enable: Target, binding: Binding) -> bool:
    found = binding.value(data, enable.place)
    return found is not None if enable.wanted is None else bool(found == enable.wanted)


def _parts(data: Any, facts: GangFacts, binding: Binding) -> Iterator[Minimum]:
    for part, target in facts.parts.items():
        # Parts belong to the whole gang: only what the gang is for is bound.
        wanted = target.place
        if any(isinstance(step, Wildcard) for step in facts.per):
            wanted = binding.bound(wanted)
        for path in matches(data, wanted):
            yield Minimum(part, path, whole(value(data, path)))
