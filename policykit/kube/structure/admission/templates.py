"""Pod templates of custom kinds, of which a controller makes pods as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.podsets.kind_entry import matches, pattern
from policykit.kube.structure.admission import pods
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem

_RAY = ("headGroupSpec.template", "workerGroupSpecs[*].template")
_TEMPLATES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "batch.volcano.sh": {"Job": ("spec.tasks[*].template",)},
    "jobset.x-k8s.io": {"JobSet": ("spec.replicatedJobs[*].template.spec.template",)},
    "kubeflow.org": {
        kind: (f"spec.{field}ReplicaSpecs{{*}}.template",)
        for kind, field in (
            *(("JAXJob", "jax"), ("MPIJob", "mpi"), ("PaddleJob", "paddle"), ("PyTorchJob", "pytorch")),
            *(("TFJob", "tf"), ("XGBoostJob", "xgb")),
        )
    },
    "leaderworkerset.x-k8s.io": {
        "LeaderWorkerSet": tuple(f"spec.leaderWorkerTemplate.{role}Template" for role in ("leader", "worker"))
    },
    "ray.io": {
        "RayCluster": tuple(f"spec.{place}" for place in _RAY),
        "RayJob": tuple(f"spec.rayClusterSpec.{place}" for place in _RAY),
        "RayService": tuple(f"spec.rayClusterConfig.{place}" for place in _RAY),
    },
}
"""API group and kind to where templates are."""
_CLAIMS: Mapping[str, Path] = {
    "jobset.x-k8s.io": ("spec", "volumeClaimPolicies"),
    "leaderworkerset.x-k8s.io": ("spec", "leaderWorkerTemplate", "volumeClaimTemplates"),
}
"""Fields with which the controller adds volumes."""
_OF_RAY = frozenset({"gcs-storage", "ray-logs", "ray-tls", "ray-token", "shared-mem"})
_ADDED: Mapping[str, frozenset[str]] = {
    "Job": frozenset({"{name}-ssh", "{name}-svc"}),
    "MPIJob": frozenset({"mpi-job-config", "mpi-job-kubectl", "ssh-auth"}),
    **dict.fromkeys(("RayCluster", "RayJob", "RayService"), _OF_RAY),
}
"""By kind: volumes that the controller adds to the pods, which other containers may mount.

Sources: plugins ssh and svc of Volcano's controller (v1.15), `mpi_job_controller.go` (v0.6; v1 has kubectl's)
and `pod.go` of KubeRay (v1.5).
"""


def faults(data: Mapping[str, Any], group: str, kind: str) -> Iterator[Problem]:
    """What the API server refuses in each pod, so that none is ever made."""
    if group in _CLAIMS and lookup(data, _CLAIMS[group]) is not None:
        return
    added = frozenset(each.format(name=_name(data)) for each in _ADDED.get(kind, ()))
    for place in _TEMPLATES.get(group, {}).get(kind, ()):
        for path in matches(data, pattern(f"{place}.spec")):
            pod = lookup(data, path)
            if isinstance(pod, dict):
                yield from pods.of_template(pod, path, added)


def _name(data: Mapping[str, Any]) -> str:
    return str(lookup(data, ("metadata", "name")))
