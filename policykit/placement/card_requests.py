"""Which cards a pod set requests, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.catalogue.resources import is_card
from policykit.kube import requests
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.memoize import memoize_beside, memoize_last_call
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.quantity import parse

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Amounts


def is_card_resource(resource: str, cluster: Cluster | None) -> bool:
    """Whether a resource is a card: listed in the catalogue, or offered by a pool."""
    return _is_card_resource(cluster, resource)


@memoize_beside
def _is_card_resource(cluster: Cluster | None, resource: str) -> bool:
    if is_card(resource):
        return True
    return cluster is not None and any(resource in pool.resources for pool in cluster.pools)


@memoize_last_call
def card_resources(pod_set: PodSet, cluster: Cluster | None) -> tuple[str, ...]:
    """Card resources that one pod requests (amount above 0), sorted."""
    return card_resources_in(requests.effective(pod_set.spec, pod_set.devices), cluster)


def card_resources_in(amounts: Amounts, cluster: Cluster | None) -> tuple[str, ...]:
    """The card resources of a request (amount above 0), sorted."""
    return tuple(sorted([r for r, amount in amounts.items() if amount > 0 and _is_card_resource(cluster, r)]))


def has_unknown_amounts(pod_set: PodSet, cluster: Cluster | None) -> bool:
    """Whether it requests, or may request, cards whose name or amount is unknown.

    Either of them is a placeholder, has the wrong type or is absent.
    """
    if any(
        device.amount is None and is_card_resource(device.resource, cluster) for device in pod_set.devices
    ):
        return True
    for _, _, container in requests.containers(pod_set.spec):
        for side in ("limits", "requests"):
            amounts = lookup(container, ("resources", side))
            for name, amount in amounts.items() if isinstance(amounts, dict) else ():
                if is_placeholder(name):
                    return True
                if isinstance(name, str) and _is_card_resource(cluster, name) and parse(amount) is None:
                    return True
    return False


def request_path(pod_set: PodSet, resource: str) -> Path:
    """Path of the largest request for a resource, in a container or a device request."""
    largest, path = -1, pod_set.path
    for field, position, container in requests.containers(pod_set.spec):
        amount = requests.requested(container).get(resource, -1)
        if amount > largest:
            limits = container["resources"].get("limits")
            side = "limits" if isinstance(limits, dict) and resource in limits else "requests"
            largest, path = amount, pod_set.place(field, position, "resources", side, resource)
    for device in pod_set.devices:
        if device.resource == resource and (device.amount or 0) > largest:
            largest, path = device.amount or 0, device.path
    return path


def rename_resource(data: object, resources: Path, old: str, new: str) -> tuple[Patch, ...]:
    """Patches that rename a resource in the limits and requests of a container.

    `resources` is the path of the container's field of that name; empty if it does not contain `old`,
    or already contains `new`.
    """
    sides = [(*resources, side) for side in ("limits", "requests")]
    amounts = [(path, found) for path in sides if isinstance(found := lookup(data, path), dict)]
    if any(new in found for _, found in amounts):
        return ()
    return tuple(Patch("rename", (*path, old), new) for path, found in amounts if old in found)
