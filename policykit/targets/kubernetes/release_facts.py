"""Feature gates, APIs, and kube-scheduler's configuration, by release of Kubernetes, 1.28 to 1.37.

Fields and API versions of objects are dated in the schemas.
"""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Version
from policykit.targets.kubernetes import versions
from policykit.targets.kubernetes.feature_gates import GATES
from policykit.targets.kubernetes.scheduler import plugins
from policykit.targets.kubernetes.scheduler.fields import ARGS_SINCE, SINCE
from policykit.targets.kubernetes.scheduler.plugins import SCORE_PLUGINS
from policykit.targets.kubernetes.versions import RELEASES

_NAMES = "pkg/scheduler/framework/plugins/names/names.go"
_CONFIG = "pkg/scheduler/apis/config"
_SCHEDULING = "api/scheduling"
_ALPHA = "scheduler.alpha.kubernetes.io"
_FIELDS = {"affinity": "the field affinity", "tolerations": "the field tolerations", "name": "schedulerName"}
"""Annotations of pods that became fields. Source: `pkg/api/annotation_key_constants.go` of 1.7 and 1.8."""

FACTS: tuple[ReleaseFact, ...] = (
    *(
        ReleaseFact("gate on", gate.name, gate.on, source="pkg/features/kube_features.go")
        for gate in GATES.values()
        if gate.on and gate.on > RELEASES.oldest
    ),
    *(
        ReleaseFact(
            "scheduler args", name, Version(1, minor, 0), source="kube-scheduler/config/v1/register.go"
        )
        for name, minor in ARGS_SINCE.items()
    ),
    *(
        ReleaseFact("scheduler field", name, Version(1, minor, 0), source="kube-scheduler/config/v1")
        for name, minor in SINCE.items()
    ),
    *(
        ReleaseFact("scheduler plugin", name, Version(1, minor, 0), source=_NAMES)
        for name, minor in plugins.IN_TREE.items()
        if minor > plugins.ALWAYS
    ),
    *(
        ReleaseFact("scheduler plugin", name, gone=Version(1, plugins.VOLUME_LIMITS_END, 0), source=_NAMES)
        for name in sorted(plugins.VOLUME_LIMITS)
    ),
    ReleaseFact("scheduler plugin", "SelectorSpread", gone=versions.ONLY_V1, source=_NAMES),
    ReleaseFact("apiVersion", "KubeSchedulerConfiguration in v1beta3", gone=versions.ONLY_V1, source=_CONFIG),
    *(
        ReleaseFact("formula", f"{name} scores pods", scorer.since, source=_CONFIG)
        for name, scorer in SCORE_PLUGINS.items()
        if scorer.since > RELEASES.oldest
    ),
    ReleaseFact(
        "apiVersion",
        "kubeadm.k8s.io/v1beta4, with lists of arguments",
        versions.KUBEADM_LISTS,
        instead="v1beta3, with maps",
        source="cmd/kubeadm/app/apis/kubeadm",
    ),
    ReleaseFact("apiVersion", "Workload of scheduling.k8s.io", versions.WORKLOAD_API, source=_SCHEDULING),
    ReleaseFact("apiVersion", "PodGroup of scheduling.k8s.io", versions.POD_GROUP_API, source=_SCHEDULING),
    *(
        ReleaseFact(
            "annotation",
            f"{_ALPHA}/{name}",
            gone=Version(1, 8, 0),
            instead=instead,
            source="pkg/api/annotation_key_constants.go",
        )
        for name, instead in _FIELDS.items()
    ),
)
