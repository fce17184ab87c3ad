"""Patches that set the scheduler, priority class and queue of a pod set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.podsets import queues
from policykit.kube.podsets.facts import Entry
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.table import entry
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.cluster import Cluster
from policykit.targets import DEFAULT_SCHEDULER, system_of
from policykit.targets.volcano.names import SCHEDULER as VOLCANO
from policykit.targets.workloads.field_patches import spec_path
from policykit.targets.workloads.scheduler_fields import queue_name, queue_system

_SCHEDULER = "schedulerName"
_PRIORITY = "priorityClassName"
_SPARK_SCHEDULERS = frozenset({"volcano", "yunikorn", "kube-scheduler"})
"""Schedulers that Spark's operator knows by name (`batchScheduler`); others are set in the templates."""

Change = tuple[Patch, ...] | None
"""The changes; None: the kind of the object has no field for it."""


def scheduler(pod_set: PodSet, name: str) -> Change:
    """Changes that make `name` the scheduler of the pods."""
    if (pod_set.scheduler_name or DEFAULT_SCHEDULER) == name:
        return ()
    path = pod_set.scheduler_path
    if path and path[-1] != _SCHEDULER and name not in _SPARK_SCHEDULERS:
        path = spec_path(pod_set, _SCHEDULER)
    return (Patch("add", path, name),) if path else None


def priority(data: Mapping[str, Any], pod_set: PodSet, name: str, cluster: Cluster) -> Change:
    """Changes that give the pods a priority class, and their PodGroup where Volcano reads it apart.

    Kinds that keep schedulerName outside their templates (Volcano's) keep the priority there
    too and hand it to pods that state none. Another class that is written is replaced.
    """
    own, beside = spec_path(pod_set, _PRIORITY), _object_priority(data, pod_set)
    places = [own] if own else []
    if beside and _is_inherited(data, pod_set):
        differs = own is not None and lookup(data, own) not in (None, "", name)
        places = [beside, *(places if differs else ())]
    elif beside and system_of(pod_set.scheduler_name, cluster) == VOLCANO:
        # Volcano orders jobs by the class of their PodGroup; that of a template orders their pods.
        places.append(beside)
    if not places:
        return None
    return tuple(Patch("add", path, name) for path in places if lookup(data, path) != name)


def queue(data: Mapping[str, Any], pod_set: PodSet, name: str, cluster: Cluster) -> Change:
    """Changes that submit the pods to a queue, in the field that their scheduler reads first.

    None too where the scheduler has no queues, or is not known.
    """
    system = queue_system(system_of(pod_set.scheduler_name, cluster), cluster)
    if system is None:
        return None
    places = queues.places(data, pod_set, system)
    if not places:
        return None
    where, called = queue_name(name, cluster, system)
    written = queues.read(data, pod_set, system)
    if not called or (written and written.value == called):
        return ()
    first = next((path for path in places if path[-2:-1] == (where,)), places[0])
    return (Patch("add", written.path if written else first, called),)


def _object_priority(data: Mapping[str, Any], pod_set: PodSet) -> Path | None:
    """Path of the priority class of the whole object, outside its templates."""
    known = _kind_entry(data, pod_set)
    if known is None or known.priority is None:
        return None
    return (*pod_set.owner, *(str(step) for step in known.priority.place))


def _is_inherited(data: Mapping[str, Any], pod_set: PodSet) -> bool:
    """Whether the kind gives its own priority class to pods that state none."""
    known = _kind_entry(data, pod_set)
    if known is None or known.scheduler is None or known.priority is None:
        return False
    path = known.priority.place
    return path[:-1] == known.scheduler.place[:-1] and path[-1:] == (_PRIORITY,)


def _kind_entry(data: Mapping[str, Any], pod_set: PodSet) -> Entry | None:
    owner = lookup(data, pod_set.owner)
    return entry(owner.get("apiVersion"), owner.get("kind")) if isinstance(owner, Mapping) else None
