"""Facts about priorities: PriorityClass objects, and the names that pods and gangs use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import whole
from policykit.model.queue import DeclaredPriority, PriorityUse

_PLACES: dict[str, Path] = {"name": ("metadata", "name"), "value": ("value",), "default": ("globalDefault",)}
_OF_GANGS: tuple[Path, ...] = (
    ("spec", "priorityClassName"),
    ("spec", "jobTemplate", "spec", "priorityClassName"),
    ("spec", "runPolicy", "schedulingPolicy", "priorityClass"),
)
"""Where Volcano's Job, CronJob and PodGroup and Kubeflow's jobs name the priority of a gang."""
_GROUPS = frozenset({"batch.volcano.sh", "flow.volcano.sh", "scheduling.volcano.sh", "kubeflow.org"})


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a PriorityClass, of what makes pods, and of Volcano's PodGroup."""
    if manifest.kind == "PriorityClass":
        if manifest.group == "scheduling.k8s.io" and not manifest.partial:
            data = manifest.data
            value = 0 if data.get("value") is None else whole(data.get("value"))
            yield Fact(DeclaredPriority(manifest.name, value, data.get("globalDefault") is True), _PLACES)
        return
    said: set[Path] = set()
    for pod_set in pod_sets:
        path = pod_set.place("priorityClassName")
        name = pod_set.spec.get("priorityClassName")
        if isinstance(name, str) and name and path not in said and lookup(manifest.data, path) == name:
            said.add(path)
            yield Fact(PriorityUse(name, pod_set.scheduler_name), {"name": path})
    for path in _OF_GANGS if manifest.group in _GROUPS else ():
        name = lookup(manifest.data, path)
        if isinstance(name, str) and name and path not in said:
            yield Fact(PriorityUse(name), {"name": path})
