"""What every profile is to set of Koordinator's plugins: from options, gangs, queues and topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from policykit.catalogue.koordinator import fields
from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster, Target
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.objects import durations
from policykit.targets.koordinator.objects.podgroups import LONGEST_WAIT
from policykit.targets.koordinator.scheduler import config, points
from policykit.targets.koordinator.scheduler.options import Options
from policykit.targets.release import Version

PREEMPTORS = (("postFilter", "ElasticQuota"), ("postFilter", "DefaultPreemption"))
DEFAULT_FACTORS: Mapping[str, int] = {"cpu": 85, "memory": 70}
"""What LoadAwareScheduling adds to estimatedScalingFactors by itself."""


class Wanted(NamedTuple):
    """Fields of args by plugin, and the plugins that must be enabled; the same for every profile."""

    args: Mapping[str, Mapping[str, Any]] = {}
    plugins: tuple[str, ...] = ()
    """Enabled at every point where the chart of the release has them."""
    weights: Mapping[str, int] = {}
    """Plugin to its weight at score."""
    off: tuple[tuple[str, str], ...] = ()
    """(point, plugin) that must not run."""
    said: tuple[str, ...] = ()


def wanted(
    cluster: Cluster, target: Target, names: Iterable[str], options: Options, version: Version
) -> Wanted:
    """`names`: schedulerNames of all profiles. Nothing where the policy says nothing of it."""
    kinds = [kind for kind in cluster.workloads.values() if kind.scheduler in set(names)]
    said: list[str] = []
    derived = {
        "Coscheduling": {
            **_gang_timeout(kinds, said),
            **_topology(kinds, version, said),
            **_no_preemption(cluster, version, said),
        },
        "ElasticQuota": _reclaim(cluster),
    }
    found: dict[str, Mapping[str, Any]] = {}
    for plugin in dict.fromkeys((*options.plugins, *derived)):
        if plugin == config.SCARCE:
            continue
        stated = {**derived.get(plugin, {}), **_shortened(options.fields(plugin), said)}
        kept = {name: value for name, value in stated.items() if _there(plugin, name, version, said)}
        if kept:
            found[plugin] = kept
    said.extend(_unchecked_parents(cluster, found.get("ElasticQuota", {})))
    return Wanted(
        found,
        tuple(_needed(cluster, kinds, found)),
        {name: weight for name, weight in options.weights.items() if name != config.SCARCE},
        PREEMPTORS if cluster.preemption.within_queue is False else (),
        tuple(said),
    )


def check_load_aware(stated: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raises PolicykitError where a weight has no scaling factor: the scheduler would stop at start.

    `given`: args of the configuration that is merged into.
    """
    known = _map({**given, **stated}, "estimatedScalingFactors")
    for resource in _map({**given, **stated}, "resourceWeights"):
        if resource not in known and resource not in DEFAULT_FACTORS:
            raise PolicykitError(
                f"LoadAwareScheduling weighs {resource}, but has no estimatedScalingFactors for it, "
                "so koord-scheduler stops at start",
                f"add {resource} to targets.koordinator.loadAware.estimatedScalingFactors, 1 to 100",
                path=("targets", "koordinator", "loadAware", "resourceWeights", resource),
            )


def _gang_timeout(kinds: Iterable[WorkloadKind], said: list[str]) -> dict[str, Any]:
    rules = {kind.name: (kind.gang_rule and kind.gang_rule.timeout) or 0 for kind in kinds}
    longest = max(rules.values(), default=0)
    if longest > LONGEST_WAIT:
        late = ", ".join(name for name, seconds in rules.items() if seconds > LONGEST_WAIT)
        said.append(
            f"gangs of {late} may wait up to {longest} s, but koord-scheduler ends every wait after "
            f"{LONGEST_WAIT} s: {LONGEST_WAIT} s is written"
        )
    return {"defaultTimeout": f"{min(longest, LONGEST_WAIT)}s"} if longest else {}


def _topology(kinds: Iterable[WorkloadKind], version: Version, said: list[str]) -> dict[str, Any]:
    close = [kind.name for kind in kinds if kind.within]
    since = fields.since("Coscheduling", "awareNetworkTopology")
    if close and since and version < since:
        said.append(
            f"workload kinds {', '.join(close)} stay within a topology level, which Koordinator {version} "
            f"does not know (since {fields.named(since)}). What comes nearest: pod affinity with the level's "
            "topologyKey"
        )
        return {}
    return {"awareNetworkTopology": True} if close else {}


def _no_preemption(cluster: Cluster, version: Version, said: list[str]) -> dict[str, Any]:
    if cluster.preemption.within_queue is not False:
        return {}
    said.append(
        "preemption.withinQueue: false ends every preemption of koord-scheduler, that of pods without a "
        "queue too: it has none between queues, they take back by monitorAllQuotas (reclaim)"
    )
    since = fields.since("Coscheduling", "enablePreemption")
    return {"enablePreemption": False} if since and since <= version else {}


def _reclaim(cluster: Cluster) -> dict[str, Any]:
    reclaim = cluster.preemption.reclaim
    return {} if reclaim is None else {"monitorAllQuotas": reclaim}


def _there(plugin: str, field: str, version: Version, said: list[str]) -> bool:
    since = fields.since(plugin, field)
    if since is not None and since <= version:
        return True
    when = f"since {fields.named(since)}" if since else "no release has it"
    said.append(f"{plugin} of Koordinator {version} has no {field} ({when}): left out")
    return False


def _shortened(stated: Mapping[str, Any], said: list[str]) -> Mapping[str, Any]:
    wait = durations.seconds(str(stated.get("defaultTimeout", "0"))) or 0
    if wait <= LONGEST_WAIT:
        return stated
    said.append(
        f"coscheduling.defaultTimeout is {wait} s, but koord-scheduler ends every wait after "
        f"{LONGEST_WAIT} s: {LONGEST_WAIT} s is written"
    )
    return {**stated, "defaultTimeout": f"{LONGEST_WAIT}s"}


def _unchecked_parents(cluster: Cluster, stated: Mapping[str, Any]) -> Iterator[str]:
    limited = [queue.name for queue in cluster.queues if queue.limit]
    parents = sorted({queue.parent for queue in cluster.queues if queue.parent in limited})
    if parents and stated.get("enableRuntimeQuota") is False and not stated.get("enableCheckParentQuota"):
        yield (
            f"limits of {', '.join(parents)} do not hold for the queues below: enableRuntimeQuota is false, "
            "and parents are not checked. Set elasticQuota.enableCheckParentQuota: true"
        )


def _needed(
    cluster: Cluster, kinds: Iterable[WorkloadKind], args: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Plugins that must run for what the policy says, in the order of `points.PLUGINS`."""
    asked = set(args)
    if any(kind.gang == "all" for kind in kinds):
        asked.add("Coscheduling")
    if any(kind.queue for kind in kinds) and cluster.queues:
        asked.add("ElasticQuota")
    if cluster.reservations and kinds:
        asked.add("Reservation")
    return (plugin for plugin in points.PLUGINS if plugin in asked)


def _map(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}
