"""Settings of Koordinator's plugins in every profile, from options, gangs, queues and topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit import durations
from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.options import KoordinatorOptions
from policykit.targets.koordinator.scheduler import fields, plugin_args
from policykit.targets.koordinator.scheduler.fields import LONGEST_WAIT, SECTIONS
from policykit.targets.koordinator.scheduler.plugins import (
    COSCHEDULING,
    PLUGINS,
    QUOTAS,
    RESERVATION,
    SCARCE,
)

PREEMPTION_PLUGINS = (("postFilter", QUOTAS), ("postFilter", "DefaultPreemption"))
"""(point, plugin) of the plugins that preempt pods."""


class Settings(NamedTuple):
    """Args, plugins and weights that are the same in every profile."""

    args: Mapping[str, Mapping[str, Any]] = {}
    plugins: tuple[str, ...] = ()
    """Plugins to enable at every point at which the chart of the release has them."""
    weights: Mapping[str, int] = {}
    """Plugin to its weight at score."""
    disabled: tuple[tuple[str, str], ...] = ()
    """(point, plugin) that must not run."""
    notices: tuple[str, ...] = ()


def plugin_settings(
    cluster: Cluster, names: Iterable[str], options: KoordinatorOptions, version: Version
) -> Settings:
    """Settings for all profiles; `names` are their schedulerNames. Empty if the policy sets nothing."""
    kinds = [kind for kind in cluster.workloads.values() if kind.scheduler in set(names)]
    notices: list[str] = []
    derived = {
        COSCHEDULING: {
            **_gang_timeout(kinds, notices),
            **_topology(kinds, version, notices),
            **_no_preemption(cluster, version, notices),
        },
        QUOTAS: _reclaim(cluster),
    }
    found: dict[str, Mapping[str, Any]] = {}
    for plugin in dict.fromkeys((*(plugin for _, plugin in SECTIONS.values()), *derived)):
        if plugin == SCARCE:
            continue
        stated = {**derived.get(plugin, {}), **_capped_timeout(options.fields(plugin), notices)}
        known = {
            name: value for name, value in stated.items() if _is_supported(plugin, name, version, notices)
        }
        if known:
            found[plugin] = known
    notices.extend(_unchecked_parents(cluster, found.get(QUOTAS, {})))
    return Settings(
        found,
        tuple(_required_plugins(cluster, kinds, found)),
        {name: weight for name, weight in options.weights.items() if name != SCARCE},
        PREEMPTION_PLUGINS if cluster.preemption.within_queue is False else (),
        tuple(notices),
    )


def job_preemption(options: KoordinatorOptions) -> bool:
    """Whether gangs preempt, as the chart's value scheduler.enableJobPreemption has it; true by default."""
    return options.fields(COSCHEDULING).get("enablePreemption") is not False


def check_load_aware(stated: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raises PolicykitError if a resource has a weight but no scaling factor.

    `given`: args of the configuration that the policy is merged into.
    """
    for problem in plugin_args.missing_factors({**given, **stated}):
        raise PolicykitError(
            problem.message, problem.help, path=("targets", "koordinator", "loadAware", *problem.path)
        )


def _gang_timeout(kinds: Iterable[WorkloadKind], notices: list[str]) -> dict[str, Any]:
    rules = {kind.name: (kind.gang_rule and kind.gang_rule.timeout) or 0 for kind in kinds}
    longest = max(rules.values(), default=0)
    if longest > LONGEST_WAIT:
        late = ", ".join(name for name, seconds in rules.items() if seconds > LONGEST_WAIT)
        notices.append(
            f"gangs of {late} may wait up to {longest} s, but koord-scheduler ends every wait after "
            f"{LONGEST_WAIT} s: {LONGEST_WAIT} s is written"
        )
    return {"defaultTimeout": f"{min(longest, LONGEST_WAIT)}s"} if longest else {}


def _topology(kinds: Iterable[WorkloadKind], version: Version, notices: list[str]) -> dict[str, Any]:
    close = [kind.name for kind in kinds if kind.within]
    since = fields.since("Coscheduling", "awareNetworkTopology")
    if close and since and version < since:
        notices.append(
            f"workload kinds {', '.join(close)} stay within a topology level, which Koordinator {version} "
            f"does not support (added in {fields.release_text(since)}). The closest alternative is pod "
            "affinity with the level's topologyKey"
        )
        return {}
    return {"awareNetworkTopology": True} if close else {}


def _no_preemption(cluster: Cluster, version: Version, notices: list[str]) -> dict[str, Any]:
    if cluster.preemption.within_queue is not False:
        return {}
    notices.append(
        "preemption.withinQueue: false turns off all preemption of koord-scheduler, even for pods without a "
        "queue: it never preempts between queues, which reclaim through monitorAllQuotas instead"
    )
    since = fields.since("Coscheduling", "enablePreemption")
    return {"enablePreemption": False} if since and since <= version else {}


def _reclaim(cluster: Cluster) -> dict[str, Any]:
    reclaim = cluster.preemption.reclaim
    return {} if reclaim is None else {"monitorAllQuotas": reclaim}


def _is_supported(plugin: str, field: str, version: Version, notices: list[str]) -> bool:
    since = fields.since(plugin, field)
    if since is not None and since <= version:
        return True
    when = f" (added in {fields.release_text(since)})" if since else ""
    notices.append(f"Koordinator {version} has no field {field} in {plugin}Args{when}: left out")
    return False


def _capped_timeout(stated: Mapping[str, Any], notices: list[str]) -> Mapping[str, Any]:
    wait = durations.seconds(str(stated.get("defaultTimeout", "0"))) or 0
    if wait <= LONGEST_WAIT:
        return stated
    notices.append(
        f"coscheduling.defaultTimeout is {wait} s, but koord-scheduler ends every wait after "
        f"{LONGEST_WAIT} s: {LONGEST_WAIT} s is written"
    )
    return {**stated, "defaultTimeout": f"{LONGEST_WAIT}s"}


def _unchecked_parents(cluster: Cluster, stated: Mapping[str, Any]) -> Iterator[str]:
    limited = [queue.name for queue in cluster.queues if queue.limit]
    parents = sorted({queue.parent for queue in cluster.queues if queue.parent in limited})
    if parents and stated.get("enableRuntimeQuota") is False and not stated.get("enableCheckParentQuota"):
        yield (
            f"limits of {', '.join(parents)} do not apply to their child queues: enableRuntimeQuota is "
            "false, and parents are not checked. Set elasticQuota.enableCheckParentQuota: true"
        )


def _required_plugins(
    cluster: Cluster, kinds: Iterable[WorkloadKind], args: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Plugins that the policy needs, in the order of `PLUGINS`."""
    required = set(args)
    if any(kind.gang == "all" for kind in kinds):
        required.add(COSCHEDULING)
    if any(kind.queue for kind in kinds) and cluster.queues:
        required.add(QUOTAS)
    if cluster.reservations and kinds:
        required.add(RESERVATION)
    return (plugin for plugin in PLUGINS if plugin in required)
