"""PriorityClass, written and read; and facts about the priorities that pods and gangs name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, whole
from policykit.model.queue import DeclaredPriority, Priority, PriorityUse

API_VERSION = "scheduling.k8s.io/v1"
KIND = "PriorityClass"
_PREEMPTS, _NEVER = "PreemptLowerPriority", "Never"


def write(priority: Priority) -> dict[str, Any]:
    """A PriorityClass. It states the API server's defaults, so that GitOps tools see no difference.

    A false globalDefault is left out: the API server drops it, and kubectl would add it again each time.
    Source: `GlobalDefault` in `scheduling/v1` (omitempty).
    """
    data: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": priority.name},
        "value": priority.value,
        **({"globalDefault": True} if priority.default else {}),
        "preemptionPolicy": _PREEMPTS if priority.preempts else _NEVER,
    }
    if priority.description:
        data["description"] = priority.description
    return data


def read(data: Mapping[str, Any]) -> Priority:
    """A PriorityClass. A field that is missing or has the wrong type gets Kubernetes' default."""
    return Priority(
        text(mapping(data.get("metadata")).get("name")),
        whole(data.get("value")) or 0,
        data.get("preemptionPolicy") != _NEVER,
        data.get("globalDefault") is True,
        text(data.get("description")),
    )


_PLACES: dict[str, Path] = {"name": ("metadata", "name"), "value": ("value",), "default": ("globalDefault",)}
_OF_GANGS: tuple[Path, ...] = (
    ("spec", "priorityClassName"),
    ("spec", "jobTemplate", "spec", "priorityClassName"),
    ("spec", "runPolicy", "schedulingPolicy", "priorityClass"),
)
"""Where Volcano's Job, CronJob and PodGroup and Kubeflow's jobs name the priority of a gang."""
_GROUPS = frozenset({"batch.volcano.sh", "flow.volcano.sh", "scheduling.volcano.sh", "kubeflow.org"})


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """The facts of a PriorityClass, of an object with pods, or of Volcano's PodGroup."""
    if manifest.kind == "PriorityClass":
        if manifest.group == "scheduling.k8s.io" and not manifest.partial:
            data = manifest.data
            value = 0 if data.get("value") is None else whole(data.get("value"))
            default = data.get("globalDefault") is True
            yield Fact(DeclaredPriority(manifest.name, value, default, _policy_of(data)), _PLACES)
        return
    reported: set[Path] = set()
    for pod_set in pod_sets:
        path = pod_set.place("priorityClassName")
        name = pod_set.spec.get("priorityClassName")
        if isinstance(name, str) and name and path not in reported and lookup(manifest.data, path) == name:
            reported.add(path)
            number = whole(pod_set.spec.get("priority"))
            policy = text(pod_set.spec.get("preemptionPolicy"))
            places = {"name": path, **({} if number is None else {"value": pod_set.place("priority")})}
            places |= {"policy": pod_set.place("preemptionPolicy")} if policy else {}
            yield Fact(PriorityUse(name, pod_set.scheduler_name, number, policy), places)
    for path in _OF_GANGS if manifest.group in _GROUPS else ():
        name = lookup(manifest.data, path)
        if isinstance(name, str) and name and path not in reported:
            yield Fact(PriorityUse(name), {"name": path})


def _policy_of(data: Mapping[str, Any]) -> str:
    stated = data.get("preemptionPolicy")
    return _PREEMPTS if stated is None else text(stated) if stated in (_PREEMPTS, _NEVER) else ""
