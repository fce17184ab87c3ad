"""ClusterNetworkTopology, and what PodGroups ask of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, whole
from policykit.model.severity import Severity
from policykit.targets.koordinator.names import TOPOLOGY_SPEC, TOTAL_NUMBER
from policykit.targets.koordinator.objects.topology import NAME, NODES

_NEVER_SHIPPED = "gang.scheduling.koordinator.sh/networkTopologyAware"
_ANNOTATIONS = ("metadata", "annotations")
_LAYERS = ("spec", "networkTopologySpec")
_STRATEGIES = ("MustGather", "PreferGather")
_NO_TREE = "the scheduler builds no tree"


def tree(manifest: Manifest) -> Iterator[Violation]:
    """The one object that describes the network."""
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
    if NODES not in layers:
        yield Violation(
            _LAYERS,
            f"no layer is {NODES}, where every chain begins: {_NO_TREE}",
            f"add topologyLayer: {NODES} with the narrowest layer as parentTopologyLayer",
            key=True,
        )
        return
    walked: list[str] = []
    name = NODES
    while name and name not in walked:
        walked.append(name)
        position, parent = layers[name]
        if parent and parent not in layers:
            yield Violation(
                (*_LAYERS, position, "parentTopologyLayer"),
                f"parentTopologyLayer is {parent}, which is no layer of the list: {_NO_TREE}",
                f"add the layer, or write one of {', '.join(each for each in layers if each)}",
            )
            return
        if parent in walked:
            yield Violation(
                (*_LAYERS, position, "parentTopologyLayer"),
                f"layers {' and '.join(dict.fromkeys((name, parent)))} stand above each other: {_NO_TREE}",
                "let the widest layer have no parentTopologyLayer",
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


def wishes(manifest: Manifest) -> Iterator[Violation]:
    """Annotations of a PodGroup."""
    written = manifest.metadata.get("annotations")
    annotations: Mapping[str, Any] = written if isinstance(written, dict) else {}
    if _NEVER_SHIPPED in annotations:
        yield Violation(
            (*_ANNOTATIONS, _NEVER_SHIPPED),
            f"{_NEVER_SHIPPED} is a name of the design document, which no release reads",
            f"rename it to {TOPOLOGY_SPEC}",
            key=True,
        )
    stated = annotations.get(TOPOLOGY_SPEC)
    if not isinstance(stated, str) or not stated or is_placeholder(stated):
        return
    path: Path = (*_ANNOTATIONS, TOPOLOGY_SPEC)
    try:
        value: Any = json.loads(stated)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        yield Violation(
            path,
            f"{TOPOLOGY_SPEC} is no JSON object: it is not read",
            """write it as '{"gatherStrategy": [{"layer": "LAYER", "strategy": "MustGather"}]}'""",
        )
        return
    yield from _strategies(value, path)
    minimum = whole(mapping(manifest.data.get("spec")).get("minMember"))
    total = annotations.get(TOTAL_NUMBER)
    if minimum is not None and isinstance(total, str) and total.isdecimal() and int(total) > minimum:
        yield Violation(
            path,
            f"the gang asks for closeness with {total} pods, of which {minimum} start together: "
            "it counts only where all start together",
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
        if strategy == "MustGather":
            musts.append(position)
    if len(musts) > 1:
        yield Violation(
            path,
            f"{len(musts)} layers are to gather all pods, but only the narrowest counts",
            "keep MustGather at the narrowest",
            Severity.WARNING,
            inside=("gatherStrategy", musts[1]),
        )
