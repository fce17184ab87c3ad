"""Converts objects of removed API versions to the version served instead, without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policykit.kube.structure.problem import INVALID_LABEL, INVALID_QUANTITY, MISSING_FIELD
from policykit.kube.structure.validator import check
from policykit.manifests.patch import Move, Patch, patched
from policykit.manifests.path import lookup

_Steps = list[Patch]
_Convert = Callable[[dict[str, Any]], _Steps | None]


def converted(data: dict[str, Any], successor: str, *, partial: bool = False) -> tuple[Patch, ...] | None:
    """The patches that convert an object to the apiVersion `successor`.

    None if the versions differ in a field that this object sets, or if that is unknown.
    """
    version, kind = data.get("apiVersion"), data.get("kind")
    known = (convert for versions, kinds, convert in _KNOWN if version in versions and kind in kinds)
    convert = next(known, None)
    steps = convert(data) if convert else None
    if steps is None:
        return None
    made = (Patch("replace", ("apiVersion",), successor), *steps)
    return made if _fits(data, made, successor, partial) else None


def _fits(data: dict[str, Any], steps: Iterable[Patch], successor: str, partial: bool) -> bool:
    """Whether the changed object has the shape of the new version, if that is known."""
    for step in steps:
        data = patched(data, step)
    passed_over = {INVALID_LABEL, INVALID_QUANTITY, *([MISSING_FIELD] if partial else [])}
    return all(p.kind in passed_over for p in check(data, successor, str(data.get("kind"))))


def _same(data: dict[str, Any]) -> _Steps | None:
    return []


def _workload(data: dict[str, Any]) -> _Steps | None:
    """The selector was copied from the template's labels if none was written."""
    labels = lookup(data, ("spec", "template", "metadata", "labels"))
    if lookup(data, ("spec", "selector")) or not isinstance(labels, dict) or not labels:
        return []
    if not all(isinstance(value, str) for value in labels.values()):
        # 1.10 without quotes is 1.1 by now: the copy would not match.
        return None
    return [Patch("add", ("spec", "selector"), {"matchLabels": dict(labels)})]


def _autoscaler(data: dict[str, Any]) -> _Steps | None:
    """Targets of a resource metric became a field of their own; other metrics need a manual change."""
    steps: _Steps = []
    metrics = lookup(data, ("spec", "metrics"))
    for position, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        resource = metric.get("resource") if isinstance(metric, dict) else None
        for old, (kind, new) in _TARGETS.items():
            if isinstance(resource, dict) and old in resource and "target" not in resource:
                place = ("spec", "metrics", position, "resource")
                steps.append(Patch("rename", (*place, old), "target"))
                steps.append(Patch("replace", (*place, "target"), {"type": kind, new: resource[old]}))
                break
    return steps


_TARGETS = {
    "targetAverageUtilization": ("Utilization", "averageUtilization"),
    "targetAverageValue": ("AverageValue", "averageValue"),
}


def _disruption_budget(data: dict[str, Any]) -> _Steps | None:
    """An empty selector used to select no pod; now it selects all."""
    return None if lookup(data, ("spec", "selector")) == {} else []


def _training_job(data: dict[str, Any]) -> _Steps | None:
    """Settings of the whole job moved from spec to spec.runPolicy."""
    spec = data.get("spec")
    replicas = _REPLICAS[data["kind"]]
    if not isinstance(spec, dict) or not isinstance(spec.get(replicas), dict):
        return None
    moved = [key for key in spec if key not in (replicas, "runPolicy")]
    policy = spec.get("runPolicy")
    if not _RUN_POLICY.issuperset(moved) or not isinstance(policy, (dict, type(None))):
        return None
    if any(key in (policy or ()) for key in moved):
        return None
    return [Patch("move", ("spec",), Move((key,), ("runPolicy", key))) for key in moved]


