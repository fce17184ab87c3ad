"""What `gen` writes, compared with the objects of a cluster: the server adds defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.live.client import ForbiddenError, NotServedError, Object
from policykit.live.kinds import Kind, Resource, Role, resource_of
from policykit.live.objects import ClusterReader, UnreadableResource, controller, live_object
from policykit.manifests.shape import mapping, text
from policykit.manifests.writer import dump
from policykit.model.quantity import parse
from policykit.namedtuple import NamedTuple

_NAMES = ("name", "key", "kind")
"""What tells the items of a list apart."""


def part_of(there: Any, wanted: Any) -> Any:
    """What an object in the cluster has of the fields that `wanted` states: equal to it if nothing differs.

    Amounts that are written differently are equal; what is empty may be absent.
    """
    if isinstance(wanted, Mapping) and isinstance(there, Mapping):
        found = {key: part_of(there.get(key), value) for key, value in wanted.items()}
        return {key: value for key, value in found.items() if value is not None or wanted[key] is None}
    if isinstance(wanted, list) and isinstance(there, list):
        return _list(there, wanted)
    return wanted if _same(there, wanted) else there


def _same(there: Any, wanted: Any) -> bool:
    if there is None or wanted is None:
        return not there and not wanted
    if isinstance(there, bool) or isinstance(wanted, bool):
        return there is wanted
    if there == wanted:
        return True
    if not isinstance(there, (str, int)) or not isinstance(wanted, (str, int)):
        return False
    one, other = parse(there), parse(wanted)
    return one is not None and other is not None and one.nanos == other.nanos


def _list(there: list[Any], wanted: list[Any]) -> list[Any]:
    """Item by item; items with names are compared with those of their names."""
    key = next((name for name in _NAMES if wanted and all(name in mapping(each) for each in wanted)), "")
    if not key:
        pairs = zip(there, [*wanted, *[None] * len(there)], strict=False)
        return [part_of(one, other) if other is not None else one for one, other in pairs]
    named = {mapping(each).get(key): each for each in there}
    found = [part_of(named.pop(each[key]), each) for each in wanted if each[key] in named]
    return [*found, *named.values()]


_SECRET = "Secret"


class Comparison(NamedTuple):
    """A generated object and what the cluster has of it."""

    name: str
    """`PriorityClass urgent`."""
    wanted: str
    """As YAML."""
    there: str
    """The same fields in the cluster; empty: it is not there."""


class OrphanedObject(NamedTuple):
    """An object that an earlier generation of a policy wrote, and the present one does not."""

    name: str
    there: str
    """As YAML."""


def comparisons(read: ClusterReader, generated: Iterable[Object]) -> Iterator[Comparison]:
    """Each generated object with that of the cluster. Raises ClusterError.

    What may not be read is added to the gaps; an object of a kind that is not installed is not there.
    """
    for data in generated:
        kind, api_version = text(data.get("kind")), text(data.get("apiVersion"))
        if not kind or kind == _SECRET:
            continue
        group = api_version.rpartition("/")[0]
        named = Kind(group, kind, Role.QUOTAS)
        resource = resource_of(read.client, api_version, named)
        found = _there(read, resource, mapping(data.get("metadata"))) if resource else {}
        if found is None:
            continue
        metadata = mapping(data.get("metadata"))
        name, namespace = text(metadata.get("name")), text(metadata.get("namespace"))
        shown = f"{named.shown} {namespace}/{name}" if namespace else f"{named.shown} {name}"
        yield Comparison(shown, dump(data), dump(part_of(found, data)) if found else "")


def _there(read: ClusterReader, resource: Resource, metadata: Mapping[str, Any]) -> Object | None:
    """The object as written; empty: it is not there; None: it may not be read."""
    name = text(metadata.get("name"))
    path = f"{resource.path(text(metadata.get('namespace')) or 'default')}/{name}"
    try:
        return live_object(resource, read.client.get(path, resource.shown)).data
    except NotServedError:
        return {}
    except ForbiddenError as error:
        gap = UnreadableResource(resource.shown, error.message)
        read.gaps += [gap] if all(each.resource != gap.resource for each in read.gaps) else []
        return None


def abandoned(
    read: ClusterReader, selector: str, kinds: Iterable[Kind], generated: Iterable[Object]
) -> Iterator[OrphanedObject]:
    """Objects of all namespaces that a label selector finds and the policy does not generate.

    Raises ClusterError. What may not be read is added to the gaps.
    """
    kept = {_identity(data) for data in generated}
    for resource in read.resources(kinds):
        for item in read.selected(resource, selector):
            found = live_object(resource, item)
            # A copy that a controller made of an object may have its labels.
            if kept.isdisjoint(_identities(found.data)) and not controller(item):
                yield OrphanedObject(found.name, dump(_as_generated(found.data)))


def _identity(data: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Group, kind, namespace and name; the version of the API is a view of the same object."""
    metadata = mapping(data.get("metadata"))
    group = text(data.get("apiVersion")).rpartition("/")[0]
    kind, namespace = text(data.get("kind")), text(metadata.get("namespace"))
    return group, kind, namespace, text(metadata.get("name"))


def _identities(data: Mapping[str, Any]) -> set[tuple[str, str, str, str]]:
    """Of an object in the cluster: one in the namespace default may be generated without a namespace."""
    group, kind, namespace, name = _identity(data)
    return {(group, kind, namespace, name), (group, kind, "" if namespace == "default" else namespace, name)}


def _as_generated(data: Object) -> Object:
    """Without status, which controllers write."""
    return {key: value for key, value in data.items() if key != "status"}
