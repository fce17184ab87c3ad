"""Labels, annotations and API groups of Volcano (1.15)."""

from collections.abc import Mapping

from policykit.linter.target import Key
from policykit.manifests.path import Path

SCHEDULER = "volcano"
CONFIG_FILE = "volcano-scheduler.conf"
"""Name of the scheduler's configuration file, and its key in the ConfigMap."""
CONFIG_MAP = "volcano-scheduler-configmap"
CONFIG_OVERRIDE = "scheduler_config_override"
"""Helm value below `custom` with the whole configuration."""
TOPOLOGY_PLUGIN = "network-topology-aware"
GROUP_NAME = "scheduling.k8s.io/group-name"
"""Pod annotation: the PodGroup it joins. The only binding the scheduler reads."""
TASK_SPEC = "volcano.sh/task-spec"
"""Pod label or annotation: the task of its PodGroup."""
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
"""Pod annotation: queue of the PodGroup made for it."""
QUEUE_LABEL = "volcano.sh/queue-name"
"""Label that KubeRay reads on its objects. Volcano sets it on the pods of its jobs and never reads it."""
GROUP_MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
"""Annotation of the pods' owner: size of the PodGroup made for them (1.12)."""
TOPOLOGY_MODE = "volcano.sh/network-topology-mode"
"""Pod annotation: hard or soft, for the PodGroup made for it (1.13)."""
TOPOLOGY_TIER = "volcano.sh/network-topology-highest-tier"
"""Pod annotation: number of the highest tier of HyperNode that its PodGroup may span (1.13)."""
NUMA_POLICY = "volcano.sh/numa-topology-policy"
"""Pod annotation: the policy of the kubelets whose nodes may take the pod (plugin numaaware)."""
REVOCABLE_ZONE = "volcano.sh/revocable-zone"
"""Pod annotation: the pod may run on nodes that are taken back at times (plugin tdm)."""
GROUP_API = "scheduling.volcano.sh"
GROUP_APIS = frozenset({GROUP_API, "scheduling.incubator.k8s.io"})
"""API groups of PodGroup; the second is that of kube-batch and early Volcano."""
BATCH_GROUP = "batch.volcano.sh"
FLOW_GROUP = "flow.volcano.sh"
MAKES_GROUPS = frozenset({BATCH_GROUP, FLOW_GROUP})
"""API groups of jobs whose controller makes their PodGroup, and writes its name on the pods."""
SPECS: Mapping[tuple[str, str], Path] = {
    (BATCH_GROUP, "Job"): ("spec",),
    (BATCH_GROUP, "CronJob"): ("spec", "jobTemplate", "spec"),
    (FLOW_GROUP, "JobTemplate"): ("spec",),
}
"""(API group, kind) to the path of its Job spec."""

KEYS = (
    Key("annotations", GROUP_NAME, "gang"),
    Key("annotations", GROUP_MIN_MEMBER, "gang", on_owner=True),
    Key("annotations", QUEUE_NAME, "queue"),
    Key("annotations", TOPOLOGY_MODE, "gang"),
    Key("annotations", TOPOLOGY_TIER, "gang"),
    Key("annotations", "scheduling.volcano.sh/queue-allocation-gate", "queue"),
    Key("annotations", NUMA_POLICY, "device"),
    Key("annotations", REVOCABLE_ZONE, "device"),
    Key("annotations", "volcano.sh/vgpu-mode", "device"),
    Key("annotations", "volcano.sh/vgpu-podgroup-policy", "device"),
    Key("annotations", "volcano.sh/vgpu-use-gpuuuid", "device"),
    Key("annotations", "volcano.sh/vgpu-nouse-gpuuuid", "device"),
)
