"""What a policy asks of Volcano's scheduler, held against a configuration as it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.linter.rule import Violation
from policykit.manifests.shape import mapping
from policykit.model.cluster import Cluster
from policykit.model.placement import BINPACK
from policykit.model.severity import Severity
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import versions
from policykit.targets.volcano.checks import listing
from policykit.targets.volcano.checks.listing import FALSE, Plugins
from policykit.targets.volcano.names import SCHEDULER
from policykit.targets.volcano.objects import admission, nodegroups
from policykit.targets.volcano.scheduler import closeness, options
from policykit.targets.volcano.scheduler.actions import PREEMPTING, RECLAIMING
from policykit.targets.volcano.scheduler.plan import Plan, plan
from policykit.targets.volcano.scheduler.wishes import served, strategy

_WRITE = "write it as `policykit gen` does"
_GUARDS = {
    "predicate.TaintTolerationEnable": "taints, which keep its pools apart, do not count",
    "predicate.NodeAffinityEnable": "node affinity, by which its kinds of work choose pools, does not count",
}


class _Wanted(NamedTuple):
    cluster: Cluster
    kinds: tuple[WorkloadKind, ...]
    plan: Plan
    stated: options.Stated


def lacking(cluster: Cluster, data: Mapping[str, Any]) -> Iterator[Violation]:
    """What the policy asks for and the file does not say; nothing where the policy has no Volcano."""
    wanted = _wanted(cluster)
    if wanted is None:
        return
    plugins, actions = listing.plugins(data), listing.actions(data)
    if actions:
        yield from _actions(wanted, actions)
    if plugins.listed:
        yield from _plugins(wanted, plugins)
        yield from _switched_off(wanted, plugins)
        yield from _without_groups(wanted, plugins)


def packed_cards(cluster: Cluster) -> tuple[str, ...]:
    """Card resources that plugin binpack has to count for the policy's kinds of work."""
    wanted = _wanted(cluster)
    if wanted is None or not _packs(wanted):
        return ()
    made = wanted.plan.configuration.plugin("binpack")
    listed = made.arguments.get("binpack.resources", "") if made else ""
    return tuple(name for each in listed.split(",") if (name := each.strip()))


def _wanted(cluster: Cluster) -> _Wanted | None:
    target = cluster.targets.get(SCHEDULER)
    if target is None:
        return None
    try:
        version = versions.parse(target.version)
        queues, _ = admission.admitted(cluster.queues, version, cluster.pools)
        made = plan(cluster, target, queues, version)
        return _Wanted(cluster, tuple(served(cluster, target)), made, options.read(cluster, target))
    except PolicykitError:
        return None  # `gen` says what is wrong with the policy


def _packs(wanted: _Wanted) -> bool:
    return any(strategy(wanted.cluster, kind) == BINPACK for kind in wanted.kinds)


def _actions(wanted: _Wanted, actions: tuple[str, ...]) -> Iterator[Violation]:
    asked = wanted.cluster.preemption
    for key, value, able in (
        ("preemption.withinQueue", asked.within_queue, PREEMPTING),
        ("preemption.reclaim", asked.reclaim, RECLAIMING),
    ):
        listed = [name for name in able if name in actions]
        if value and not listed:
            yield _action(
                f"{key} of the policy is true, and the actions are without {able[0]}", able[0], True
            )
        elif value is False and listed:
            yield _action(f"{key} of the policy is false, and the actions have {listed[0]}", listed[0], False)
    for name in wanted.stated.actions or ():
        if name not in actions:
            yield _action(
                f"targets.volcano.actions of the policy has {name}, and the file does not", name, True
            )

    growing = [pool.name for pool in wanted.cluster.pools if pool.autoscaled]
    # What `gen` writes itself it has said something about.
    if growing and "enqueue" in actions and actions != wanted.plan.configuration.actions:
        yield Violation(
            ("actions",),
            f"pool {', '.join(growing)} of the policy grows for pending pods, and enqueue lets no pod be "
            "made of a job without room: no node is added for it",
            "take enqueue out, or keep enough nodes in the pool",
            Severity.INFO,
        )


def _action(message: str, name: str, missing: bool) -> Violation:
    advice = f"add {name}" if missing else f"take {name} out"
    return Violation(("actions",), message, f"{advice}, or change the policy")


