"""Workload kinds from the kustomize components under `workloads/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.importer.inventory import Component
from policykit.kube.tolerations import read as read_tolerations
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping, mappings, text
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator.names import QUOTA_NAME
from policykit.targets.kueue.names import PREFERRED_TOPOLOGY, QUEUE_NAME, REQUIRED_TOPOLOGY
from policykit.targets.volcano.names import TOPOLOGY_MODE, TOPOLOGY_TIER
from policykit.targets.volcano.objects.topology import NetworkTopology, read_network_topology
from policykit.targets.workloads import generate
from policykit.targets.yunikorn.names import QUEUE

_HELPERS = "helpers"


def component(folder: str, files: Mapping[str, str]) -> Component | None:
    """The component in a folder; None: it has no patch for Deployments."""
    patch = next((mapping(data) for data in _documents(files.get("deployment.yaml", ""))), {})
    template = mapping(mapping(patch.get("spec")).get("template"))
    spec = mapping(template.get("spec"))
    workload = text(mapping(mapping(template.get("metadata")).get("labels")).get(WORKLOAD_KEY))
    if not workload:
        return None
    card = folder.removeprefix(f"{workload}-")
    metadata, operations = mapping(template.get("metadata")), files.get("volcano-job.yaml", "")
    kustomization = files.get("kustomization.yaml", "")
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
        generate._NO_GANG_COMMENT in kustomization or rule is not None,
        tuple(_spread(spec)),
        _colocation(mapping(mapping(spec.get("affinity")).get("podAffinity"))) or _requested(metadata),
        read_network_topology(_of_job(operations, "/spec/networkTopology")) or _bound(metadata),
        rule,
    )


def _spread(spec: Mapping[str, Any]) -> Iterator[tuple[str, bool, int]]:
    for each in mappings(spec.get("topologySpreadConstraints")):
        skew = each.get("maxSkew")
        hard = each.get("whenUnsatisfiable") == "DoNotSchedule"
        yield text(each.get("topologyKey")), hard, skew if isinstance(skew, int) else 1


def _colocation(affinity: Mapping[str, Any]) -> tuple[str, bool] | None:
    required = mappings(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    preferred = mappings(affinity.get("preferredDuringSchedulingIgnoredDuringExecution"))
    for term in required:
        return text(term.get("topologyKey")), True
    for weighted in preferred:
        return text(mapping(weighted.get("podAffinityTerm")).get("topologyKey")), False
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


def _bound(metadata: Mapping[str, Any]) -> NetworkTopology | None:
    """Volcano's network topology constraint from pod annotations, where the tier is a number."""
    annotations = mapping(metadata.get("annotations"))
    mode, tier = text(annotations.get(TOPOLOGY_MODE)), text(annotations.get(TOPOLOGY_TIER))
    return (
        NetworkTopology(mode, int(tier))
        if mode and tier.isdecimal() and tier.isascii() and len(tier) < 10
        else None
    )


def _requested(metadata: Mapping[str, Any]) -> tuple[str, bool] | None:
    """The level that Kueue keeps the pods within."""
    annotations = mapping(metadata.get("annotations"))
    for key, hard in ((REQUIRED_TOPOLOGY, True), (PREFERRED_TOPOLOGY, False)):
        if level := text(annotations.get(key)):
            return level, hard
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
