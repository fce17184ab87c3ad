"""Objects of a cluster as someone wrote them, read page by page, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policykit.live.client import Client, ForbiddenError, NotServedError, Object
from policykit.live.kinds import NODE, POD, Kind, Resource, Role, served
from policykit.manifests.shape import mapping, text
from policykit.namedtuple import NamedTuple

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation of `kubectl apply`: the object once more."""
_OF_SERVER = (
    "managedFields",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
"""Metadata that the server keeps."""
_OF_ADMISSION = ("nodeName", "priority", "preemptionPolicy")
"""Fields of a pod that the scheduler and admission set."""
_EVICTIONS = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
"""Taints that admission lets every pod tolerate for a while."""
_NODE_STATUS = ("allocatable", "capacity", "conditions", "nodeInfo")
"""The rest, such as the images on a node, is several times as long."""
_ENDS = frozenset({"Complete", "Completed", "Failed", "Finished", "Succeeded"})
_OVER = frozenset({"Failed", "Succeeded"})


class LiveObject(NamedTuple):
    """An object of a cluster."""

    name: str
    """In findings: `Deployment default/chat`."""
    data: Object
    """As written, apiVersion and kind included."""
    resource: Resource

    @property
    def text(self) -> bytes:
        """As YAML, which findings quote."""
        from policykit.manifests.writer import dump

        return dump(self.data).encode("utf-8", errors="replace")


def live_object(resource: Resource, item: Object) -> LiveObject:
    """An item of a list."""
    metadata = mapping(item.get("metadata"))
    name, namespace = metadata.get("name"), metadata.get("namespace")
    shown = f"{namespace}/{name}" if namespace else f"{name}"
    data = {"apiVersion": resource.api_version, "kind": resource.kind.name, **_as_written(resource, item)}
    return LiveObject(f"{resource.kind.shown} {shown}", data, resource)


def controller(item: Object) -> Mapping[str, Any] | None:
    """The reference to the object that controls it; None: nobody does."""
    owners = mapping(item.get("metadata")).get("ownerReferences")
    for each in owners if isinstance(owners, list) else ():
        if isinstance(each, dict) and each.get("controller") is True:
            return each
    return None


def is_finished(item: Object) -> bool:
    """Whether a pod or job has ended: nobody schedules it any more."""
    status = mapping(item.get("status"))
    if status.get("phase") in _OVER:
        return True
    conditions = status.get("conditions")
    return any(
        each.get("type") in _ENDS and each.get("status") == "True"
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, dict)
    )


def _as_written(resource: Resource, item: Object) -> Object:
    metadata = {key: value for key, value in mapping(item.get("metadata")).items() if key not in _OF_SERVER}
    noted = {key: value for key, value in mapping(metadata.get("annotations")).items() if key != _APPLIED}
    metadata = {**metadata, **({"annotations": noted} if noted else {})}
    if not noted:
        metadata.pop("annotations", None)
    found = {**item, "metadata": metadata}
    if resource.kind == NODE:
        status = mapping(item.get("status"))
        found["status"] = {key: status[key] for key in _NODE_STATUS if key in status}
    elif resource.kind.role is not Role.QUOTAS:
        found.pop("status", None)
    if resource.kind == POD and isinstance(item.get("spec"), dict):
        found["spec"] = _pod_spec(item["spec"])
    return found


def _pod_spec(spec: Object) -> Object:
    found = {key: value for key, value in spec.items() if key not in _OF_ADMISSION}
    tolerated = found.get("tolerations")
    if isinstance(tolerated, list):
        kept = [each for each in tolerated if not _is_added(each)]
        found |= {"tolerations": kept}
        if not kept:
            del found["tolerations"]
    return found


def _is_added(toleration: object) -> bool:
    """Whether DefaultTolerationSeconds added it."""
    fields = mapping(toleration)
    return fields.get("key") in _EVICTIONS and fields.get("effect") == "NoExecute"


class UnreadableResource(NamedTuple):
    """A resource that may not be read."""

    resource: str
    """As kubectl names it."""
    reason: str


Progress = Callable[[str, int], None]
"""Called with what is read, and how many objects of it there are by now."""


class ClusterReader:
    """One look at a cluster."""

    def __init__(self, client: Client, progress: Progress = lambda what, number: None) -> None:
        self.client = client
        self.gaps: list[UnreadableResource] = []
        self.absent: list[Kind] = []
        """Kinds that are not installed."""
        self.present: set[Kind] = set()
        self._progress = progress

    @property
    def complete(self) -> bool:
        """Whether everything of the cluster was read: what is absent does not exist."""
        return not self.gaps and not self.client.namespace

    def objects(self, kinds: Iterable[Kind], system_namespaces: Iterable[str] = ()) -> Iterator[LiveObject]:
        """Objects as somebody wrote them. Raises ClusterError.

        Left out is what has ended, and what a controller makes of an object that is read itself; of pods
        that a controller of an unknown kind makes, the first stands for all.
        `system_namespaces`: where the configurations of schedulers are.
        """
        wanted = tuple(kinds)
        making = {kind.name for kind in wanted if kind.role is Role.WORKLOADS and kind != POD}
        seen: set[str] = set()
        for resource, item in self.items(wanted, system_namespaces):
            if resource.kind.role is Role.WORKLOADS:
                owner = controller(item)
                if is_finished(item) or (owner and owner.get("kind") in making):
                    continue
                if owner and str(owner.get("uid")) in seen:
                    continue
                if owner:
                    seen.add(str(owner.get("uid")))
            yield live_object(resource, item)

    def everywhere(self, kind: Kind) -> Iterator[Object]:
        """Every object of a kind in all namespaces, whichever are chosen. Raises ClusterError."""
        for resource in self.resources((kind,)):
            yield from self._list(resource, "")

    def server_version(self) -> str:
        """Release of the API server: v1.36.1. Empty: it does not tell. Raises ClusterError."""
        try:
            return text(self.client.get("/version", "the version of the server").get("gitVersion"))
        except (ForbiddenError, NotServedError):
            return ""

    def selected(self, resource: Resource, labels: str) -> Iterator[Object]:
        """Objects of all namespaces that a label selector finds. Raises ClusterError."""
        yield from self._list(resource, "", {"labelSelector": labels})

    def resources(self, kinds: Iterable[Kind]) -> list[Resource]:
        """Those of the kinds that the server has. Raises ClusterError."""
        return [*served(self.client, kinds)]

    def items(
        self, kinds: Iterable[Kind], system_namespaces: Iterable[str] = ()
    ) -> Iterator[tuple[Resource, Object]]:
        """Every object of these kinds as the server gives it. Raises ClusterError."""
        wanted = tuple(kinds)
        found = self.resources(wanted)
        self.present.update(resource.kind for resource in found)
        self.absent += [kind for kind in wanted if kind not in self.present]
        for resource in found:
            special = resource.kind.role is Role.CONFIGURATIONS
            for namespace in system_namespaces if special else (self.client.namespace,):
                yield from ((resource, item) for item in self._list(resource, namespace))

    def _list(
        self, resource: Resource, namespace: str, query: Mapping[str, str] | None = None
    ) -> Iterator[Object]:
        number = 0
        try:
            for page in self.client.pages(resource.path(namespace), resource.shown, query):
                number += len(page)
                self._progress(resource.shown, number)
                yield from page
        except ForbiddenError as error:
            self.gaps.append(UnreadableResource(resource.shown, error.message))
        except NotServedError:
            self.absent.append(resource.kind)
