"""Koordinator does not use a network topology, or a PodGroup requests one that it cannot have.

The scheduler reads a single ClusterNetworkTopology, named default, whose layers must form one
chain down to the nodes. Otherwise it only logs an error, and gangs that require a topology stay
pending or are spread. Names from the design document were never released.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import digits, mapping, text, whole
from policykit.model.severity import Severity
from policykit.targets.koordinator.names import TOPOLOGY_SPEC, TOTAL_NUMBER
from policykit.targets.koordinator.objects.topology import NAME, NODE_LAYER
from policykit.targets.koordinator.objects.values import parsed
from policykit.targets.koordinator.pods import MUST_GATHER, PREFER_GATHER

BAD = """\
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: ClusterNetworkTopology
metadata:
  name: default
spec:
  networkTopologySpec:
  - topologyLayer: BlockLayer
    labelKey: [network.example/block]
"""

GOOD = BAD + "  - topologyLayer: NodeTopologyLayer\n    parentTopologyLayer: BlockLayer\n"


_UNRELEASED = "gang.scheduling.koordinator.sh/networkTopologyAware"
_ANNOTATIONS = ("metadata", "annotations")
_LAYERS = ("spec", "networkTopologySpec")
_STRATEGIES = (MUST_GATHER, PREFER_GATHER)
_NO_TREE = "the scheduler ignores the topology"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: koordinator `frameworkext/networktopology/tree.go` (1.8)."""
    if manifest.kind == "PodGroup":
        if manifest.group == "scheduling.sigs.k8s.io":
            yield from _group(manifest)
    elif manifest.group == "scheduling.koordinator.sh":
        yield from _tree(manifest)


def _tree(manifest: Manifest) -> Iterator[Violation]:
    if manifest.name and manifest.name != NAME and not is_placeholder(manifest.name):
        yield Violation(
            ("metadata", "name"),
            f"the ClusterNetworkTopology is named {manifest.name}, but the scheduler reads only {NAME}",
            f"name it {NAME}",
        )
    spec = mapping(manifest.data.get("spec"))
    listed = spec.get("networkTopologySpec")
    if isinstance(listed, list) and listed and not manifest.partial:
        yield from _chain(listed)


def _chain(listed: list[Any]) -> Iterator[Violation]:
    layers = {
        text(mapping(each).get("topologyLayer")): (position, text(mapping(each).get("parentTopologyLayer")))
        for position, each in reversed(list(enumerate(listed)))
    }
    if any(is_placeholder(name) or is_placeholder(parent) for name, (_, parent) in layers.items()):
        return
    if NODE_LAYER not in layers:
        yield Violation(
            _LAYERS,
            f"no layer is {NODE_LAYER}, which the chain must end in: {_NO_TREE}",
            f"add topologyLayer: {NODE_LAYER}, with the narrowest layer as its parentTopologyLayer",
            key=True,
        )
        return
    walked: list[str] = []
    name = NODE_LAYER
    while name and name not in walked:
        walked.append(name)
        position, parent = layers[name]
        if parent and parent not in layers:
            yield Violation(
                (*_LAYERS, position, "parentTopologyLayer"),
                f"parentTopologyLayer is {parent}, which is not a listed layer: {_NO_TREE}",
                f"add the layer, or write one of {', '.join(each for each in layers if each)}",
            )
            return
        if parent in walked:
            yield Violation(
                (*_LAYERS, position, "parentTopologyLayer"),
                f"{_cycle(name, parent)}: {_NO_TREE}",
                "remove parentTopologyLayer from the widest layer",
            )
            return
        name = parent
    for each, (position, _) in sorted(layers.items(), key=lambda item: item[1][0]):
        if each and each not in walked:
            yield Violation(
                (*_LAYERS, position, "topologyLayer"),
                f"layer {each} is not on the chain {' < '.join(walked)}: {_NO_TREE}",
                "make it the parent of a layer on the chain, or delete it",
            )


def _cycle(layer: str, parent: str) -> str:
    if layer == parent:
        return f"layer {layer} is its own parent"
    return f"layers {layer} and {parent} form a cycle"


def _group(manifest: Manifest) -> Iterator[Violation]:
    written = manifest.metadata.get("annotations")
    annotations: Mapping[str, Any] = written if isinstance(written, dict) else {}
    if _UNRELEASED in annotations:
        yield Violation(
            (*_ANNOTATIONS, _UNRELEASED),
            f"{_UNRELEASED} is from the design document: no release reads it",
            f"rename it to {TOPOLOGY_SPEC}",
            key=True,
        )
    stated = annotations.get(TOPOLOGY_SPEC)
    if not isinstance(stated, str) or not stated or is_placeholder(stated):
        return
    path: Path = (*_ANNOTATIONS, TOPOLOGY_SPEC)
    value = parsed(stated)
    if not isinstance(value, dict):
        yield Violation(
            path,
            f"{TOPOLOGY_SPEC} is not a JSON object: it is ignored",
            """write it as '{"gatherStrategy": [{"layer": "LAYER", "strategy": "MustGather"}]}'""",
        )
        return
    yield from _strategies(value, path)
    minimum = whole(mapping(manifest.data.get("spec")).get("minMember"))
    total = digits(annotations.get(TOTAL_NUMBER))
    if minimum is not None and total is not None and total > minimum:
        yield Violation(
            path,
            f"{TOTAL_NUMBER} is {total}, but minMember is {minimum}: the topology is honoured only for "
            "gangs whose pods all start together",
            f"write minMember: {total}, or delete {TOTAL_NUMBER}",
            key=True,
        )


def _strategies(value: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    listed = value.get("gatherStrategy")
    musts: list[int] = []
    for position, each in enumerate(listed if isinstance(listed, list) else ()):
        strategy = mapping(each).get("strategy")
        if isinstance(strategy, str) and strategy not in _STRATEGIES and not is_placeholder(strategy):
            yield Violation(
                path,
                f"strategy is {strategy!r}, which Koordinator does not know",
                f"write {' or '.join(_STRATEGIES)}",
                inside=("gatherStrategy", position, "strategy"),
            )
        if strategy == MUST_GATHER:
            musts.append(position)
    if len(musts) > 1:
        yield Violation(
            path,
            f"{len(musts)} layers have strategy MustGather, but only the narrowest counts",
            "keep MustGather on the narrowest layer",
            Severity.WARNING,
            inside=("gatherStrategy", musts[1]),
        )


RULE = Rule(
    code="PK614",
    name="invalid-network-topology",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"ClusterNetworkTopology", "PodGroup"}),
)
