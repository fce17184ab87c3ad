"""Labels, annotations and kinds of Koordinator by release, 1.3 to 1.8.

Source: `apis/extension` and `config/crd/bases` at the tag of each release, and at the one before.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.release import ReleaseFact, Version
from policykit.targets.koordinator.scheduler.fields import FIELDS
from policykit.targets.koordinator.scheduler.plugins import PLUGINS
from policykit.targets.koordinator.versions import FIT_PLUS, RELEASES

_EXTENSION = "apis/extension"
_CRDS = "config/crd/bases"


def _keys(what: str, minor: int, keys: str) -> Iterator[ReleaseFact]:
    for key in keys.split():
        yield ReleaseFact(what, key, Version(1, minor, 0), source=_EXTENSION)


FACTS: tuple[ReleaseFact, ...] = (
    *_keys(
        "annotation",
        4,
        "scheduling.koordinator.sh/device-allocate-hint scheduling.koordinator.sh/device-joint-allocate"
        " quota.scheduling.koordinator.sh/namespaces quota.scheduling.koordinator.sh/guaranteed"
        " node.koordinator.sh/colocation-strategy node.koordinator.sh/cpu-normalization-ratio",
    ),
    *_keys(
        "label",
        4,
        "quota.scheduling.koordinator.sh/is-root quota.scheduling.koordinator.sh/tree-id"
        " quota.scheduling.koordinator.sh/profile quota.scheduling.koordinator.sh/ignore-default-tree"
        " quota.scheduling.koordinator.sh/preemptible quota.scheduling.koordinator.sh/allow-force-update"
        " node.koordinator.sh/numa-topology-policy node.koordinator.sh/cpu-normalization-enabled",
    ),
    *_keys(
        "annotation",
        5,
        "scheduling.koordinator.sh/numa-topology-spec koordinator.sh/networkQOS"
        " scheduling.koordinator.sh/reservation-restricted-options",
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
        " quota.scheduling.koordinator.sh/admission",
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
        " scheduling.koordinator.sh/preemption-policy scheduling.koordinator.sh/reservation-ignored",
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
    *_keys("label", 8, "pod.koordinator.sh/is-pre-allocatable pod.koordinator.sh/skip-enhanced-validation"),
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
    ReleaseFact(
        "crash",
        "NodeResourcesFitPlus panics at pods that request ephemeral-storage",
        FIT_PLUS,
        Version(1, 6, 1),
        source="pkg/scheduler/plugins/noderesourcefitplus/node_resource_fit_plus_utils.go",
    ),
)
