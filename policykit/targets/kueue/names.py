"""Labels, annotations and API group of Kueue (0.19). It keeps every pod's own scheduler."""

from policykit.linter.target import Key

TARGET_NAME = "kueue"
GROUP = "kueue.x-k8s.io"
"""API group of its objects."""
QUEUE_NAME = "kueue.x-k8s.io/queue-name"
"""Label of the object that Kueue admits, a Job or a plain Pod: the LocalQueue in its namespace."""
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
"""Label of the same object: its WorkloadPriorityClass. Without it the pods' PriorityClass counts."""
POD_GROUP = "kueue.x-k8s.io/pod-group-name"
"""Pod label: the group of plain pods it belongs to."""
POD_GROUP_TOTAL = "kueue.x-k8s.io/pod-group-total-count"
"""Pod annotation: how many pods the group has."""
POD_GROUP_FAST = "kueue.x-k8s.io/pod-group-fast-admission"
"""Pod annotation: true if the first pod of the group stands for all."""
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
"""Annotation of a Job: with how few pods at once it may be admitted."""
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
"""Label of a job or a pod, since 0.18 an annotation too: the Workload that is there for it."""
GATES = "kueue.x-k8s.io/admission-gated-by"
"""Annotation of a job or a pod: who must agree, with commas between, before Kueue admits it."""
MAX_SECONDS = "kueue.x-k8s.io/max-exec-time-seconds"
"""Label of a job: after so many seconds it is deactivated."""
ELASTIC = "kueue.x-k8s.io/elastic-job"
"""Annotation of a job: true if the number of its pods may change while it runs."""
ELASTIC_KINDS = ("Job", "RayCluster", "RayJob", "RayService")
MANAGED = "kueue.x-k8s.io/managed"
"""Label of a pod that Kueue itself sets."""
REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
"""Pod annotation: node label of the level within which all pods of the pod set must be."""
PREFERRED_TOPOLOGY = "kueue.x-k8s.io/podset-preferred-topology"
"""Pod annotation: the narrowest level that is tried first."""
UNCONSTRAINED_TOPOLOGY = "kueue.x-k8s.io/podset-unconstrained-topology"
"""Pod annotation: true if the pods may be on any nodes."""
SLICE_TOPOLOGY = "kueue.x-k8s.io/podset-slice-required-topology"
"""Pod annotation: node label of the level within which each slice of the pod set must be."""
SLICE_SIZE = "kueue.x-k8s.io/podset-slice-size"
"""Pod annotation: number of pods per slice."""
SLICE_CONSTRAINTS = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
"""Pod annotation: levels and sizes of nested slices, as JSON."""
POD_SET_GROUP = "kueue.x-k8s.io/podset-group-name"
"""Pod annotation: pod sets of one workload that are placed together."""
HOSTNAME = "kubernetes.io/hostname"
"""Node label that may only be the lowest level of a Topology."""
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label by which a ClusterQueue selects namespaces by name."""

TOPOLOGY_KEYS = (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, UNCONSTRAINED_TOPOLOGY)
"""Topology requests that exclude each other."""

KEYS = (
    Key("labels", QUEUE_NAME, "gang"),
    Key("labels", QUEUE_NAME, "gang", on_owner=True),
    Key("labels", POD_GROUP, "gang"),
    *(Key("annotations", key, "gang") for key in TOPOLOGY_KEYS),
)

FRAMEWORKS = (
    "batch/job",
    "deployment",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/jaxjob",
    "kubeflow.org/mpijob",
    "kubeflow.org/mxjob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "pod",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "ray.io/rayservice",
    "sparkoperator.k8s.io/sparkapplication",
    "statefulset",
    "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
)
"""Integrations of any release (0.9 to 0.19): `FrameworkName` in pkg/controller/jobs."""


def framework_of(group: str, kind: str) -> str:
    """The integration that admits objects of a kind; empty: there is none."""
    names = (f"{group}/{kind}".lower(), kind.lower())
    return next((name for name in names if name in FRAMEWORKS), "")


OF_PODS = ("deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "statefulset")
"""Integrations that need that of pods in releases before 0.15: `DependencyList` in pkg/controller/jobs."""

CONFIGURATION, CONFIGURATION_GROUP = "Configuration", "config.kueue.x-k8s.io"
"""Kind and API group of the file that Kueue's manager reads."""

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
"""Controller of the checks of queues whose workloads run in other clusters."""
