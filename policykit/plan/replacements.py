"""What a changed pod template does to objects that exist.

Their pods are replaced, the object must be, or only new pods get it.

Each entry names the upstream code or page that decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple

ROLLED, REPLACED, LATER = "rolled", "replaced", "later"

Fields = frozenset[str]
"""Names of what differs between two pod templates, as `changed_fields` gives them."""


class Replacement(NamedTuple):
    """How a change reaches the pods of an object."""

    how: str
    """rolled: the controller replaces the pods; replaced: the object must be deleted and created again;
    later: only pods that are created afterwards."""
    means: str
    source: str


_Decide = Callable[[Mapping[str, Any], Fields], Replacement]
"""From the object as it is afterwards, and what of its template has changed."""

PRIORITY_CLASS = Replacement(
    REPLACED,
    "it is deleted and created again: running pods keep their priority, and while it is gone new pods that "
    "name it are refused",
    "kubernetes pkg/apis/scheduling/validation/validation.go, ValidatePriorityClassUpdate: value and "
    "preemptionPolicy are immutable",
)

_SCHEDULING: Fields = frozenset({"nodeSelector", "tolerations", "schedulingGates", "labels", "annotations"})
_WHILE_SUSPENDED: Mapping[str, Fields] = {
    "Job": _SCHEDULING | {"affinity.nodeAffinity"},
    "JobSet": _SCHEDULING,
}
"""What of a template may change while an object is suspended, by kind; a Job must not have started before."""
_SUSPENDED = "it is suspended: {} may change until it first starts"


def _strategy(path: tuple[str, ...], source: str) -> _Decide:
    """A controller that replaces the pods itself, unless its strategy at a path says otherwise."""

    def decide(data: Mapping[str, Any], changed: Fields) -> Replacement:
        kind = lookup(data, (*path, "type"))
        if kind == "OnDelete":
            return Replacement(LATER, "its strategy is OnDelete: only pods that you delete get it", source)
        if kind == "Recreate":
            means = "its strategy is Recreate: all its pods are deleted before new ones are created"
            return Replacement(ROLLED, means, source)
        means = "its pods are replaced by a rolling update"
        if lookup(data, (*path, "rollingUpdate", "partition")):
            means += ", those below its partition are not"
        return Replacement(ROLLED, means, source)

    return decide


def _always(how: str, means: str, source: str) -> _Decide:
    found = Replacement(how, means, source)
    return lambda data, changed: found


def _immutable(means: str, source: str) -> _Decide:
    """A template that nothing but some fields of a suspended object may change."""
    refused = Replacement(REPLACED, means, source)

    def decide(data: Mapping[str, Any], changed: Fields) -> Replacement:
        allowed = _WHILE_SUSPENDED.get(str(data.get("kind")), frozenset())
        if lookup(data, ("spec", "suspend")) is True and changed <= allowed:
            return Replacement(LATER, _SUSPENDED.format(", ".join(sorted(changed))), source)
        return refused

    return decide


_AGAIN = "it must be deleted and created again"
_NEW_PODS = "only new pods get it"
_KINDS: Mapping[tuple[str, str], _Decide] = {
    ("apps", "Deployment"): _strategy(
        ("spec", "strategy"), "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy"
    ),
    ("apps", "StatefulSet"): _strategy(
        ("spec", "updateStrategy"),
        "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies",
    ),
    ("apps", "DaemonSet"): _strategy(
        ("spec", "updateStrategy"),
        "https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/#daemonset-update-strategy",
    ),
    ("apps", "ReplicaSet"): _always(
        LATER, _NEW_PODS, "https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/"
    ),
    ("", "ReplicationController"): _always(
        LATER, _NEW_PODS, "https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller/"
    ),
    ("", "Pod"): _always(
        REPLACED,
        f"node selection cannot be changed: {_AGAIN}",
        "kubernetes pkg/apis/core/validation/validation.go, ValidatePodUpdate: images, deadlines and more "
        "tolerations only",
    ),
    ("batch", "Job"): _immutable(
        f"the template is immutable once it has started: {_AGAIN}",
        "kubernetes pkg/apis/batch/validation/validation.go, validatePodTemplateUpdate; "
        "https://kubernetes.io/docs/concepts/workloads/controllers/job/#mutable-scheduling-directives",
    ),
    ("batch", "CronJob"): _always(
        LATER,
        "only Jobs that it creates later get it",
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#modifying-a-cronjob",
    ),
    ("batch.volcano.sh", "Job"): _always(
        REPLACED,
        f"its webhook refuses a changed template: {_AGAIN}",
        "volcano pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobUpdate: replicas, "
        "minAvailable and priorityClassName only",
    ),
    ("jobset.x-k8s.io", "JobSet"): _immutable(
        f"the template is immutable, but for scheduling while it is suspended: {_AGAIN}",
        "jobset pkg/webhooks/jobset_webhook.go, ValidateUpdate",
    ),
}


def replacement(data: Mapping[str, Any], group: str, kind: str, changed: Fields) -> Replacement | None:
    """What a changed pod template means for an object; None: only its controller knows."""
    decide = _KINDS.get((group, kind))
    return decide(data, changed) if decide else None


def changed_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Fields:
    """What differs between two pod specs: names of fields, those of affinity as `affinity.nodeAffinity`."""
    return frozenset((*_differing(_without_affinity(old), _without_affinity(new)), *_affinity(old, new)))


def _affinity(old: Mapping[str, Any], new: Mapping[str, Any]) -> frozenset[str]:
    before, after = (mapping(data.get("affinity")) for data in (old, new))
    return frozenset(f"affinity.{name}" for name in _differing(before, after))


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name in {*old, *new} if old.get(name) != new.get(name))


def _without_affinity(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != "affinity"}
