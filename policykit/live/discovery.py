"""Which of the known kinds an API server serves, and at which paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.kube.podsets import table
from policykit.live.client import Client
from policykit.live.errors import NotServedError
from policykit.live.kinds import Kind
from policykit.namedtuple import NamedTuple


class Resource(NamedTuple):
    """A kind as a server serves it."""

    kind: Kind
    api_version: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "") -> str:
        """Where its objects are listed, all or those of one namespace."""
        root = "api" if "/" not in self.api_version else "apis"
        below = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"/{root}/{self.api_version}{below}/{self.plural}"

    @property
    def shown(self) -> str:
        """As kubectl names it: `jobs.batch.volcano.sh`."""
        return f"{self.plural}.{self.kind.group}" if self.kind.group else self.plural


def served(client: Client, wanted: Iterable[Kind]) -> Iterator[Resource]:
    """The kinds that the server has, in the order given. Raises ClusterError."""
    versions = _versions(client)
    for kind in wanted:
        for api_version in _known_first(kind, versions.get(kind.group, ())):
            found = resource_of(client, api_version, kind)
            if found is not None:
                yield found
                break


def resource_of(client: Client, api_version: str, kind: Kind) -> Resource | None:
    """A kind in exactly this version; None: the server does not serve it. Raises ClusterError."""
    found = _resources(client, api_version).get(kind.name)
    return Resource(kind, api_version, str(found["name"]), found.get("namespaced") is True) if found else None


def _versions(client: Client) -> dict[str, list[str]]:
    """API groups to the apiVersions that are served, the preferred one first."""
    found = {"": ["v1"]}
    groups = client.get("/apis", "the API groups").get("groups")
    for group in groups if isinstance(groups, list) else ():
        preferred = group.get("preferredVersion") or {}
        every = [preferred, *(each for each in group.get("versions", ()) if each != preferred)]
        found[str(group.get("name"))] = [str(each.get("groupVersion")) for each in every if each]
    return found


def _known_first(kind: Kind, versions: Iterable[str]) -> list[str]:
    """Versions whose pod templates policykit knows before others."""
    return sorted(versions, key=lambda each: not table.known(each, kind.name))


def _resources(client: Client, api_version: str) -> Mapping[str, Any]:
    """Kinds to their entries in the server's list, which is asked for once; subresources and what cannot be
    listed are left out."""
    if api_version not in client.resources:
        client.resources[api_version] = _read_resources(client, api_version)
    return client.resources[api_version]


def _read_resources(client: Client, api_version: str) -> Mapping[str, Any]:
    root = "apis" if "/" in api_version else "api"
    try:
        listed = client.get(f"/{root}/{api_version}", f"the resources of {api_version}").get("resources")
    except NotServedError:
        return {}
    return {
        str(each.get("kind")): each
        for each in (listed if isinstance(listed, list) else ())
        if "/" not in str(each.get("name", "/")) and "list" in (each.get("verbs") or ())
    }
