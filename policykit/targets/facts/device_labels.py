"""Facts about labels of devices: how Node Feature Discovery forms them, and who selects nodes by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.affinity import REQUIRED
from policykit.kube.chart_values import KINDS as CHARTS
from policykit.kube.chart_values import chart_values
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, text, texts
from policykit.model.references import NamedParts, PartReference

_LABEL = re.compile(r"feature\.node\.kubernetes\.io/(pci|usb)-([0-9a-f_]+)\.present\Z")
_SOURCES = ("pci", "usb")
_FIELDS: Mapping[str, frozenset[str]] = {
    "pci": frozenset({"class", "device", "subsystem_device", "subsystem_vendor", "vendor"}),
    "usb": frozenset({"class", "device", "serial", "vendor"}),
}
"""Others are passed over. Source: `source/pci` and `source/usb` of Node Feature Discovery (0.4 to 0.18)."""
_OWNER = "Node Feature Discovery"
_OF_GPU_OPERATOR = "what the GPU operator selects"
_FORMS = (frozenset({"vendor"}), frozenset({"class", "vendor"}))
"""Source: `gpuNodeLabels` in `controllers/state_manager.go` of gpu-operator (1.9 to 25.10)."""
_CHARTS: Mapping[str, Path] = {
    "gpu-operator": ("node-feature-discovery", "worker", "config"),
    "network-operator": ("node-feature-discovery", "worker", "config"),
    "node-feature-discovery": ("worker", "config"),
}
_MARKING = frozenset({"Node", "NodeFeatureRule", "NodePool"})
"""What may give nodes such a label by itself."""
_ALIKE: Mapping[tuple[str, str], tuple[str, str, str]] = {
    ("nvidia.com", "ClusterPolicy"): (_OF_GPU_OPERATOR, "NVIDIA's GPU operator", "pci-10de"),
    ("mellanox.com", "NicClusterPolicy"): ("1", "the network operator", "pci-15b3"),
}
"""What an operator needs of the label, its name, and the label."""
_TERMS = ("nodeAffinity", REQUIRED, "nodeSelectorTerms")
_LONGEST = 100_000


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of configurations that state the fields, and of operators."""
    if manifest.partial:
        return
    for configuration in _configurations(manifest):
        yield from _formed(configuration)
    if known := _ALIKE.get((manifest.group, manifest.kind)):
        form, who, name = known
        message = f"{who} finds nodes by feature.node.kubernetes.io/{name}.present, {_NO}"
        advice = "write deviceLabelFields: [vendor]"
        value = PartReference(_OWNER, "", "pci", form, advice, message)
        yield Fact(value, {"name": ("spec",)})
    if manifest.kind in _MARKING:
        from policykit.targets.nodes import node_settings

        for marks in node_settings.read(manifest):
            for label in filter(None, map(_LABEL.match, marks.labels)):
                names = frozenset({str(len(label[2].split("_"))), _OF_GPU_OPERATOR})
                yield Fact(NamedParts(_OWNER, "", label[1], names), {}, answers=True)


def selections(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of pods that select nodes by such labels."""
    for pod_set in pod_sets if not manifest.partial else ():
        for key, path in _selected(pod_set):
            found = _LABEL.match(key)
            if found is not None:
                number = len(found[2].split("_"))
                message = f"selects nodes by {key}, {_NO}"
                fields = "1 field" if number == 1 else f"{number} fields"
                advice = f"select a label with the fields that it states, or state {fields} there"
                value = PartReference(_OWNER, "", found[1], str(number), advice, message)
                yield Fact(value, {"name": path})


_NO = "but deviceLabelFields of Node Feature Discovery here states other fields: no node has the label"


def _configurations(manifest: Manifest) -> Iterator[Mapping[str, Any]]:
    if manifest.kind == "NodeFeatureDiscovery":
        yield _parsed(text(lookup(manifest.data, ("spec", "workerConfig", "configData"))))
    elif manifest.kind == "ConfigMap" and not manifest.group:
        yield _parsed(text(lookup(manifest.data, ("data", "nfd-worker.conf"))))
    elif manifest.kind in CHARTS:
        for stated in chart_values(manifest):
            if stated.chart in _CHARTS and stated.all_known and not stated.parameters:
                yield mapping(lookup(stated.values, _CHARTS[stated.chart]))


def _parsed(written: str) -> Mapping[str, Any]:
    if "deviceLabelFields" not in written or len(written) > _LONGEST:
        return {}
    document = next(parse(written), None)
    if document is None or document.problem or document.root is None:
        return {}
    return mapping(document.root.data)


def _formed(configuration: Mapping[str, Any]) -> Iterator[Fact]:
    for source in _SOURCES:
        stated = texts(lookup(configuration, ("sources", source, "deviceLabelFields")))
        fields = frozenset(stated) & _FIELDS[source]
        if fields and not any(map(is_placeholder, stated)):
            names = {str(len(fields)), *((_OF_GPU_OPERATOR,) if fields in _FORMS else ())}
            yield Fact(NamedParts(_OWNER, "", source, frozenset(names)), {}, answers=True)


def _selected(pod_set: PodSet) -> Iterator[tuple[str, Path]]:
    """Keys that a node must have."""
    for key in mapping(pod_set.spec.get("nodeSelector")):
        if isinstance(key, str):
            yield key, pod_set.place("nodeSelector", key)
    terms = lookup(pod_set.spec, ("affinity", *_TERMS))
    if isinstance(terms, list) and len(terms) == 1:
        for number, stated in numbered(lookup(terms[0], ("matchExpressions",))):
            if stated.get("operator") in ("In", "Exists"):
                place = pod_set.place("affinity", *_TERMS, 0, "matchExpressions", number, "key")
                yield text(stated.get("key")), place
