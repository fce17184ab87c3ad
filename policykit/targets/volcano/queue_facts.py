"""Facts from Volcano's Queues and PodGroups, and how Volcano treats queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import amounts
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, pairs, text, whole
from policykit.model.declared_queues import DeclaredQueue, QueueSemantics, QueueUse
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import GROUP_APIS, SCHEDULER
from policykit.targets.volcano.objects.queues import HIERARCHY, MAX_DEPTH, is_counted

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

ROOT = "root"
_API = "scheduling.volcano.sh"
_AMOUNTS = {
    "guarantee": ("spec", "guarantee", "resource"),
    "deserved": ("spec", "deserved"),
    "limit": ("spec", "capability"),
}
_UNLIMITED_AT_NONE = ("cpu", "memory")
"""Resources of which a capability of 0 means no limit; of others it means none may be used."""
_NODES = (
    ("nodeGroupAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
    ("nodeGroupAffinity", "preferredDuringSchedulingIgnoredDuringExecution"),
)


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """The facts of a Queue or a PodGroup."""
    if manifest.group not in GROUP_APIS:
        return
    if manifest.kind == "Queue":
        yield _queue(manifest)
    elif manifest.kind == "PodGroup":
        yield from _group(manifest, context)


def _queue(manifest: Manifest) -> Fact:
    spec = mapping(manifest.data.get("spec"))
    places: dict[str, Path] = {"name": ("metadata", "name")}
    found: dict[str, dict[str, int]] = {}
    measured = True
    for field, steps in _AMOUNTS.items():
        at = mapping(manifest.data)
        for step in steps:
            at = mapping(at.get(step))
        found[field] = {name: amount for name, amount in amounts(at).items() if is_counted(name)}
        measured = measured and len(amounts(at)) == len(at)
        if at:
            places[field] = steps
        places |= {f"{field}.{resource}": (*steps, resource) for resource in found[field]}
    for name in _UNLIMITED_AT_NONE:
        if found["limit"].get(name) == 0:
            del found["limit"][name]
    if "parent" in spec:
        places["parent"] = ("spec", "parent")
    path = pairs(manifest.metadata.get("annotations")).get(HIERARCHY, "")
    if path:
        places["path"] = ("metadata", "annotations", HIERARCHY)
    parent, name = text(spec.get("parent")), manifest.name
    queue = DeclaredQueue(
        SCHEDULER,
        name,
        ("" if name == ROOT else parent or ROOT),
        found["guarantee"],
        found["deserved"],
        found["limit"],
        path=path.removeprefix(f"{ROOT}/"),
        measured=measured,
        closed=mapping(manifest.data.get("status")).get("state") == "Closed",
        confined=any(mapping(mapping(spec.get("affinity")).get(side)).get(how) for side, how in _NODES),
    )
    return Fact(queue, places)


def amount_paths(manifest: Manifest, cluster: Cluster | None) -> Iterator[Path]:
    """Path of each resource that a Queue names."""
    for path in _AMOUNTS.values() if manifest.group == _API else ():
        for resource in mapping(lookup(manifest.data, path)):
            if isinstance(resource, str):
                yield (*path, resource)


def _group(manifest: Manifest, context: Context) -> Iterator[Fact]:
    """A PodGroup that names its queue, which is that of its members."""
    spec = mapping(manifest.data.get("spec"))
    queue = text(spec.get("queue"))
    if not queue or manifest.metadata.get("ownerReferences"):
        return
    use = QueueUse(
        SCHEDULER,
        manifest.namespace or context.namespace,
        queue,
        SCHEDULER,
        manifest.name,
        whole(spec.get("minMember")),
        amounts(spec.get("minResources")),
    )
    yield Fact(use, {"queue": ("spec", "queue")})


def queue_semantics(cluster: Cluster | None) -> QueueSemantics:
    """How a release treats queues. Source: `validate_queue.go` and `plugins/capacity` (1.8 to 1.15)."""
    stated = versions.release_of(cluster)
    version = stated or versions.newest()
    tree = version >= versions.HIERARCHY
    order = stated is not None and stated >= versions.AMOUNTS_COMPARED
    who = "Volcano" if order else f"Volcano {_minor(versions.AMOUNTS_COMPARED)} on"
    compared = version >= versions.AMOUNTS_COMPARED
    stops = "plugin capacity then gives nothing to any queue of the tree"
    before = f"Volcano before {_minor(versions.ROOT_UNLIMITED)}"
    return QueueSemantics(
        "Volcano",
        "queue",
        {"guarantee": "guarantee", "deserved": "deserved", "limit": "capability"},
        roots=frozenset({ROOT} if tree else ()),
        built_in=frozenset({ROOT, "default"} if tree else {"default"}),
        trees=tree,
        trees_since="" if stated else f"Volcano {_minor(versions.HIERARCHY)} on",
        summed=("guarantee", "deserved"),
        drops_other_names=True,
        order=Severity.ERROR if order else Severity.WARNING,
        depth=MAX_DEPTH if version >= versions.DEPTH_CHECKED else None,
        tree_fault="Volcano refuses the queue" if version >= versions.TREE_CHECKED else stops,
        queue_fault=f"{who} refuses the queue" if compared else "the excess has no effect",
        submit_fault="Volcano refuses jobs there, and gives nothing to any queue while a PodGroup is in it",
        closed_fault="Volcano refuses jobs and PodGroups there",
        root_has_nodes="" if stated and (not tree or stated >= versions.ROOT_UNLIMITED) else before,
        unknown_fault="Volcano refuses jobs and PodGroups of a queue that does not exist",
    )


def _minor(version: Version) -> str:
    return f"{version.major}.{version.minor}"
