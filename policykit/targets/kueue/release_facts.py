"""Kinds, annotations and defaults of Kueue by release, 0.9 to 0.19. Fields are dated in the schemas.

Source: the code at the tag of each release, and at the one before.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.release import ReleaseFact, Version
from policykit.targets.kueue import names, versions

_CRDS = "config/components/crd/bases"
_TOPOLOGY = "apis/kueue/v1beta2/topology_types.go"

TOPOLOGY_REQUESTS: tuple[ReleaseFact, ...] = (
    ReleaseFact("topology request", names.UNCONSTRAINED_TOPOLOGY, versions.UNCONSTRAINED, source=_TOPOLOGY),
    ReleaseFact("topology request", names.SLICE_TOPOLOGY, versions.SLICES, source=_TOPOLOGY),
    ReleaseFact("topology request", names.SLICE_SIZE, versions.SLICES, source=_TOPOLOGY),
    ReleaseFact("topology request", names.POD_SET_GROUP, versions.SLICES, source=_TOPOLOGY),
    ReleaseFact("topology request", names.SLICE_CONSTRAINTS, versions.SLICE_LAYERS, source=_TOPOLOGY),
)
"""Annotations of pods that ask for a topology."""


def _integration(name: str, minor: int = 0, *, gone: int = 0) -> ReleaseFact:
    since = Version(0, minor, 0) if minor else None
    last = Version(0, gone, 0) if gone else None
    return ReleaseFact("integration", name, since, last, source="pkg/controller/jobs")


INTEGRATIONS: tuple[ReleaseFact, ...] = (
    _integration("kubeflow.org/jaxjob", 12),
    _integration("kubeflow.org/mxjob", gone=11),
    _integration("leaderworkerset.x-k8s.io/leaderworkerset", 11),
    _integration("ray.io/rayservice", 17),
    _integration("sparkoperator.k8s.io/sparkapplication", 17),
    _integration("trainer.kubeflow.org/trainjob", 14),
    _integration("workload.codeflare.dev/appwrapper", 11),
)
"""Integrations that its configuration may list in some releases only."""


def _annotations(minor: int, keys: str, source: str) -> Iterator[ReleaseFact]:
    for key in keys.split():
        yield ReleaseFact("annotation", f"kueue.x-k8s.io/{key}", Version(0, minor, 0), source=source)


FACTS: tuple[ReleaseFact, ...] = (
    *TOPOLOGY_REQUESTS,
    *INTEGRATIONS,
    *_annotations(10, "pod-group-serving", "pkg/controller/jobs/pod/constants"),
    *_annotations(13, "elastic-job", "pkg/workloadslicing"),
    *_annotations(17, "priority-boost", "pkg/controller/constants/constants.go"),
    *_annotations(18, "workload-allowed-resource-flavors", "pkg/controller/constants/constants.go"),
    ReleaseFact("apiVersion", "Cohort in v1alpha1", gone=versions.COHORT_V1BETA1, source=_CRDS),
    ReleaseFact("apiVersion", "Cohort in v1beta1", versions.COHORT_V1BETA1, source=_CRDS),
    ReleaseFact("apiVersion", "Topology in v1alpha1", gone=versions.TOPOLOGY_V1BETA1, source=_CRDS),
    ReleaseFact("apiVersion", "Topology in v1beta1", versions.TOPOLOGY_V1BETA1, source=_CRDS),
    ReleaseFact("apiVersion", "every kind in v1beta2", versions.V1BETA2, source=_CRDS),
    ReleaseFact(
        "gate on", "TopologyAwareScheduling", versions.TAS_DEFAULT, source="pkg/features/kube_features.go"
    ),
    ReleaseFact(
        "check",
        "levels of a Topology are unique, kubernetes.io/hostname the lowest",
        versions.TOPOLOGY_RULES,
        source=_CRDS,
    ),
    ReleaseFact(
        "check",
        "a weight of fairSharing is 0 or above a billionth",
        versions.SMALL_WEIGHTS,
        source="pkg/webhooks/common.go",
    ),
    ReleaseFact(
        "check",
        "podset-group-name is not a number and has no slices beside it",
        versions.GROUPS_CHECKED,
        source="pkg/controller/jobframework/tas_validation.go",
    ),
    ReleaseFact(
        "check",
        "podset-group-name has a required or preferred topology beside it",
        versions.GROUP_TOPOLOGY,
        source="pkg/controller/jobframework/tas_validation.go",
    ),
    ReleaseFact(
        "formula",
        "borrowWithinCohort limits preemption with fairSharing",
        gone=versions.SHARES_ALONE,
        instead="preemption by shares alone",
        source="pkg/scheduler/preemption/preemption.go",
    ),
    ReleaseFact("check", "16 levels of a Topology", versions.MANY_LEVELS, instead="8", source=_CRDS),
    ReleaseFact("check", "64 flavors of a resource group", versions.LARGE_GROUPS, instead="16", source=_CRDS),
    ReleaseFact(
        "check",
        "onFlavors of admission checks are flavors of the ClusterQueue",
        versions.CHECKED_FLAVORS,
        source="pkg/webhooks/clusterqueue_webhook.go",
    ),
    ReleaseFact(
        "annotation of owner",
        names.QUEUE_NAME,
        gone=versions.LABEL_ONLY,
        instead="label of the same key",
        source="pkg/controller/jobframework/interface.go",
    ),
)
