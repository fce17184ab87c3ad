"""Reads the objects of a cluster one page at a time, and keeps account of what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from policykit.live.client import Client, Object
from policykit.live.discovery import Resource, served
from policykit.live.errors import ForbiddenError, NotServedError
from policykit.live.kinds import POD, Kind, Role
from policykit.live.objects import LiveObject, controller, is_finished, live_object
from policykit.manifests.shape import text
from policykit.namedtuple import NamedTuple


class Gap(NamedTuple):
    """A resource that may not be read."""

    resource: str
    """As kubectl names it."""
    reason: str


Progress = Callable[[str, int], None]
"""Told what is read, and how many objects of it there are by now."""


class Reading:
    """One look at a cluster."""

    def __init__(self, client: Client, progress: Progress = lambda what, number: None) -> None:
        self.client = client
        self.gaps: list[Gap] = []
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
            self.gaps.append(Gap(resource.shown, error.message))
        except NotServedError:
            self.absent.append(resource.kind)
