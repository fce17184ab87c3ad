"""Labels, annotations and API groups of Koordinator (1.8)."""

from policykit.linter.target import Key

TARGET_NAME = "koordinator"
SCHEDULER = "koord-scheduler"
GROUP_API = "scheduling.sigs.k8s.io"
GROUP_LABELS = ("pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name")
"""Pod labels that name the PodGroup. The first that is not empty wins; the second is deprecated."""
GANG_NAME = "gang.scheduling.koordinator.sh/name"
"""Pod annotation that names a gang, with or without a PodGroup."""
MIN_AVAILABLE = "gang.scheduling.koordinator.sh/min-available"
"""Pod annotation: size of a gang that has no PodGroup."""
OLD_MIN_AVAILABLE = "pod-group.scheduling.sigs.k8s.io/min-available"
"""Deprecated pod label with the same meaning."""
TOTAL_NUMBER = "gang.scheduling.koordinator.sh/total-number"
"""Annotation of pods or their PodGroup, like the next ones: how many pods there will be."""
GANG_MODE = "gang.scheduling.koordinator.sh/mode"
MATCH_POLICY = "gang.scheduling.koordinator.sh/match-policy"
GANG_GROUPS = "gang.scheduling.koordinator.sh/groups"
TOPOLOGY_SPEC = "gang.scheduling.koordinator.sh/network-topology-spec"
WAITING_TIME = "gang.scheduling.koordinator.sh/waiting-time"
"""Pod annotation, a duration with a unit. A PodGroup has a field for it."""
QUOTA_NAME = "quota.scheduling.koordinator.sh/name"
"""Pod label: the ElasticQuota that is charged."""
QOS_CLASS = "koordinator.sh/qosClass"
"""Pod label: LSE, LSR, LS, BE or SYSTEM."""
OLD_RESOURCES = {
    **{
        f"kubernetes.io/{name}": f"koordinator.sh/{name}"
        for name in ("gpu", "gpu-core", "gpu-memory", "gpu-memory-ratio", "rdma", "fpga")
    },
    "koordinator.sh/batch-cpu": "kubernetes.io/batch-cpu",
    "koordinator.sh/batch-memory": "kubernetes.io/batch-memory",
}
"""Former name of a resource to its current name."""

RESERVATION_AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
RESOURCE_SPEC = "scheduling.koordinator.sh/resource-spec"

KEYS = (
    *(Key("labels", label, "gang") for label in GROUP_LABELS),
    Key("labels", OLD_MIN_AVAILABLE, "gang"),
    Key("annotations", GANG_NAME, "gang"),
    Key("annotations", MIN_AVAILABLE, "gang"),
    Key("annotations", TOTAL_NUMBER, "gang"),
    Key("annotations", GANG_MODE, "gang"),
    Key("annotations", GANG_GROUPS, "gang"),
    Key("annotations", TOPOLOGY_SPEC, "gang"),
    Key("annotations", "gang.scheduling.koordinator.sh/network-topology-index", "gang"),
    Key("labels", QUOTA_NAME, "queue"),
    Key("annotations", "scheduling.koordinator.sh/device-allocate-hint", "device"),
    Key("annotations", "scheduling.koordinator.sh/device-joint-allocate", "device"),
    Key("annotations", "scheduling.koordinator.sh/gpu-partition-spec", "device"),
    Key("annotations", RESERVATION_AFFINITY, "device"),
    Key("annotations", RESOURCE_SPEC, "device"),
)

DESCHEDULER_CONFIGURATION = "DeschedulerConfiguration"
"""Kind of the configuration of koord-descheduler."""
SLO_CONFIGURATIONS = tuple(
    f"{key} of slo-controller-config"
    for key in (
        "colocation-config",
        "resource-threshold-config",
        "resource-qos-config",
        "cpu-burst-config",
        "system-config",
    )
)
"""Keys of Koordinator's ConfigMap, each of which holds JSON."""
