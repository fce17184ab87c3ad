"""Feature gates, and fields of kube-scheduler's configuration, by release of Kubernetes, 1.28 to 1.37."""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Version
from policykit.targets.kubernetes.feature_gates import GATES
from policykit.targets.kubernetes.scheduler.fields import ARGS_SINCE, SINCE
from policykit.targets.kubernetes.versions import RELEASES

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
