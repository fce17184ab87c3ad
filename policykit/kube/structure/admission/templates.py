"""Pod templates of custom kinds, of which a controller makes pods as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.structure.admission import pods
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem

_EACH = "*"
_RAY: tuple[tuple[str, ...], ...] = (("headGroupSpec", "template"), ("workerGroupSpecs", _EACH, "template"))
_TEMPLATES: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "batch.volcano.sh": {"Job": (("spec", "tasks", _EACH, "template"),)},
    "jobset.x-k8s.io": {"JobSet": (("spec", "replicatedJobs", _EACH, "template", "spec", "template"),)},
    "kubeflow.org": {
        kind: (("spec", f"{field}ReplicaSpecs", _EACH, "template"),)
        for kind, field in (
            *(("JAXJob", "jax"), ("MPIJob", "mpi"), ("PaddleJob", "paddle"), ("PyTorchJob", "pytorch")),
            *(("TFJob", "tf"), ("XGBoostJob", "xgb")),
        )
    },
    "leaderworkerset.x-k8s.io": {
        "LeaderWorkerSet": (
            ("spec", "leaderWorkerTemplate", "leaderTemplate"),
            ("spec", "leaderWorkerTemplate", "workerTemplate"),
        )
    },
    "ray.io": {
        "RayCluster": tuple(("spec", *path) for path in _RAY),
        "RayJob": tuple(("spec", "rayClusterSpec", *path) for path in _RAY),
        "RayService": tuple(("spec", "rayClusterConfig", *path) for path in _RAY),
    },
}
"""API group and kind to where templates are."""
_CLAIMS: Mapping[str, tuple[str, ...]] = {
    "jobset.x-k8s.io": ("volumeClaimPolicies",),
    "leaderworkerset.x-k8s.io": ("leaderWorkerTemplate", "volumeClaimTemplates"),
}
"""Fields of the spec with which the controller adds volumes."""


def faults(data: Mapping[str, Any], group: str, kind: str) -> Iterator[Problem]:
    """What the API server refuses in each pod, so that none is ever made."""
    spec = data.get("spec")
    for field in _CLAIMS.get(group, ()):
        spec = spec.get(field) if isinstance(spec, dict) else None
    if group in _CLAIMS and spec is not None:
        return
    for place in _TEMPLATES.get(group, {}).get(kind, ()):
        for path, template in _found(data, place, ()):
            pod = template.get("spec")
            if isinstance(pod, dict):
                yield from pods.of_template(pod, (*path, "spec"))


def _found(part: Any, place: Sequence[str], at: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if not place:
        if isinstance(part, dict):
            yield at, part
    elif place[0] != _EACH:
        if isinstance(part, dict) and place[0] in part:
            yield from _found(part[place[0]], place[1:], (*at, place[0]))
    elif isinstance(part, dict):
        for key, value in part.items():
            yield from _found(value, place[1:], (*at, key))
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from _found(value, place[1:], (*at, number))