def _plugins(wanted: _Wanted, plugins: Plugins) -> Iterator[Violation]:
    made = wanted.plan.configuration
    reasons = _reasons(wanted).items()
    missing = {name: why for name, why in reasons if made.plugin(name) and not _serves(plugins, name)}
    if missing:
        yield _not_listed(missing)
    if any(queue.limit for queue in wanted.cluster.queues) and not _shared(plugins):
        yield Violation(
            ("tiers",),
            "neither plugin proportion nor capacity is listed, and the policy's queues have limits: nobody "
            "holds them",
            _WRITE,
        )
    capacity = plugins.get("capacity")
    tree = made.plugin("capacity")
    if capacity and tree and tree.on("enableHierarchy") and not capacity.on("enableHierarchy"):
        yield Violation(
            (*capacity.path, "name"),
            "the policy's queues are a tree, and plugin capacity is without enableHierarchy: parents limit "
            "nothing",
            "write enableHierarchy: true beside its name",
        )


def _serves(plugins: Plugins, name: str) -> bool:
    """The plugin is listed, or for binpack another that packs in its stead."""
    other = plugins.get("resource-strategy-fit") if name == "binpack" else None
    strategies = mapping(other.arguments.get("resources")).values() if other else ()
    return plugins.has(name) or any(mapping(each).get("type") == "MostAllocated" for each in strategies)


def _not_listed(missing: Mapping[str, str]) -> Violation:
    """One for all of them: whoever wrote the tiers did not ask for what the policy does."""
    names = list(missing)
    if len(names) == 1:
        return Violation(("tiers",), f"plugin {names[0]} is not listed, and {missing[names[0]]}", _WRITE)
    each = "; ".join(f"{name}: {why}" for name, why in missing.items())
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return Violation(
        ("tiers",), f"plugins {listed} are not listed, and the policy needs them ({each})", _WRITE
    )


def _shared(plugins: Plugins) -> bool:
    return plugins.has("proportion") or plugins.has("capacity")


def _reasons(wanted: _Wanted) -> dict[str, str]:
    """Plugin to why the policy needs it; the order is that of messages."""
    cluster, kinds = wanted.cluster, wanted.kinds
    found = {"predicates": "without it neither taints nor affinity keep pods on the policy's pools"}
    if any(kind.gang == "all" for kind in kinds):
        found["gang"] = f"kind {_first(kinds, 'gang')} starts all its pods together"
    found["capacity"] = "the policy's queues state what they deserve, are guaranteed, or form a tree"
    if any(queue.weight != 1 for queue in cluster.queues):
        found["proportion"] = "the policy's queues share by weight"
    if any(kind.prefer for kind in kinds):
        found["nodeorder"] = f"kind {_first(kinds, 'prefer')} prefers a usage"
    if _packs(wanted):
        for name in ("binpack", "resource-strategy-fit"):
            found[name] = "the policy packs pods"
    if any(kind.within for kind in kinds):
        found[closeness.NAME] = f"kind {_first(kinds, 'within')} stays within a level"
    if wanted.stated.vgpu:
        found["deviceshare"] = "the policy shares cards as vGPUs"
    found["nodegroup"] = "queues of the policy have pools of their own"
    for name in wanted.stated.plugins:
        if wanted.stated.wants(name):
            found.setdefault(name, "targets.volcano.plugins of the policy lists it")
    return found


def _first(kinds: tuple[WorkloadKind, ...], field: str) -> str:
    return next(kind.name for kind in kinds if getattr(kind, field) and getattr(kind, field) != "none")


def _without_groups(wanted: _Wanted, plugins: Plugins) -> Iterator[Violation]:
    """Plugin nodegroup gives a queue without pools no node at all, unless it is not strict."""
    plugin, queues = plugins.get("nodegroup"), wanted.cluster.queues
    if plugin and plugin.arguments.get("strict") is not False and not nodegroups.named(queues):
        yield Violation(
            (*plugin.path, "name"),
            "plugin nodegroup is listed, and no queue of the policy names pools: no node takes their pods",
            "take nodegroup out, or name pools at the queues",
        )


def _switched_off(wanted: _Wanted, plugins: Plugins) -> Iterator[Violation]:
    predicates, order = plugins.get("predicates"), plugins.get("nodeorder")
    for key, lost in _GUARDS.items() if predicates else ():
        assert predicates is not None
        value = predicates.arguments.get(key)
        if value is False or (isinstance(value, str) and value in FALSE):
            path = (*predicates.path, "arguments", key)
            yield Violation(path, f"{key} is off, and the policy needs it: {lost}", "take it out")
    if order and order.arguments.get("nodeaffinity.weight") == 0 and any(k.prefer for k in wanted.kinds):
        yield Violation(
            (*order.path, "arguments", "nodeaffinity.weight"),
            f"nodeaffinity.weight is 0, and kind {_first(wanted.kinds, 'prefer')} prefers a usage",
            _WRITE,
        )
