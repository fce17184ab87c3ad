"""Pod fields that a scheduler reads, and the pods that a target computes them from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple


class JobPods(NamedTuple):
    """Pods of one template within a job."""

    name: str
    """Of the pod set: worker, main; empty for the only one."""
    replicas: int | None
    """None: not a fixed number."""
    requests: Amounts = {}
    """Effective request of one pod."""
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Mapping[str, Any], ...] = ()
    affinity: Mapping[str, Any] = {}
    """As written in the pod's spec, after placement is applied."""


class PodContext(NamedTuple):
    """The pods being patched, and those that start with them. Empty: nothing is known (a component)."""

    owner: str = ""
    """Name of the object that makes them."""
    owner_kind: str = ""
    namespace: str = ""
    pod_set: str = ""
    """Name of the pod set of these pods in `job`."""
    job: tuple[JobPods, ...] = ()
    """Every pod set of the job, in its order."""


class AdmissionFields(NamedTuple):
    """Fields of the object that a queue system admits as a whole, a Job or a plain Pod."""

    target_name: str
    """The object is the one that names the queue of this system."""
    labels: Mapping[str, str] = {}
    spec: Mapping[tuple[str | int, ...], Any] = {}
    """Path from the object to value."""


class PodFields(NamedTuple):
    """Fields of the pods and their owner besides placement. Maps merge; keys there are replaced."""

    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner_annotations: Mapping[str, str] = {}
    """Of the object that makes the pods, where its system reads them from there."""
    spec: Mapping[str, Any] = {}
    """PodSpec fields: topologySpreadConstraints, schedulingGroup, ..."""
    objects: tuple[Mapping[str, Any], ...] = ()
    """Companion objects of the workload: a PodGroup."""
    notices: tuple[str, ...] = ()
    """What cannot be expressed, and the nearest alternative."""
    admitted: AdmissionFields | None = None
    """Fields of the job as a whole; None: it gets none."""
