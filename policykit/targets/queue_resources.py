"""The resources that a queue names, wherever its system keeps them, and doubts about their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from policykit.catalogue.mistakes import resource_problem
from policykit.catalogue.resources import is_card
from policykit.kube.names import is_hugepages
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.capacity import offered

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_PLAIN = ("cpu", "memory", "pods", "ephemeral-storage")
_SHORT = {"mem": "memory", "cpus": "cpu", "ram": "memory", "storage": "ephemeral-storage"}
_DYNAMIC = "deviceclass/"
"""Of Volcano's quotas of DRA devices, whose names are those of classes."""


class Named(NamedTuple):
    """A resource as a queue names it."""

    resource: str
    path: Path
    title: str
    """System: Volcano, Koordinator, YuniKorn."""
    plain: tuple[str, ...] = _PLAIN
    """Names without a domain that pods are counted under."""
    drops: bool = False
    """The system drops other names without a domain."""


class Doubt(NamedTuple):
    """What is wrong with a name, and what to do."""

    message: str
    help: str
    severity: Severity


def named(manifest: Manifest, cluster: Cluster | None) -> Iterator[Named]:
    """Every name in a Queue of Volcano, an ElasticQuota, or a queues.yaml that decodes."""
    if manifest.kind == "queues.yaml":
        yield from _configured(manifest, cluster)
    elif manifest.kind == "Queue" and manifest.group == "scheduling.volcano.sh":
        lists = (("capability",), ("deserved",), ("guarantee", "resource"))
        yield from _listed(manifest, lists, "Volcano", drops=True)
    elif manifest.kind == "ElasticQuota" and manifest.group == "scheduling.sigs.k8s.io":
        yield from _listed(manifest, (("max",), ("min",)), "Koordinator")


def _listed(manifest: Manifest, lists: Iterable[Path], title: str, drops: bool = False) -> Iterator[Named]:
    for steps in lists:
        path = ("spec", *steps)
        for resource in mapping(lookup(manifest.data, path)):
            if isinstance(resource, str):
                yield Named(resource, (*path, resource), title, drops=drops)


def _configured(manifest: Manifest, cluster: Cluster | None) -> Iterator[Named]:
    from policykit.targets.yunikorn.configuration.resources import CORES
    from policykit.targets.yunikorn.default_partition import read_partly
    from policykit.targets.yunikorn.validation.failures import never_counted, stated_amounts

    found = read_partly(manifest, cluster)
    plain = tuple(CORES if name == "cpu" else name for name in _PLAIN)
    for path, stated in stated_amounts(found.tree) if found else ():
        for resource in stated:
            if not never_counted(resource):
                yield Named(resource, (*path, resource), "YuniKorn", plain)


def doubt(name: Named, cluster: Cluster | None) -> Doubt | None:
    """None for every name that some pod may ask for."""
    resource = name.resource
    if resource in name.plain or is_hugepages(resource) or _DYNAMIC in resource:
        return None
    if resource in _asked_for(cluster):
        return None
    problem = resource_problem(resource)
    if "/" not in resource:
        return _without_domain(name, problem[1] if problem else (), cluster)
    if problem is not None:
        return Doubt(
            f"{resource} {problem[0]}: no pod is counted under it", _meant(problem[1]), Severity.WARNING
        )
    if cluster is not None and cluster.complete and is_card(resource) and _published(resource):
        there = sorted(each for each in offered(cluster) if is_card(each))
        return Doubt(
            f"no pool of the policy has {resource}",
            f"the pools have {', '.join(there)}" if there else "the pools have no cards",
            Severity.WARNING,
        )
    return None


def _without_domain(name: Named, meant: tuple[str, ...], cluster: Cluster | None) -> Doubt:
    resource = name.resource
    likely = _SHORT.get(resource.lower(), "")
    likely = likely if likely in name.plain else nearest(resource.lower(), name.plain, 0.7)
    cards = tuple(sorted(each for each in _asked_for(cluster) if each in meant))
    advice = _meant((likely,) if likely else cards or meant)
    if name.drops:
        return Doubt(
            f"{name.title} drops {resource} without a message: nothing is counted under it",
            advice,
            Severity.ERROR,
        )
    return Doubt(f"no pod is counted under {resource}: the amount binds nobody", advice, Severity.WARNING)


def _asked_for(cluster: Cluster | None) -> frozenset[str]:
    """What the pools have, and what the policy shares out among its own queues, which is its business."""
    if cluster is None:
        return frozenset()
    shared = {name for queue in cluster.queues for name in (*queue.guarantee, *queue.deserved, *queue.limit)}
    return offered(cluster) | shared


def _published(resource: str) -> bool:
    """Whether nodes have it by themselves: Koordinator counts under names of its own."""
    return resource.partition("/")[0] != "koordinator.sh"


def _meant(names: tuple[str, ...]) -> str:
    if names:
        return f"did you mean {' or '.join(names)}?"
    return "write cpu, memory, pods, or the name under which pods ask for it, such as nvidia.com/gpu"
