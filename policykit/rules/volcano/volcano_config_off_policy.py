"""A Volcano configuration lacks what the policy asks for.

The policy defines which pods start together, how queues share and which pods make room for others. The
scheduler does so only with the matching plugins and actions in its own configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import FALSE, mapping
from policykit.model.severity import Severity
from policykit.model.workload import SPREAD, WorkloadKind
from policykit.rules.volcano.planned_configuration import PlannedConfiguration, planned_configuration
from policykit.targets.volcano.names import TOPOLOGY_PLUGIN
from policykit.targets.volcano.objects import nodegroups
from policykit.targets.volcano.scheduler.configuration import Configuration, is_of_agent, read
from policykit.targets.volcano.scheduler.packing import strategy
from policykit.targets.volcano.scheduler.validator import PREEMPTING, RECLAIMING, SHARING

BAD = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
    arguments:
      leastrequested.weight: 0
  - name: binpack
    arguments:
      binpack.resources: nvidia.com/gpu
"""

GOOD = BAD.replace("  - name: conformance", "  - name: gang\n  - name: conformance")


_WRITE = "write it as `policykit gen` does"
_GUARDS = {
    "predicate.TaintTolerationEnable": "the taints that keep pools apart have no effect",
    "predicate.NodeAffinityEnable": "the node affinity by which workload kinds choose pools has no effect",
}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Compared with what `gen` would write. Of a file by itself that lists no action, nothing."""
    if context.cluster is None or is_placeholder(manifest.data.get("actions")):
        return
    if is_of_agent(manifest) or (manifest.holder is None and "actions" not in manifest.data):
        return
    planned = planned_configuration(context.cluster)
    if planned is None:
        return
    there = read(manifest.data)
    if there.actions:
        yield from _actions(planned, there.actions)
    if there.plugins:
        yield from _missing_plugins(planned, there)
        yield from _queue_plugins(planned, there)
        yield from _switched_off(planned, there)
        yield from _node_groups(planned, there)
        yield from _packs_spread_pods(planned, there)


def _packs_spread_pods(planned: PlannedConfiguration, there: Configuration) -> Iterator[Violation]:
    """Every kind that Volcano places is to be spread, and a plugin packs."""
    strategies = {strategy(planned.cluster, kind) for kind in planned.kinds}
    plugin = there.plugin("binpack")
    if strategies == {SPREAD} and plugin and plugin.arguments.get("binpack.weight") != 0:
        yield Violation(
            (*plugin.path, "name"),
            f"plugin binpack packs pods, but the policy spreads workload kind {planned.kinds[0].name}",
            "remove binpack, or change the placement of the workload kind",
        )


def _actions(planned: PlannedConfiguration, actions: tuple[str, ...]) -> Iterator[Violation]:
    preemption = planned.cluster.preemption
    for key, value, able in (
        ("preemption.withinQueue", preemption.within_queue, PREEMPTING),
        ("preemption.reclaim", preemption.reclaim, RECLAIMING),
    ):
        listed = [name for name in able if name in actions]
        if value and not listed:
            message = f"{key} is true in the policy, but the actions do not include {able[0]}"
            yield Violation(("actions",), message, f"add {able[0]}, or change the policy")
        elif value is False and listed:
            message = f"{key} is false in the policy, but the actions include {listed[0]}"
            yield Violation(("actions",), message, f"remove {listed[0]}, or change the policy")
    for name in planned.options.actions or ():
        if name not in actions:
            message = f"the policy lists action {name} in targets.volcano.actions, but the file does not"
            yield Violation(("actions",), message, f"add {name}, or change the policy")
    growing = [pool.name for pool in planned.cluster.pools if pool.autoscaled]
    # What `gen` writes itself it has given a notice about.
    if growing and "enqueue" in actions and actions != planned.made.actions:
        yield Violation(
            ("actions",),
            f"pool {', '.join(growing)} grows when pods are pending, but enqueue creates no pods for jobs "
            "that do not fit: no node is added for them",
            "remove enqueue, or keep enough nodes in the pool",
            Severity.INFO,
        )


def _missing_plugins(planned: PlannedConfiguration, there: Configuration) -> Iterator[Violation]:
    """One for all of them: whoever wrote the tiers did not ask for what the policy does."""
    missing = {
        name: why
        for name, why in _reasons(planned).items()
        if planned.made.plugin(name) and not _serves(there, name)
    }
    names = list(missing)
    if len(names) == 1:
        message = f"plugin {names[0]} is not listed, but {missing[names[0]]}"
        yield Violation(("tiers",), message, _WRITE)
    elif names:
        reasons = "; ".join(f"{name}: {why}" for name, why in missing.items())
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        message = f"plugins {listed} are not listed, but the policy needs them ({reasons})"
        yield Violation(("tiers",), message, _WRITE)


def _serves(there: Configuration, name: str) -> bool:
    """The plugin is listed, or for binpack another that packs in its stead."""
    other = there.plugin("resource-strategy-fit") if name == "binpack" else None
    strategies = mapping(other.arguments.get("resources")).values() if other else ()
    return there.has(name) or any(mapping(each).get("type") == "MostAllocated" for each in strategies)


def _queue_plugins(planned: PlannedConfiguration, there: Configuration) -> Iterator[Violation]:
    limited = any(queue.limit for queue in planned.cluster.queues)
    if limited and not any(map(there.has, SHARING)):
        yield Violation(
            ("tiers",),
            "neither plugin proportion nor capacity is listed, so nothing enforces the queue limits of the "
            "policy",
            _WRITE,
        )
    ours, theirs = planned.made.plugin("capacity"), there.plugin("capacity")
    if ours and theirs and ours.on("enableHierarchy") and not theirs.on("enableHierarchy"):
        yield Violation(
            (*theirs.path, "name"),
            "the policy has a queue tree, but plugin capacity lacks enableHierarchy: parents limit nothing",
            "set enableHierarchy: true next to its name",
        )


def _reasons(planned: PlannedConfiguration) -> dict[str, str]:
    """Plugin to why the policy needs it; the order is that of messages."""
    cluster, kinds = planned.cluster, planned.kinds
    found = {"predicates": "without it taints and affinity do not keep pods on the policy's pools"}
    if any(kind.gang == "all" for kind in kinds):
        found["gang"] = f"workload kind {_first(kinds, 'gang')} starts all its pods together"
    found["capacity"] = "the policy's queues have deserved amounts, guarantees or parents"
    if any(queue.weight != 1 for queue in cluster.queues):
        found["proportion"] = "the policy's queues share by weight"
    if any(kind.prefer for kind in kinds):
        found["nodeorder"] = f"workload kind {_first(kinds, 'prefer')} prefers a usage"
    if planned.packs:
        for name in ("binpack", "resource-strategy-fit"):
            found[name] = "the policy packs pods"
    if any(kind.within for kind in kinds):
        found[TOPOLOGY_PLUGIN] = f"workload kind {_first(kinds, 'within')} stays within a level"
    if planned.options.vgpu:
        found["deviceshare"] = "the policy shares cards as vGPUs"
    found["nodegroup"] = "queues of the policy have pools of their own"
    for name in planned.options.plugins:
        if planned.options.enables(name):
            found.setdefault(name, "the policy lists it in targets.volcano.plugins")
    return found


def _first(kinds: tuple[WorkloadKind, ...], field: str) -> str:
    return next(kind.name for kind in kinds if getattr(kind, field) and getattr(kind, field) != "none")


def _node_groups(planned: PlannedConfiguration, there: Configuration) -> Iterator[Violation]:
    """Plugin nodegroup gives a queue without pools no node at all, unless it is not strict."""
    plugin, queues = there.plugin("nodegroup"), planned.cluster.queues
    if plugin and plugin.arguments.get("strict") is not False and not nodegroups.uses_node_groups(queues):
        yield Violation(
            (*plugin.path, "name"),
            "plugin nodegroup is listed, but no queue of the policy names pools: no node takes their pods",
            "remove nodegroup, or name pools at the queues",
        )


def _switched_off(planned: PlannedConfiguration, there: Configuration) -> Iterator[Violation]:
    predicates, order = there.plugin("predicates"), there.plugin("nodeorder")
    for key, effect in _GUARDS.items() if predicates else ():
        assert predicates is not None
        value = predicates.arguments.get(key)
        if value is False or (isinstance(value, str) and value in FALSE):
            path = (*predicates.path, "arguments", key)
            yield Violation(path, f"{key} is off, but the policy needs it: {effect}", "remove it")
    if order and order.arguments.get("nodeaffinity.weight") == 0 and any(k.prefer for k in planned.kinds):
        yield Violation(
            (*order.path, "arguments", "nodeaffinity.weight"),
            f"nodeaffinity.weight is 0, but workload kind {_first(planned.kinds, 'prefer')} prefers a usage",
            _WRITE,
        )


RULE = Rule(
    code="PK508",
    name="volcano-config-off-policy",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"volcano-scheduler.conf"}),
    needs_policy=True,
)
