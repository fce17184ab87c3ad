"""The koord-scheduler-config that Koordinator's chart renders.

Of the chart's values only two reach it: `scheduler.enableJobPreemption` (1.7) and
`scheduler.deviceShare.gpuShareUnsupportedModels` (1.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests import writer
from policykit.model.release import Version
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import SCHEDULER
from policykit.targets.koordinator.scheduler.configuration import KIND, args_kind
from policykit.targets.koordinator.versions import GROUP

NAMESPACE = "koordinator-system"
CONFIG_MAP = "koord-scheduler-config"
KEY = "koord-scheduler-config"
DEPLOYMENT = "koord-scheduler"

_CLEARED = frozenset({"queueSort", "postFilter", "bind"})
"""Points at which the chart disables all default plugins."""
_SCORES: Mapping[str, int] = {
    "LoadAwareScheduling": 1,
    "NodeNUMAResource": 1,
    "DeviceShare": 1,
    "Reservation": 5000,
}
_FIT_RESOURCES = ("cpu", "memory", "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")


def config_map(text: str, namespace: str) -> str:
    """A scheduler configuration as the ConfigMap that the Deployment mounts."""
    return writer.dump(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONFIG_MAP, "namespace": namespace},
            "data": {KEY: text},
        }
    )


def configuration(version: Version, namespace: str, *, job_preemption: bool = True) -> dict[str, Any]:
    """KubeSchedulerConfiguration in the chart of a release, with its default values but for this one."""
    points = enabled(version)
    if version >= versions.JOB_PREEMPTION_VALUE and not job_preemption:
        points["postFilter"].append("DefaultPreemption")
    written = f"{GROUP}/{written_in(version)}"
    return {
        "apiVersion": written,
        "kind": KIND,
        "leaderElection": {
            "leaderElect": True,
            "resourceLock": "leases",
            "resourceName": DEPLOYMENT,
            "resourceNamespace": namespace,
        },
        "profiles": [
            {
                "schedulerName": SCHEDULER,
                "pluginConfig": [
                    {"name": name, "args": {"apiVersion": written, "kind": args_kind(name), **args}}
                    for name, args in _arguments(version, namespace, job_preemption).items()
                ],
                "plugins": {point: _set(point, names) for point, names in points.items() if names},
            }
        ],
    }


def written_in(version: Version) -> str:
    """Version of KubeSchedulerConfiguration in the chart's file."""
    if version >= versions.CHART_V1:
        return "v1"
    return "v1beta3" if version >= versions.KUBERNETES_1_28 else "v1beta2"


def _set(point: str, enabled: list[str]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [{"name": name} for name in enabled]
    if point == "score":
        entries = [{"name": name, "weight": _SCORES.get(name, 1)} for name in enabled]
    cleared = {"disabled": [{"name": "*"}]} if point in _CLEARED else {}
    return {**cleared, "enabled": entries}


def enabled(version: Version) -> dict[str, list[str]]:
    """Enabled plugins per extension point, in order. Reservation comes first where it must."""
    queued, first = version >= versions.PRE_ENQUEUE, version >= versions.CHART_V1
    scores = ["Coscheduling"] if version >= versions.COSCHEDULING_SCORES else []
    return {
        "preEnqueue": ["Coscheduling"] if queued else [],
        "queueSort": ["PrioritySort" if queued else "Coscheduling"],
        "preFilter": [
            *(["SchedulingHint"] if queued else []),
            *(["Coscheduling"] if first else []),
            *("Reservation", "NodeNUMAResource", "DeviceShare"),
            *([] if first else ["Coscheduling"]),
            "ElasticQuota",
        ],
        "filter": [
            *(["Reservation"] if first else []),
            *("LoadAwareScheduling", "NodeNUMAResource", "DeviceShare"),
            *([] if first else ["Reservation"]),
        ],
        "postFilter": [
            *("Reservation", "Coscheduling", "ElasticQuota"),
            *([] if queued else ["DefaultPreemption"]),
        ],
        "preScore": ["Reservation", *scores],
        "score": [*_SCORES, *scores],
        "reserve": [
            *("Reservation", "LoadAwareScheduling", "NodeNUMAResource"),
            *("DeviceShare", "Coscheduling", "ElasticQuota"),
        ],
        "permit": ["Coscheduling"],
        "preBind": ["NodeNUMAResource", "DeviceShare", "Reservation", *scores, "DefaultPreBind"],
        "bind": ["Reservation", "DefaultBinder"],
        "postBind": ["Coscheduling"],
    }


def _arguments(version: Version, namespace: str, job_preemption: bool) -> dict[str, dict[str, Any]]:
    resources = [{"name": name, "weight": 1} for name in _FIT_RESOURCES]
    arguments: dict[str, dict[str, Any]] = {
        "NodeResourcesFit": {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}},
        "LoadAwareScheduling": {
            "filterExpiredNodeMetrics": False,
            "nodeMetricExpirationSeconds": 300,
            "resourceWeights": {"cpu": 1, "memory": 1},
            "usageThresholds": {"cpu": 65, "memory": 95},
            "estimatedScalingFactors": {"cpu": 85, "memory": 70},
        },
        "ElasticQuota": {"quotaGroupNamespace": namespace},
    }
    if version >= versions.JOB_PREEMPTION_VALUE:
        preempting = {"enablePreemption": True} if job_preemption else {}
        arguments["Coscheduling"] = {**preempting, "awareNetworkTopology": True}
    if version >= versions.MODELS_VALUE:
        model = {"model": "Ascend-310P3-300I-DUO", "vendor": "huawei"}
        arguments["DeviceShare"] = {"gpuShareUnsupportedModels": [model]}
    return arguments
