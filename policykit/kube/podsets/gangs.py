"""Gangs of an object: how many pods it has, and how many must fit at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policykit.kube.podsets import replicas
from policykit.kube.podsets.kind_entry import (
    Binding,
    FieldRef,
    GangFacts,
    KindEntry,
    Template,
    Wildcard,
    hold,
    literal,
    matches,
    value,
)
from policykit.kube.podsets.reading import bindings
from policykit.kube.podsets.replicas import textual, whole
from policykit.kube.podsets.table import entry
from policykit.manifests.memoize import memoize_last
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple


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


@memoize_last
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


def _embedded(data: Any, known: KindEntry) -> Iterator[Gang]:
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


def _gangs(data: Any, known: KindEntry, facts: GangFacts) -> Iterator[Gang]:
    """Members grouped by gang."""
    groups: dict[Path, list[GangMember]] = {}
    for template in _counted(known, facts):
        for binding in bindings(data, template):
            if any(isinstance(step, Wildcard) for step in binding.bound(facts.per)):
                continue  # a template without a gang
            pods = replicas.pods(data, known, template, binding, facts.multiplied_by)
            member = GangMember(template, binding, pods)
            groups.setdefault(literal(binding.bound(facts.per)), []).append(member)
    for members in groups.values():
        if hold(facts.only, data, members[0].binding):
            yield _gang(data, facts, members)


def _counted(known: KindEntry, facts: GangFacts) -> list[Template]:
    """Templates whose pods count: stored ones only if the kind is itself a store."""
    found = [t for t in known.templates if t.makes_pods and (not facts.members or t.name in facts.members)]
    return [t for t in found if t.use == "pods"] or found


def _gang(data: Any, facts: GangFacts, members: list[GangMember]) -> Gang:
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
        pods=total(m.pods for m in members),
        members=tuple(m.template.name + m.binding.suffix for m in members),
        enabled=facts.enable is None or _enabled(data, facts.enable, binding),
        enabled_by=None if facts.enable is None else literal(binding.bound(facts.enable.place)),
        minima=tuple(_parts(data, facts, binding)),
        scheduler=facts.scheduler,
    )


def _size(data: Any, size: FieldRef, members: list[GangMember]) -> int | None:
    if size.rule:
        return SIZE_RULES[size.rule](data, members)
    return size.default if isinstance(size.default, int) else None


def _read(size: FieldRef, found: Any) -> int | None:
    return whole(found) if size.form == "field" else textual(found)


def _enabled(data: Any, enable: FieldRef, binding: Binding) -> bool:
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


class GangMember(NamedTuple):
    """One match of a template that counts in a gang."""

    template: Template
    binding: Binding
    pods: int | None


SizeRule = Callable[[Any, list[GangMember]], int | None]
"""(object, members) to the least number of pods; None: unknown. There is at least one member."""


def total(numbers: Iterable[int | None]) -> int | None:
    """Their sum; None if one of them is unknown."""
    known = list(numbers)
    return None if None in known else sum(n for n in known if n is not None)


def _number(data: Any, path: Path, default: int | None) -> int | None:
    found = value(data, path)
    return default if found is None else whole(found)


def _product(*factors: int | None) -> int | None:
    result = 1
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result


def _all_pods(data: Any, members: list[GangMember]) -> int | None:
    return total(member.pods for member in members)


def _volcano_minima(data: Any, members: list[GangMember]) -> int | None:
    """Sum of the tasks' minima; a task without one: its partitions, else its replicas (1.15)."""
    return total(_task_minimum(data, member) for member in members)


def _task_minimum(data: Any, member: GangMember) -> int | None:
    task = member.binding.path[:-1]
    written = value(data, (*task, "minAvailable"))
    if written is not None:
        return whole(written)
    partitions = _number(data, (*task, "partitionPolicy", "minPartitions"), 0)
    if partitions:
        return _product(partitions, _number(data, (*task, "partitionPolicy", "partitionSize"), 0))
    return None if partitions is None else member.pods


