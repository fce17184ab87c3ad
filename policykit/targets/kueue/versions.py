"""The Kueue releases that policykit knows (0.9 to 0.19), and the features each added.

Sources, at the tags of a release and of the one before: `config/components/crd/bases`, `apis`,
`pkg/features/kube_features.go`, `pkg/controller`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.manifests.memoize import memoize_last
from policykit.model.release import Releases, Version, stated_release
from policykit.targets.kueue.names import TARGET_NAME

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

RELEASES = Releases(
    "Kueue", dict(zip(range(9, 20), (5, 6, 9, 10, 10, 8, 8, 9, 8, 6, 2), strict=True)), major=0
)


TOPOLOGY_RULES = Version(0, 10, 0)
"""Levels of a Topology are unique and immutable, kubernetes.io/hostname only the lowest."""
COHORT_FAIR_SHARING = Version(0, 11, 0)
"""Cohort.spec.fairSharing."""
SHARES_ALONE = Version(0, 11, 0)
"""With fairSharing, borrowWithinCohort has no effect; before, it limits whose workloads are preempted."""
TAS_IN_COHORTS = Version(0, 11, 0)
"""ClusterQueues with topologies work in a cohort and with withinClusterQueue; before, they are inactive."""
UNCONSTRAINED = Version(0, 11, 0)
"""Annotation podset-unconstrained-topology."""
COHORT_V1BETA1 = Version(0, 13, 0)
"""Cohort is served as v1beta1 with parentName; v1alpha1 with parent is gone."""
SLICES = Version(0, 13, 0)
"""Annotations podset-slice-required-topology, podset-slice-size and podset-group-name."""
SMALL_WEIGHTS_BACKPORTED, SMALL_WEIGHTS = Version(0, 12, 10), Version(0, 13, 5)
"""A fair-sharing weight above 0 must be above a billionth; the first is a patch of the minor before."""
MANY_LEVELS = Version(0, 13, 0)
"""A Topology may have 16 levels; before, 8."""
TOPOLOGY_V1BETA1 = Version(0, 14, 0)
"""Topology is served as v1beta1; v1alpha1 is gone."""
GROUPS_CHECKED = Version(0, 14, 0)
"""The webhook checks podset-group-name: no number, and no slices beside it."""
GROUP_TOPOLOGY = Version(0, 14, 2)
"""podset-group-name needs a required or preferred topology."""
TAS_DEFAULT = Version(0, 14, 0)
"""Gate TopologyAwareScheduling is on by default; it exists since 0.9."""
LARGE_GROUPS = Version(0, 14, 0)
"""A resource group may have 64 flavors and 64 resources; before, 16."""
V1BETA2 = Version(0, 15, 0)
"""Every kind is served as v1beta2, with cohortName; v1beta1 stays served and is deprecated."""
PODS_IMPLIED = Version(0, 15, 0)
"""Integrations of Deployments, StatefulSets and LeaderWorkerSets need no listed pod."""
LABEL_ONLY = Version(0, 15, 0)
"""The queue is read only from the label; before, an annotation with the same key counts too."""
FUNGIBILITY_PREFERENCE = Version(0, 15, 0)
"""flavorFungibility.preference, and the value MayStopSearch in place of Borrow and Preempt."""
SLICE_LAYERS = Version(0, 17, 0)
"""Annotation podset-slice-required-topology-constraints: gate TASMultiLayerTopology."""
OWN_KEYS_BACKPORTED, OWN_KEYS = Version(0, 17, 6), Version(0, 18, 2)
"""A flavor is asked for the labels that it states; before, for those of all flavors of its group. The first
is a patch of the minor before."""
ELASTIC_CHECKED = Version(0, 18, 0)
"""The webhook refuses elastic-job on kinds without elastic jobs: gate ElasticJobsViaWorkloadSlices is on."""
PREBUILT_ANNOTATION = Version(0, 18, 0)
"""The annotation prebuilt-workload-name is read: gate WorkloadIdentifierAnnotations."""
GATES = Version(0, 19, 0)
"""The annotation admission-gated-by is read: gate AdmissionGatedBy, which is off in 0.17 and 0.18."""
CHECKED_FLAVORS = Version(0, 18, 0)
"""The webhook refuses onFlavors of admission checks that are no flavors of the ClusterQueue."""


def refuses_small_weights(version: Version) -> bool:
    """Whether a weight of a billionth or less is refused."""
    return version >= SMALL_WEIGHTS or SMALL_WEIGHTS_BACKPORTED <= version < (0, 13)


def asks_of_all(version: Version | None) -> bool:
    """Whether a flavor needs the labels that pods select and another flavor states."""
    return version is not None and version < OWN_KEYS and not OWN_KEYS_BACKPORTED <= version < (0, 18)


def api_version(kind: str, version: Version) -> str:
    """Newest apiVersion of a kind that the release serves."""
    if version >= V1BETA2:
        return "kueue.x-k8s.io/v1beta2"
    first = {"Cohort": COHORT_V1BETA1, "Topology": TOPOLOGY_V1BETA1}.get(kind)
    return f"kueue.x-k8s.io/{'v1beta1' if first is None or version >= first else 'v1alpha1'}"


def served(kind: str, version: Version) -> tuple[str, ...]:
    """Versions of a kind that a release serves, newest first."""
    newest = api_version(kind, version).rpartition("/")[2]
    return (newest, "v1beta1") if newest == "v1beta2" else (newest,)


parse = RELEASES.parse
"""`0.19.2`, or empty for the newest known; a release that is not known is the nearest.

Raises PolicykitError for a text that is not a release.
"""


@memoize_last
def release_of(cluster: Cluster | None) -> Version | None:
    """The release that the policy states; None if it states none."""
    return stated_release(cluster, TARGET_NAME, parse)


def newest() -> Version:
    return parse("")
