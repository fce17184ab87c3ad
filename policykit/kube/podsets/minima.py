"""Gang sizes that a kind computes from its parts, by the rule named in the kinds table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from policykit.kube.podsets.facts import Template
from policykit.kube.podsets.rules import whole
from policykit.kube.podsets.walk import Binding, value
from policykit.manifests.path import Path


class Member(NamedTuple):
    """One match of a template that counts in a gang."""

    template: Template
    binding: Binding
    pods: int | None


Rule = Callable[[Any, list[Member]], int | None]
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


def _all_pods(data: Any, members: list[Member]) -> int | None:
    return total(member.pods for member in members)


def _volcano_minima(data: Any, members: list[Member]) -> int | None:
    """Sum of the tasks' minima; a task without one: its partitions, else its replicas (1.15)."""
    return total(_task_minimum(data, member) for member in members)


def _task_minimum(data: Any, member: Member) -> int | None:
    task = member.binding.path[:-1]
    written = value(data, (*task, "minAvailable"))
    if written is not None:
        return whole(written)
    partitions = _number(data, (*task, "partitionPolicy", "minPartitions"), 0)
    if partitions:
        return _product(partitions, _number(data, (*task, "partitionPolicy", "partitionSize"), 0))
    return None if partitions is None else member.pods


def _ray_desired(data: Any, members: list[Member]) -> int | None:
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


def _lws_group(data: Any, members: list[Member]) -> int | None:
    """Pods of one group, or only its leader if the others start after it (LWS 0.10)."""
    spec = members[0].binding.path[:-2]
    if value(data, (*spec, "startupPolicy")) == "LeaderReady":
        return 1
    return _number(data, (*spec, "leaderWorkerTemplate", "size"), 1)


def _grove_minima(data: Any, members: list[Member]) -> int | None:
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


def _kthena_roles(data: Any, members: list[Member]) -> int | None:
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


def _rbg_roles(data: Any, members: list[Member]) -> int | None:
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


RULES: dict[str, Rule] = {
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
