"""Facts about the network topology: HyperNodes, gangs that stay within a tier, and the plugin for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.kube import requests
from policykit.kube.podsets.gangs import gang
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.topology import DeclaredHyperNode, DeclaredMember, PluginUse, TierUse, TopologyPlugin
from policykit.targets.volcano.names import NUMA_POLICY, REVOCABLE_ZONE, SCHEDULER, TOPOLOGY_PLUGIN

BOUNDS: Mapping[tuple[str, str], Path] = {
    ("batch.volcano.sh", "Job"): ("spec", "networkTopology"),
    ("batch.volcano.sh", "CronJob"): ("spec", "jobTemplate", "spec", "networkTopology"),
    ("flow.volcano.sh", "JobTemplate"): ("spec", "networkTopology"),
    ("scheduling.volcano.sh", "PodGroup"): ("spec", "networkTopology"),
}
"""(API group, kind) to the path of the networkTopology of the whole gang."""
READ_BY_PLUGINS: Mapping[str, str] = {
    NUMA_POLICY: "numaaware",
    REVOCABLE_ZONE: "tdm",
    "volcano.sh/sla-waiting-time": "sla",
    "volcano.sh/task-topology-affinity": "task-topology",
    "volcano.sh/task-topology-anti-affinity": "task-topology",
    "volcano.sh/task-topology-task-order": "task-topology",
}
"""Annotation to the plugin that reads it."""
_OF_TREES = ("capacity", "nodegroup")
_WITH_TREE = "capacity with enableHierarchy"
_GROUP = "topology.volcano.sh"
_SELECTORS = ("exactMatch", "regexMatch", "labelMatch")
_BY_NUMBER, _BY_NAME = "highestTierAllowed", "highestTierName"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """The facts of a HyperNode, of a job or PodGroup of Volcano, or of its configuration."""
    if manifest.group == _GROUP and manifest.kind == "HyperNode":
        yield from _hyper_node(manifest)
    elif manifest.read_as:
        tiers = mappings(manifest.data.get("tiers"))
        names = [text(p.get("name")) for tier in tiers for p in mappings(tier.get("plugins"))]
        if names:
            listed = [p for tier in tiers for p in mappings(tier.get("plugins"))]
            if any(p.get("name") in _OF_TREES and p.get("enableHierarchy") is True for p in listed):
                names.append(_WITH_TREE)
            actions = text(manifest.data.get("actions")).split(",")
            plugins = TopologyPlugin(
                TOPOLOGY_PLUGIN in names, frozenset(names), frozenset(each.strip() for each in actions)
            )
            yield Fact(plugins, {"plugins": ("tiers",)}, answers=True)
    else:
        yield from _use(manifest, () if manifest.partial else pod_sets)


def plugin_uses(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """What plugins read that no default configuration has. Source: `plugins/` of Volcano (1.8 to 1.15)."""
    if manifest.kind == "Queue":
        path: Path = ("spec", "affinity", "nodeGroupAffinity")
        if mapping(lookup(manifest.data, path)) and manifest.group == "scheduling.volcano.sh":
            yield Fact(PluginUse("nodegroup", "nodeGroupAffinity"), {"use": path})
        path = ("spec", "deserved")
        if mapping(lookup(manifest.data, path)) and manifest.group == "scheduling.volcano.sh":
            yield Fact(PluginUse("capacity", "deserved"), {"use": path})
        path = ("spec", "parent")
        if (
            lookup(manifest.data, path) not in (None, "", "root")
            and manifest.group == "scheduling.volcano.sh"
        ):
            yield Fact(PluginUse(_WITH_TREE, "parent"), {"use": path})
        path = ("spec", "reclaimable")
        if lookup(manifest.data, path) is True and manifest.group == "scheduling.volcano.sh":
            yield Fact(PluginUse("reclaim", "reclaimable", True), {"use": path})
        return
    written: dict[Path, Mapping[str, str]] = {("metadata", "annotations"): manifest.annotations}
    for pod_set in pod_sets:
        place = pod_set.places.get("annotations")
        if place and pod_set.scheduler_name == SCHEDULER:
            written[place] = pod_set.annotations
    for place, found in written.items():
        for key in sorted(found.keys() & READ_BY_PLUGINS.keys()):
            yield Fact(PluginUse(READ_BY_PLUGINS[key], key), {"use": (*place, key)})


def _use(manifest: Manifest, pod_sets: Sequence[PodSet]) -> Iterator[Fact]:
    """Uses of the topology. A partial object states its tier, but not how many pods it has."""
    path = BOUNDS.get((manifest.group, manifest.kind))
    bound = lookup(manifest.data, path) if path else None
    if path is None or not isinstance(bound, dict):
        return
    start = None if manifest.partial else gang(manifest.data)
    asked = [requests.effective(one.spec, one.devices) for one in pod_sets]
    shared = {name: min(each.get(name, 0) for each in asked) for name in (asked[0] if asked else ())}
    use = TierUse(
        whole(bound.get(_BY_NUMBER)),
        text(bound.get(_BY_NAME)),
        bound.get("mode") != "soft",
        start.min_member if start else None,
        tuple(sorted((name, amount) for name, amount in shared.items() if amount)),
    )
    yield Fact(use, {"tier": (*path, _BY_NAME if use.tier_name else _BY_NUMBER)})


def _hyper_node(manifest: Manifest) -> Iterator[Fact]:
    spec = mapping(manifest.data.get("spec"))
    if not isinstance(spec.get("members"), list | None):
        return  # for example a placeholder for all members: nothing is known
    places: dict[str, Path] = {"name": ("metadata", "name"), "members": ("spec", "members")}
    if "tierName" in spec:
        places["tier_name"] = ("spec", "tierName")
    members = []
    listed = spec.get("members")
    for number, item in enumerate(listed if isinstance(listed, list) else ()):
        selector = mapping(item).get("selector")
        path: Path = ("spec", "members", number)
        places[str(number)] = path
        members.append(_member(mapping(item)))
        for field, way in (("name", ("exactMatch", "name")), ("pattern", ("regexMatch", "pattern"))):
            if lookup(selector, way) is not None:
                places[f"{number}.{field}"] = (*path, "selector", *way)
    tier = whole(spec.get("tier"))
    yield Fact(DeclaredHyperNode(manifest.name, tier, text(spec.get("tierName")), tuple(members)), places)


def _member(item: Mapping[str, object]) -> DeclaredMember:
    selector = mapping(item.get("selector"))
    return DeclaredMember(
        text(item.get("type")),
        tuple(name for name in _SELECTORS if selector.get(name) is not None),
        text(mapping(selector.get("exactMatch")).get("name")),
        text(mapping(selector.get("regexMatch")).get("pattern")),
        bool(item.get("selector")),
    )
