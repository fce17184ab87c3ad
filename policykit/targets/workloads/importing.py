"""Reads workload kinds back from the generated kustomize components under `workloads/`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.tolerations import read as read_tolerations
from policykit.linter.import_reader import ImportReader
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.inventory import Component, Inventory, LevelBound
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator.names import QUOTA_NAME
from policykit.targets.kueue.names import PREFERRED_TOPOLOGY, QUEUE_NAME, REQUIRED_TOPOLOGY
from policykit.targets.volcano.names import TOPOLOGY_MODE, TOPOLOGY_TIER
from policykit.targets.volcano.objects.topology import read_network_topology
from policykit.targets.workloads import generate
from policykit.targets.yunikorn.names import QUEUE

_HELPERS = "helpers"
_WORD = re.compile(r"[a-z0-9.]+")


class WorkloadsReader(ImportReader):
    """Reads the components that `gen` wrote."""

    target_name = "workloads"

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.files: dict[str, dict[str, str]] = {}
        """Folder of a component to file name to text."""

    def read_generated(self, path: tuple[str, ...], source: str) -> bool:
        if len(path) == 2:
            self.files.setdefault(path[0], {})[path[1]] = source
        return True

    def finish(self) -> None:
        found = (component(folder, files) for folder, files in self.files.items())
        self.inventory.components = [each for each in found if each]


def component(folder: str, files: Mapping[str, str]) -> Component | None:
    """The component in a folder; None: it has no patch for Deployments."""
    kustomization = files.get("kustomization.yaml", "")
    patches = {
        (group, kind): text(each.get("patch"))
        for each in mappings(mapping(next(_documents(kustomization), None)).get("patches"))
        for group, kind in _targets(mapping(each.get("target")))
    }
    patch = mapping(next(_documents(patches.get(("apps", "Deployment"), "")), None))
    template = mapping(mapping(patch.get("spec")).get("template"))
    spec = mapping(template.get("spec"))
    workload = text(mapping(mapping(template.get("metadata")).get("labels")).get(WORKLOAD_KEY))
    if not workload:
        return None
    card = folder.removeprefix(f"{workload}-")
    metadata, operations = mapping(template.get("metadata")), patches.get(("batch.volcano.sh", "Job"), "")
    rule = generate.read_gang_comment(kustomization)
    affinity = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    terms = mappings(required.get("nodeSelectorTerms"))
    return Component(
        workload,
        "" if card == _HELPERS else card,
        tuple(each for term in terms[:1] for each in _expressions(term)),
        tuple(_preferred(affinity)),
        read_tolerations(spec.get("tolerations")),
        text(spec.get("schedulerName")),
        text(spec.get("priorityClassName")),
        text(_of_job(operations, "/spec/queue")) or _queue_of_pods(metadata) or _local_queue(patch),
        generate.NO_GANG_COMMENT in kustomization or rule is not None,
        tuple(_spread(spec)),
        _affinity_bound(mapping(mapping(spec.get("affinity")).get("podAffinity")))
        or _kueue_bound(metadata)
        or _volcano_bound(_of_job(operations, "/spec/networkTopology"), metadata),
        rule,
    )


def _targets(target: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """API groups and kinds of a patch's target, which are alternatives."""
    groups = _WORD.findall(text(target.get("group")))
    for kind in text(target.get("kind")).split("|"):
        yield from ((group, kind) for group in groups)


def _spread(spec: Mapping[str, Any]) -> Iterator[tuple[str, bool, int]]:
    for each in mappings(spec.get("topologySpreadConstraints")):
        skew = each.get("maxSkew")
        hard = each.get("whenUnsatisfiable") == "DoNotSchedule"
        yield text(each.get("topologyKey")), hard, skew if isinstance(skew, int) else 1


def _affinity_bound(affinity: Mapping[str, Any]) -> LevelBound | None:
    """The level of the affinity to pods of the same job."""
    required = mappings(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    preferred = mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution"))
    for term in required:
        return LevelBound(True, text(term.get("topologyKey")))
    for weighted in preferred:
        return LevelBound(False, text(mapping(weighted.get("podAffinityTerm")).get("topologyKey")))
    return None


def _expressions(term: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for each in mappings(term.get("matchExpressions")):
        values = each.get("values")
        if isinstance(values, list) and each.get("operator") == "In":
            yield text(each.get("key")), tuple(value for value in values if isinstance(value, str))


def _preferred(affinity: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    for each in mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution")):
        weight = each.get("weight")
        for key, values in _expressions(mapping(each.get("preference"))):
            if isinstance(weight, int) and len(values) == 1:
                yield weight, key, values[0]


def _of_job(operations: str, path: str) -> object:
    """The value that a JSON patch writes to a path; None: none."""
    for data in _documents(operations):
        for operation in mappings(data):
            if operation.get("path") == path:
                return operation.get("value")
    return None


def _volcano_bound(network_topology: object, metadata: Mapping[str, Any]) -> LevelBound | None:
    """The level of Volcano's network topology: of a Job, else of pod annotations, where it is a number."""
    bound = read_network_topology(network_topology)
    if bound is not None:
        return LevelBound(bound.mode == "hard", level=bound.tier_name, number=bound.tier)
    annotations = mapping(metadata.get("annotations"))
    mode, tier = text(annotations.get(TOPOLOGY_MODE)), text(annotations.get(TOPOLOGY_TIER))
    if mode and tier.isdecimal() and tier.isascii() and len(tier) < 10:
        return LevelBound(mode == "hard", number=int(tier))
    return None


def _kueue_bound(metadata: Mapping[str, Any]) -> LevelBound | None:
    """The level that Kueue keeps the pods within."""
    annotations = mapping(metadata.get("annotations"))
    for key, hard in ((REQUIRED_TOPOLOGY, True), (PREFERRED_TOPOLOGY, False)):
        if level := text(annotations.get(key)):
            return LevelBound(hard, level)
    return None


def _local_queue(patch: Mapping[str, Any]) -> str:
    """Kueue's queue, which the Deployment itself names."""
    return text(mapping(mapping(patch.get("metadata")).get("labels")).get(QUEUE_NAME))


def _queue_of_pods(metadata: Mapping[str, Any]) -> str:
    """The queue of the pods: Koordinator's, or YuniKorn's path, which may be too long for a label."""
    return next(
        (
            queue
            for part, key in (("labels", QUOTA_NAME), ("labels", QUEUE), ("annotations", QUEUE))
            if (queue := text(mapping(metadata.get(part)).get(key)))
        ),
        "",
    )


def _documents(source: str) -> Iterator[Any]:
    return (document.root.data for document in parse(source) if document.root is not None)
