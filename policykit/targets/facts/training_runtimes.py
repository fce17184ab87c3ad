"""Facts about runtimes of Kubeflow Trainer: their jobs and cards, and the TrainJobs that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.catalogue import resources
from policykit.kube import requests
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.references import NamedParts, PartReference
from policykit.model.training import NodeResources, RuntimeCards

_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
_GROUP = "trainer.kubeflow.org"
_JOBS: Path = ("spec", "template", "spec", "replicatedJobs")
_POD: Path = ("template", "spec", "template", "spec")
_STEP: Path = ("template", "metadata", "labels", "trainer.kubeflow.org/trainjob-ancestor-step")
_NODE = "node"
_PATCHED: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
_OVERRIDES: Mapping[str, Path] = {
    "podSpecOverrides": ("targetJobs",),
    "podTemplateOverrides": ("targetJobs",),
    "runtimePatches": _PATCHED,
}
"""Fields of a TrainJob, and where each names jobs of the runtime. Source: its types (Trainer 2.0 to 2.3)."""
_PER_NODE: Path = ("spec", "trainer", "resourcesPerNode")
_PART = "replicated job"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of a runtime, or of a TrainJob."""
    if manifest.partial or manifest.group != _GROUP:
        return
    if manifest.kind in _RUNTIMES:
        owner = f"{manifest.kind} {manifest.name}"
        jobs = mappings(lookup(manifest.data, _JOBS))
        names = frozenset(text(each.get("name")) for each in jobs)
        if names and not any(not name or is_placeholder(name) for name in names):
            yield Fact(NamedParts(owner, "", _PART, names), {}, answers=True)
        for each in jobs:
            if lookup(each, _STEP) == "trainer":
                cards = tuple(_cards(mapping(lookup(each, _POD))))
                yield Fact(RuntimeCards(owner, cards), {}, answers=True)
    elif manifest.kind == "TrainJob":
        reference = mapping(lookup(manifest.data, ("spec", "runtimeRef")))
        name, kind = text(reference.get("name")), text(reference.get("kind")) or _RUNTIMES[0]
        if name and not is_placeholder(name):
            yield from _of_job(manifest.data, f"{kind} {name}")


def _cards(pod: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for container in mappings(pod.get("containers")):
        if container.get("name") == _NODE:
            for name, amount in requests.requested(container).items():
                if amount > 0 and resources.is_card(name):
                    yield name, amount


def _of_job(data: Mapping[str, Any], runtime: str) -> Iterator[Fact]:
    for field, jobs in _OVERRIDES.items():
        for position, override in numbered(lookup(data, ("spec", field))):
            for number, job in numbered(lookup(override, jobs)):
                name = text(job.get("name"))
                if name and not is_placeholder(name):
                    place: Path = ("spec", field, position, *jobs, number, "name")
                    yield Fact(PartReference(runtime, "", _PART, name), {"name": place})
    stated = mapping(lookup(data, _PER_NODE))
    named = {name for side in ("limits", "requests") for name in mapping(stated.get(side))}
    if named and not any(is_placeholder(str(name)) for name in named):
        yield Fact(NodeResources(runtime, tuple(sorted(map(str, named)))), {"resources": _PER_NODE})