_REPLICAS = {"TFJob": "tfReplicaSpecs", "PyTorchJob": "pytorchReplicaSpecs", "XGBoostJob": "xgbReplicaSpecs"}
_RUN_POLICY = frozenset(
    {"activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "schedulingPolicy", "ttlSecondsAfterFinished"}
)


def _scheduler(data: dict[str, Any]) -> _Steps | None:
    """Arguments with their own version are converted too, if kube-scheduler has them."""
    if any(key in data for key in ("healthzBindAddress", "metricsBindAddress")):
        return None
    steps: _Steps = []
    for place, args in _arguments(data):
        if args.get("apiVersion") == data["apiVersion"]:
            if str(args.get("kind")) not in _UPSTREAM:
                return None
            steps.append(Patch("replace", (*place, "apiVersion"), "kubescheduler.config.k8s.io/v1"))
    return steps


def _arguments(data: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        configs = profile.get("pluginConfig") if isinstance(profile, dict) else None
        for index, config in enumerate(configs if isinstance(configs, list) else ()):
            args = config.get("args") if isinstance(config, dict) else None
            if isinstance(args, dict):
                yield ("profiles", position, "pluginConfig", index, "args"), args


_UPSTREAM = frozenset(
    {
        "DefaultPreemptionArgs",
        "InterPodAffinityArgs",
        "NodeAffinityArgs",
        "NodeResourcesBalancedAllocationArgs",
        "NodeResourcesFitArgs",
        "PodTopologySpreadArgs",
        "VolumeBindingArgs",
    }
)


def _inference_service(data: dict[str, Any]) -> _Steps | None:
    """The group was renamed; annotations of the old group have no uniform replacement."""
    metadata = data.get("metadata")
    written = [lookup(metadata, (field,)) for field in ("annotations", "labels")]
    keys = [key for marks in written if isinstance(marks, dict) for key in marks]
    return None if any(key.startswith("serving.kubeflow.org/") for key in keys) else []


_KNOWN: tuple[tuple[tuple[str, ...], tuple[str, ...], _Convert], ...] = (
    (
        ("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"),
        ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
        _workload,
    ),
    (("autoscaling/v2beta1",), ("HorizontalPodAutoscaler",), _autoscaler),
    (("policy/v1beta1",), ("PodDisruptionBudget",), _disruption_budget),
    (
        ("kubeflow.org/v1alpha2", "kubeflow.org/v1beta1", "kubeflow.org/v1beta2"),
        ("PyTorchJob", "TFJob"),
        _training_job,
    ),
    (("xgboostjob.kubeflow.org/v1alpha1",), ("XGBoostJob",), _training_job),
    (
        ("kubescheduler.config.k8s.io/v1beta2", "kubescheduler.config.k8s.io/v1beta3"),
        ("KubeSchedulerConfiguration",),
        _scheduler,
    ),
    (("serving.kubeflow.org/v1beta1",), ("InferenceService",), _inference_service),
    (("apps/v1beta1", "apps/v1beta2"), ("ControllerRevision",), _same),
    (("autoscaling/v2beta2",), ("HorizontalPodAutoscaler",), _same),
    (("batch/v1beta1", "batch/v2alpha1"), ("CronJob",), _same),
    (("coordination.k8s.io/v1beta1",), ("Lease",), _same),
    (("extensions/v1beta1",), ("NetworkPolicy",), _same),
    (("networking.k8s.io/v1beta1",), ("IngressClass",), _same),
    (("node.k8s.io/v1beta1",), ("RuntimeClass",), _same),
    (
        ("rbac.authorization.k8s.io/v1beta1",),
        ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
        _same,
    ),
    (("scheduling.k8s.io/v1beta1",), ("PriorityClass",), _same),
    (
        (
            "scheduling.incubator.k8s.io/v1alpha1",
            "scheduling.volcano.sh/v1alpha1",
            "scheduling.volcano.sh/v1alpha2",
        ),
        ("PodGroup", "Queue"),
        _same,
    ),
    (
        ("storage.k8s.io/v1beta1",),
        ("CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment"),
        _same,
    ),
)
"""(versions, kinds, function); the result is also checked against its schema.

Source: the deprecation guide of Kubernetes, and the API definitions of the other projects.
"""
