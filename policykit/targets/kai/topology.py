"""Facts about topologies of KAI-Scheduler: their levels, and who must stay within one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.references import NamedObject, NamedParts, ObjectReference, PartReference
from policykit.targets.kai import LEVELS, SEGMENT_LEVELS, TOPOLOGY

KIND, GROUP = "Topology", "kai.scheduler"
_POD_GROUP, _GROUP_OF_PODS = "PodGroup", "scheduling.run.ai"
OWN: Path = ("metadata", "annotations")
_FIELDS = ("requiredTopologyLevel", "preferredTopologyLevel")
_PART = "level"
_OBJECT = "KAI-Scheduler Topology"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `getRelevantLevels` in pkg/scheduler/plugins/topology (0.9 to 0.20): jobs without it wait."""
    if manifest.partial:
        return
    if manifest.kind == KIND:
        yield from _topology(manifest)
    elif manifest.kind == _POD_GROUP and manifest.group == _GROUP_OF_PODS:
        spec = mapping(manifest.data.get("spec"))
        yield from _constraint(spec, ("spec",))
        for number, each in numbered(spec.get("subGroups")):
            yield from _constraint(each, ("spec", "subGroups", number))
    elif pod_sets:
        inherited = manifest.annotations.get(TOPOLOGY, "")
        for path, annotations in annotated(manifest, pod_sets):
            yield from _topologies(annotations, "" if path == OWN else inherited, path)


def annotated(manifest: Manifest, pod_sets: Sequence[PodSet]) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """The annotations of an object and of its templates, with their paths."""
    yield OWN, manifest.annotations
    for pod_set in pod_sets:
        path = pod_set.place("annotations")
        if path != OWN and path[-1:] == ("annotations",):
            yield path, pod_set.annotations


def _topology(manifest: Manifest) -> Iterator[Fact]:
    if manifest.group == GROUP:
        yield Fact(NamedObject(_OBJECT, manifest.name), {}, answers=True)
    levels = mappings(mapping(manifest.data.get("spec")).get("levels"))
    names = frozenset(text(each.get(field)) for each in levels for field in ("nodeLabel", "alias")) - {""}
    if manifest.group == GROUP and names and not any(map(is_placeholder, names)):
        yield Fact(NamedParts(_owner(manifest.name), "", _PART, names), {}, answers=True)


def _topologies(annotations: Mapping[str, str], inherited: str, path: Path) -> Iterator[Fact]:
    topology = annotations.get(TOPOLOGY, inherited)
    if (name := annotations.get(TOPOLOGY)) and not is_placeholder(name):
        yield Fact(ObjectReference((_OBJECT,), name), {"name": (*path, TOPOLOGY)})
    for key in (*LEVELS, *SEGMENT_LEVELS):
        if topology and (level := annotations.get(key, "")) and not is_placeholder(level):
            yield Fact(PartReference(_owner(topology), "", _PART, level), {"name": (*path, key)})


def _constraint(stated: Mapping[str, Any], path: Path) -> Iterator[Fact]:
    constraint = mapping(stated.get("topologyConstraint"))
    topology = text(constraint.get("topology"))
    if topology and not is_placeholder(topology):
        where: Path = (*path, "topologyConstraint", "topology")
        yield Fact(ObjectReference((_OBJECT,), topology), {"name": where})
    for field in _FIELDS:
        if topology and (level := text(constraint.get(field))) and not is_placeholder(level):
            place = (*path, "topologyConstraint", field)
            yield Fact(PartReference(_owner(topology), "", _PART, level), {"name": place})


def _owner(name: str) -> str:
    return f"Topology {name} of KAI-Scheduler"
