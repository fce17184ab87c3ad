"""What admission or an operator refuses although each value is valid on its own, by kind of object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from policykit.manifests.problem import Problem

_CHECKS: Mapping[tuple[str, str], str] = {
    ("", "LimitRange"): "limits.limit_range",
    ("", "ResourceQuota"): "limits.resource_quota",
    ("apps", "DaemonSet"): "rollout.daemon_set",
    ("apps", "Deployment"): "rollout.deployment",
    ("batch", "CronJob"): "schedule.cron_job",
    ("jobset.x-k8s.io", "JobSet"): "jobset.job_set",
    ("keda.sh", "ScaledJob"): "scaling.keda",
    ("keda.sh", "ScaledObject"): "scaling.keda",
    ("kubelet.config.k8s.io", "KubeletConfiguration"): "kubelet.configuration",
    ("kubeflow.org", "JAXJob"): "kubeflow.training_job",
    ("kubeflow.org", "MPIJob"): "kubeflow.training_job",
    ("kubeflow.org", "PaddleJob"): "kubeflow.training_job",
    ("kubeflow.org", "PyTorchJob"): "kubeflow.training_job",
    ("kubeflow.org", "TFJob"): "kubeflow.training_job",
    ("kubeflow.org", "XGBoostJob"): "kubeflow.training_job",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "leaderworkerset.leader_worker_set",
    ("policy", "PodDisruptionBudget"): "rollout.disruption_budget",
    ("ray.io", "RayCluster"): "ray.ray_cluster",
    ("ray.io", "RayCronJob"): "ray.ray_cron_job",
    ("ray.io", "RayJob"): "ray.ray_job",
    ("ray.io", "RayService"): "ray.ray_service",
    ("serving.knative.dev", "Configuration"): "scaling.knative",
    ("serving.knative.dev", "Service"): "scaling.knative",
    ("serving.kserve.io", "InferenceService"): "scaling.inference_service",
}
"""API group and kind to the module and function of this package that checks it."""


def refusals(data: dict[str, Any], api_version: str, kind: str) -> Iterator[Problem]:
    """Problems of a whole object. Placeholders and values of a wrong type are no problem here."""
    name = _CHECKS.get((api_version.rpartition("/")[0], kind))
    if name:
        module, _, function = name.partition(".")
        yield from getattr(import_module(f"{__name__}.{module}"), function)(data)