def _ray_desired(data: Any, members: list[GangMember]) -> int | None:
    """Head and workers; with the autoscaler only the workers that always run (KubeRay 1.7)."""
    cluster = members[0].binding.path[: -2 if members[0].template.name == "head" else -3]
    if value(data, (*cluster, "enableInTreeAutoscaling")) is not True:
        return _all_pods(data, members)
    groups = value(data, (*cluster, "workerGroupSpecs"))
    least = [
        _product(_number(group, ("minReplicas",), 0), _number(group, ("numOfHosts",), 1))
        for group in (groups if isinstance(groups, list) else ())
    ]
    return total([1, *least])


def _lws_group(data: Any, members: list[GangMember]) -> int | None:
    """Pods of one group, or only its leader if the others start after it (LWS 0.10)."""
    spec = members[0].binding.path[:-2]
    if value(data, (*spec, "startupPolicy")) == "LeaderReady":
        return 1
    return _number(data, (*spec, "leaderWorkerTemplate", "size"), 1)


def _grove_minima(data: Any, members: list[GangMember]) -> int | None:
    """Minima of the cliques, once for each required scaling group replica."""
    return total(_clique_minimum(data, member.binding.path[:-2]) for member in members)


def _clique_minimum(data: Any, clique: Path) -> int | None:
    least = _number(data, (*clique, "spec", "minAvailable"), -1)
    if least == -1:
        replicas = _number(data, (*clique, "spec", "replicas"), 1)
        least = None if replicas is None else max(1, replicas)
    groups, name = value(data, (*clique[:-2], "podCliqueScalingGroups")), value(data, (*clique, "name"))
    for group in groups if isinstance(groups, list) else ():
        names = value(group, ("cliqueNames",))
        if isinstance(names, list) and name is not None and name in names:
            return _product(least, _number(group, ("minAvailable",), 1))
    return least


def _kthena_roles(data: Any, members: list[GangMember]) -> int | None:
    """Roles of a ServingGroup, each counted up to its own minimum (kthena 1.0)."""
    roles = dict.fromkeys(member.binding.path[:-1] for member in members)
    return total(_role_minimum(data, role) for role in roles)


def _role_minimum(data: Any, role: Path) -> int | None:
    has_workers = value(data, (*role, "workerTemplate")) is not None
    workers = _number(data, (*role, "workerReplicas"), None if has_workers else 0)
    replicas, name = _number(data, (*role, "replicas"), 1), value(data, (*role, "name"))
    least = value(data, (*role[:-2], "gangPolicy", "minRoleReplicas"))
    limit = least.get(name) if isinstance(least, dict) and isinstance(name, str) else None
    if limit is not None:
        limit = whole(limit)
        replicas = None if replicas is None or limit is None else min(replicas, limit)
    return None if workers is None else _product(1 + workers, replicas)


def _rbg_roles(data: Any, members: list[GangMember]) -> int | None:
    """Replicas of each role, times its size where the pods of a replica are one workload."""
    start = members[0].binding.path
    roles = dict.fromkeys(member.binding.path[: start.index("roles") + 2] for member in members)
    return total(_rbg_role(data, role) for role in roles)


def _rbg_role(data: Any, role: Path) -> int | None:
    replicas = _number(data, (*role, "replicas"), 1)
    size: int | None = 1
    if value(data, (*role, "leaderWorkerPattern")) is not None:
        size = _number(data, (*role, "leaderWorkerPattern", "size"), 1)
    elif value(data, (*role, "workload", "kind")) in ("LeaderWorkerSet", "InstanceSet"):
        size = _number(data, (*role, "leaderWorkerSet", "size"), 1)
    return _product(replicas, size)


SIZE_RULES: dict[str, SizeRule] = {
    "all-pods": _all_pods,
    "volcano-minima": _volcano_minima,
    "ray-desired": _ray_desired,
    "lws-group": _lws_group,
    "kserve-group-size": _all_pods,
    "grove-minima": _grove_minima,
    "kthena-roles": _kthena_roles,
    "rbg-roles": _rbg_roles,
}
"""Rules that give the size of a gang. A KServe group counts its head and workers, all its pods."""


def size_text(path: Path, pods: int) -> str:
    """The size of a gang as it is written at a path: labels and annotations are text."""
    return f'"{pods}"' if holds_text(path) else str(pods)


def holds_text(path: Path) -> bool:
    """Whether the values at a path are text: those of labels and annotations."""
    return len(path) > 1 and path[-2] in ("annotations", "labels")
