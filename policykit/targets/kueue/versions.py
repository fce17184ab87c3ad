"""Releases of Kueue that policykit knows (0.9 to 0.19), and what each brought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from policykit.targets.kueue.names import SYSTEM
from policykit.targets.release import Version, release, stated_release

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

NEWEST = "0.19.2"

_LAST_PATCH: Mapping[int, int] = dict(
    zip(range(9, 20), (5, 6, 9, 10, 10, 8, 8, 9, 8, 6, 2), strict=True),
)
"""Minor release of Kueue 0 to its last known patch."""


class Since(NamedTuple):
    """A fact that depends on the release."""

    first: Version
    """The first release that has it."""
    source: str
    """File of Kueue's repository, read at the tags of that release and of the one before."""


_CRDS = "config/components/crd/bases/kueue.x-k8s.io_"
_GATES = "pkg/features/kube_features.go"


def _since(minor: int, source: str) -> Since:
    return Since(Version(0, minor, 0), source)


TOPOLOGY_RULES = _since(10, f"{_CRDS}topologies.yaml")
"""Levels of a Topology are unique and immutable, kubernetes.io/hostname only the lowest."""
FLAVOR_IMMUTABLE = _since(10, f"{_CRDS}resourceflavors.yaml")
"""A ResourceFlavor with a topology cannot change its node labels or topology."""
NAMESPACE_SELECTOR = _since(10, _GATES)
"""managedJobsNamespaceSelector of the Configuration: gate ManagedJobsNamespaceSelector, on."""
SERVING_GROUPS = _since(10, "pkg/controller/jobs/pod/pod_webhook.go")
"""Pod groups of serving workloads: StatefulSets start without waiting for all their pods."""
COHORT_FAIR_SHARING = _since(11, f"{_CRDS}cohorts.yaml")
"""Cohort.spec.fairSharing."""
TAS_IN_COHORTS = _since(11, "pkg/cache/clusterqueue.go")
"""Before, a ClusterQueue with topologies was inactive in a cohort, or with withinClusterQueue."""
UNCONSTRAINED = _since(11, "apis/kueue/v1alpha1/tas_types.go")
"""Annotation podset-unconstrained-topology."""
LEADER_WORKER_SET = _since(11, "pkg/controller/jobs/leaderworkerset")
"""Integration of LeaderWorkerSet, beside that of AppWrapper."""
ADMISSION_SCOPE = _since(12, f"{_CRDS}clusterqueues.yaml")
"""ClusterQueue.spec.admissionScope; gate AdmissionFairSharing is on since 0.15."""
LOCAL_QUEUE_WEIGHT = _since(12, f"{_CRDS}localqueues.yaml")
"""LocalQueue.spec.fairSharing."""
LOCAL_QUEUE_DEFAULTING = _since(12, _GATES)
"""Workloads that name no queue go to the LocalQueue `default`: gate LocalQueueDefaulting, on."""
COHORT_V1BETA1 = _since(13, f"{_CRDS}cohorts.yaml")
"""Cohort is served as v1beta1 with parentName; v1alpha1 with parent is gone."""
SLICES = _since(13, "apis/kueue/v1alpha1/topology_types.go")
"""Annotations podset-slice-required-topology, podset-slice-size and podset-group-name."""
MANY_LEVELS = _since(13, f"{_CRDS}topologies.yaml")
"""A Topology may have 16 levels, 8 before."""
TOPOLOGY_V1BETA1 = _since(14, f"{_CRDS}topologies.yaml")
"""Topology is served as v1beta1; v1alpha1 is gone."""
TAS_DEFAULT = _since(14, _GATES)
"""Gate TopologyAwareScheduling is on; it exists, off, since 0.9."""
LARGE_GROUPS = _since(14, f"{_CRDS}clusterqueues.yaml")
"""A resource group may have 64 flavors and 64 resources, 16 before."""
TRAIN_JOB = _since(14, "pkg/controller/jobs/trainjob")
"""Integration of Kubeflow's TrainJob."""
V1BETA2 = _since(15, f"{_CRDS}clusterqueues.yaml")
"""Every kind is served as v1beta2, with cohortName; v1beta1 stays served and is deprecated."""
LABEL_ONLY = _since(15, "pkg/controller/constants/constants.go")
"""The queue is read from the label alone; before, an annotation of the same key counted too."""
FUNGIBILITY_PREFERENCE = _since(15, f"{_CRDS}clusterqueues.yaml")
"""flavorFungibility.preference, and the value MayStopSearch in place of Borrow and Preempt."""
NAMESPACES_RESPECTED = _since(15, _GATES)
"""managedJobsNamespaceSelector holds for jobs that name a queue too: gate
ManagedJobsNamespaceSelectorAlwaysRespected, on; it exists, off, since 0.13."""
PODS_BY_DEFAULT = _since(16, "config/components/manager/controller_manager_config.yaml")
"""The installer enables the integrations pod, deployment, statefulset and leaderworkerset."""
SLICE_LAYERS = _since(17, "apis/kueue/v1beta2/topology_types.go")
"""Annotation podset-slice-required-topology-constraints: gate TASMultiLayerTopology."""
SPARK = _since(17, "pkg/controller/jobs/sparkapplication")
"""Integrations of SparkApplication and RayService; the installer leaves the first off."""
CHECKED_FLAVORS = _since(18, "pkg/webhooks/clusterqueue_webhook.go")
"""The webhook refuses onFlavors of admission checks that are no flavors of the ClusterQueue."""
CONCURRENT_ADMISSION = _since(18, f"{_CRDS}clusterqueues.yaml")
"""ClusterQueue.spec.concurrentAdmissionPolicy: gate ConcurrentAdmission, off."""
PRIORITY_DEFAULTING = _since(18, _GATES)
"""Workloads without a class get the WorkloadPriorityClass `default`: gate
WorkloadPriorityClassDefaulting."""


def has(version: Version, fact: Since) -> bool:
    """Whether a release has it."""
    return version >= fact.first


def api_version(kind: str, version: Version) -> str:
    """apiVersion of a kind of Kueue in the newest version that the release serves."""
    if has(version, V1BETA2):
        return "kueue.x-k8s.io/v1beta2"
    first = {"Cohort": COHORT_V1BETA1, "Topology": TOPOLOGY_V1BETA1}.get(kind)
    return f"kueue.x-k8s.io/{'v1beta1' if first is None or has(version, first) else 'v1alpha1'}"


def served(kind: str, version: Version) -> tuple[str, ...]:
    """Versions of a kind that a release serves, newest first."""
    newest = api_version(kind, version).rpartition("/")[2]
    return (newest, "v1beta1") if newest == "v1beta2" else (newest,)


def parse(text: str) -> Version:
    """`0.19.2`, `v0.15` (its last known patch), or empty for the newest known.

    Raises PolicykitError for releases policykit has no facts about.
    """
    return release("Kueue", text, NEWEST, _LAST_PATCH, 0)


def release_of(cluster: Cluster | None) -> Version | None:
    """The release that a policy states; None where it states none, or one that is not known."""
    return stated_release(cluster, SYSTEM, parse)


def newest() -> Version:
    return parse("")
