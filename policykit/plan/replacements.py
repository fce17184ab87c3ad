"""What a changed template or field does to objects that exist: rolled, replaced, or only for new pods.

Each entry names its source; the tests compare those of Kubernetes with a real API server where one is
built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import lookup
from policykit.namedtuple import NamedTuple

ROLLED, REPLACED, LATER, UNKNOWN = "rolled", "replaced", "later", "unknown"


class Replacement(NamedTuple):
    """How a change reaches the pods of an object."""

    how: str
    """rolled: the controller replaces the pods; replaced: the object must be deleted and created again;
    later: only pods that are created afterwards; unknown."""
    means: str
    source: str


PRIORITY_CLASS = Replacement(
    REPLACED,
    "it is deleted and created again: running pods keep their priority, and while it is gone new pods that "
    "name it are refused",
    "pkg/apis/scheduling/validation: value and preemptionPolicy are immutable",
)
_ROLLED = "its pods are replaced by a rolling update"
_KINDS: Mapping[tuple[str, str], Replacement] = {
    ("apps", "Deployment"): Replacement(ROLLED, _ROLLED, "pkg/controller/deployment"),
    ("apps", "StatefulSet"): Replacement(ROLLED, _ROLLED, "pkg/controller/statefulset"),
    ("apps", "DaemonSet"): Replacement(ROLLED, _ROLLED, "pkg/controller/daemon"),
    ("apps", "ReplicaSet"): Replacement(LATER, "only new pods get it", "pkg/controller/replicaset"),
    ("", "ReplicationController"): Replacement(LATER, "only new pods get it", "pkg/controller/replicaset"),
    ("", "Pod"): Replacement(
        REPLACED,
        "node selection cannot be changed: it must be deleted and created again",
        "pkg/apis/core/validation: ValidatePodUpdate allows images, deadlines and more tolerations",
    ),
    ("batch", "Job"): Replacement(
        REPLACED,
        "the template is immutable once it has started: it must be deleted and created again",
        "pkg/apis/batch/validation: ValidateJobSpecUpdate",
    ),
    ("batch", "CronJob"): Replacement(
        LATER, "only Jobs that it creates later get it", "pkg/controller/cronjob"
    ),
    ("batch.volcano.sh", "Job"): Replacement(
        REPLACED,
        "its webhook refuses a changed template: it must be deleted and created again",
        "pkg/webhooks/admission/jobs/validate: validateJobUpdate",
    ),
    ("jobset.x-k8s.io", "JobSet"): Replacement(
        REPLACED,
        "the template is immutable unless it is suspended: it must be deleted and created again",
        "pkg/webhooks/jobset_webhook.go: ValidateUpdate",
    ),
}
_SUSPENDABLE = frozenset({("batch", "Job"), ("jobset.x-k8s.io", "JobSet")})
_SUSPENDED = Replacement(
    LATER, "it is suspended: its template can be changed until it first starts", "as above"
)
_UNKNOWN = Replacement(UNKNOWN, "its controller decides whether running pods change", "")


def replacement(data: Mapping[str, Any], group: str, kind: str) -> Replacement:
    """What a changed pod template means for an object."""
    known = _KINDS.get((group, kind), _UNKNOWN)
    if (group, kind) in _SUSPENDABLE and lookup(data, ("spec", "suspend")) is True:
        return _SUSPENDED
    return known


def never_ends(data: Mapping[str, Any], kind: str) -> bool:
    """Whether a rolling update takes nothing away before it adds: on full cards it waits for ever."""
    unavailable = lookup(data, ("spec", "strategy", "rollingUpdate", "maxUnavailable"))
    return kind == "Deployment" and unavailable in (0, "0", "0%")
