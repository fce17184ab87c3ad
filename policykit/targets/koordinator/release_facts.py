"""Labels, annotations and kinds of Koordinator by release, 1.3 to 1.8.

Source: `apis/extension` and `config/crd/bases` at the tag of each release, and at the one before.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.release import ReleaseFact, Version
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.scheduler.fields import FIELDS
from policykit.targets.koordinator.scheduler.plugins import ENDED, PLUGINS, POINTS
from policykit.targets.koordinator.versions import FIT_PLUS, RELEASES

_EXTENSION = "apis/extension"
_CRDS = "config/crd/bases"
_PLUGINS = "pkg/scheduler/plugins"
_CONFIG = "pkg/scheduler/apis/config"
_DEVICES = "pkg/scheduler/plugins/deviceshare/utils.go"
_CHART = "values.yaml and templates of the chart"


def _served(version: str) -> tuple[Version | None, Version | None]:
    """First release that reads a version of the configuration, and the first that no longer does."""
    reading = [each for each in versions.READERS if version in versions.config_versions(each).known]
    later = [each for each in versions.READERS if each > reading[-1]]
    return (reading[0] if reading[0] > RELEASES.oldest else None), (later[0] if later else None)


def _keys(what: str, minor: int, keys: str) -> Iterator[ReleaseFact]:
    for key in keys.split():
        yield ReleaseFact(what, key, Version(1, minor, 0), source=_EXTENSION)


FACTS: tuple[ReleaseFact, ...] = (
    *_keys(
        "annotation",
        4,
        "scheduling.koordinator.sh/device-allocate-hint scheduling.koordinator.sh/device-joint-allocate"
        " quota.scheduling.koordinator.sh/namespaces quota.scheduling.koordinator.sh/guaranteed"
        " quota.scheduling.koordinator.sh/total-resource node.koordinator.sh/colocation-strategy"
        " node.koordinator.sh/cpu-normalization-ratio node.koordinator.sh/resource-amplification-ratio",
    ),
    *_keys(
        "label",
        4,
        "quota.scheduling.koordinator.sh/is-root quota.scheduling.koordinator.sh/tree-id"
        " quota.scheduling.koordinator.sh/profile quota.scheduling.koordinator.sh/ignore-default-tree"
        " quota.scheduling.koordinator.sh/preemptible quota.scheduling.koordinator.sh/allow-force-update"
        " node.koordinator.sh/numa-topology-policy node.koordinator.sh/cpu-normalization-enabled"
        " node.koordinator.sh/cpu-reclaim-ratio node.koordinator.sh/memory-reclaim-ratio"
        " koordinator.sh/core-sched-group-id",
    ),
    ReleaseFact("label", "koordinator.sh/core-sched-policy", Version(1, 4, 1), source="apis/slo/v1alpha1"),
    *_keys(
        "annotation",
        5,
        "scheduling.koordinator.sh/numa-topology-spec koordinator.sh/networkQOS"
        " scheduling.koordinator.sh/reservation-restricted-options"
        " quota.scheduling.koordinator.sh/unschedulable-resource"
        " node.koordinator.sh/network-bandwidth node.koordinator.sh/resctrl",
    ),
    ReleaseFact(
        "annotation",
        "gang.scheduling.koordinator.sh/match-policy",
        Version(1, 5, 0),
        part="waiting-and-running",
        instead="once-satisfied",
        source="pkg/scheduler/plugins/coscheduling/core/gang.go",
    ),
    *_keys(
        "annotation",
        6,
        "scheduling.koordinator.sh/exact-match-reservation scheduling.koordinator.sh/gpu-partition-spec"
        " quota.scheduling.koordinator.sh/admission koordinator.sh/cpuQOS",
    ),
    ReleaseFact(
        "annotation",
        "scheduling.koordinator.sh/device-allocate-hint",
        Version(1, 6, 0),
        part="requiredTopologyScope",
        source=f"{_EXTENSION}/device_share.go",
    ),
    *(
        ReleaseFact(
            "annotation",
            "scheduling.koordinator.sh/reservation-affinity",
            Version(1, 6, 0),
            part=part,
            source=f"{_EXTENSION}/reservation.go",
        )
        for part in ("/name", "/tolerations")
    ),
    *_keys(
        "label",
        6,
        "koordinator.sh/gpu-isolation-provider scheduling.koordinator.sh/disable-preemptible"
        " scheduling.koordinator.sh/preemption-policy scheduling.koordinator.sh/reservation-ignored"
        " node.koordinator.sh/gpu-partition-policy node.koordinator.sh/secondary-device-well-planned",
    ),
    *_keys(
        "annotation",
        7,
        "gang.scheduling.koordinator.sh/network-topology-spec"
        " gang.scheduling.koordinator.sh/network-topology-index"
        " quota.scheduling.koordinator.sh/max-strict-check-resource-keys"
        " scheduling.koordinator.sh/load-estimated-scaling-factors"
        " scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled"
        " scheduling.koordinator.sh/load-estimated-seconds-after-initialized",
    ),
    *_keys(
        "label",
        7,
        "koordinator.sh/eviction-enabled scheduling.koordinator.sh/pre-allocation-required"
        " scheduling.koordinator.sh/scheduler-name",
    ),
    *_keys(
        "annotation",
        8,
        "scheduling.koordinator.sh/network-topology-selector koordinator.sh/eviction-policy"
        " pod.koordinator.sh/pre-allocatable-priority pod.koordinator.sh/replace-resources",
    ),
    ReleaseFact(
        "annotation",
        "gang.scheduling.koordinator.sh/network-topology-spec",
        Version(1, 8, 0),
        part="podCountMultiple",
        source=_EXTENSION,
    ),
    *_keys(
        "label",
        8,
        "pod.koordinator.sh/is-pre-allocatable pod.koordinator.sh/skip-enhanced-validation"
        " node.koordinator.sh/mid-static-cpu-reserved-ratio"
        " node.koordinator.sh/mid-static-memory-reserved-ratio node.koordinator.sh/enable-numa-reservation",
    ),
    ReleaseFact("kind", "ElasticQuotaProfile", Version(1, 4, 0), group="quota.koordinator.sh", source=_CRDS),
    ReleaseFact("kind", "Recommendation", Version(1, 5, 0), group="analysis.koordinator.sh", source=_CRDS),
    ReleaseFact(
        "kind", "ClusterNetworkTopology", Version(1, 7, 0), group="scheduling.koordinator.sh", source=_CRDS
    ),
    ReleaseFact(
        "kind", "ScheduleExplanation", Version(1, 7, 0), group="scheduling.koordinator.sh", source=_CRDS
    ),
    *(
        ReleaseFact("plugin", name, since, source="cmd/koord-scheduler/main.go")
        for name, since in PLUGINS.items()
        if since > RELEASES.oldest
    ),
    *(
        ReleaseFact("argument", f"{plugin}: {field}", Version(*since), source="pkg/scheduler/apis/config")
        for plugin, fields in FIELDS.items()
        for field, since in fields.items()
        if since > max(RELEASES.oldest, PLUGINS[plugin])
    ),
    ReleaseFact(
        "apiVersion",
        "NodeResourcesFitPlusArgs in kubescheduler.config.k8s.io/v1",
        Version(1, 6, 1),
        source="pkg/scheduler/apis/config/v1/register.go",
    ),
    *(
        ReleaseFact(
            "extension point",
            f"{plugin} at {point}",
            since if since > RELEASES.oldest else None,
            ENDED.get((plugin, point)),
            source=_PLUGINS,
        )
        for plugin, points in POINTS.items()
        for point, since in points.items()
        if since > max(RELEASES.oldest, PLUGINS[plugin]) or (plugin, point) in ENDED
    ),
    *(
        ReleaseFact(
            "apiVersion", f"KubeSchedulerConfiguration in {version}", *_served(version), source=_CONFIG
        )
        for version in ("v1beta2", "v1beta3", "v1")
    ),
    ReleaseFact(
        "field",
        "name and weight of resources in scoringStrategy",
        versions.RESOURCE_KEYS,
        instead="Name and Weight",
        source="pkg/scheduler/apis/config/v1beta2/types.go",
    ),
    ReleaseFact(
        "resource",
        "koordinator.sh/gpu",
        gone=versions.GPU_SPLIT,
        instead="the webhook writes koordinator.sh/gpu-core and gpu-memory-ratio",
        source="pkg/webhook/pod/mutating",
    ),
    ReleaseFact("resource", "koordinator.sh/gpu.shared", versions.GPU_SHARED, source=_DEVICES),
    ReleaseFact("resource", "huawei.com/npu-core", versions.NPU_CORES, source=_DEVICES),
    ReleaseFact(
        "check",
        "QoS class and priority class fit together",
        versions.QOS_UNENFORCED[1],
        instead="1.3 to 1.5 too; 1.6 and 1.7 let the pod through",
        source="pkg/webhook/pod/validating/verify_qos_and_priority.go",
    ),
    ReleaseFact("chart value", "scheduler.enableJobPreemption", versions.JOB_PREEMPTION_VALUE, source=_CHART),
    ReleaseFact(
        "chart value", "scheduler.deviceShare.gpuShareUnsupportedModels", versions.MODELS_VALUE, source=_CHART
    ),
    ReleaseFact(
        "crash",
        "NodeResourcesFitPlus panics at pods that request ephemeral-storage",
        FIT_PLUS,
        Version(1, 6, 1),
        source="pkg/scheduler/plugins/noderesourcefitplus/node_resource_fit_plus_utils.go",
    ),
)
