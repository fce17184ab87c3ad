"""Resource requests of a pod: containers, sidecars, init containers, pod level, overhead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.names import is_hugepages
from policykit.manifests.memoize import memoize_last
from policykit.manifests.shape import mapping
from policykit.model.pool import Amounts
from policykit.model.quantity import amount

if TYPE_CHECKING:
    from policykit.kube.podsets.podset import DeviceRequest

Container = Mapping[str, Any]

FIELDS = frozenset({"claims", "limits", "requests"})
"""What the resources of a container may state."""
_POD_LEVEL = frozenset({"cpu", "memory"})


@memoize_last
def containers(spec: Mapping[str, Any]) -> tuple[tuple[str, int, Container], ...]:
    """(list name, index, container) of containers, then initContainers; other values are skipped."""
    found = []
    for name in ("containers", "initContainers"):
        listed = spec.get(name)
        if isinstance(listed, list):
            found += [(name, index, each) for index, each in enumerate(listed) if isinstance(each, dict)]
    return tuple(found)


def amounts(raw: object) -> dict[str, int]:
    """A resource list: cpu in milli-cores, else units; invalid and negative quantities are left out."""
    found: dict[str, int] = {}
    if not isinstance(raw, dict):
        return found
    for resource, value in raw.items():
        counted = amount(resource, value)
        if counted is not None and counted >= 0:
            found[resource] = counted
    return found


@memoize_last
def requested(container: Container) -> Amounts:
    """A container's requests; per resource a missing one is its limit, as pod creation defaults it."""
    resources = mapping(container.get("resources"))
    return {**amounts(resources.get("limits")), **amounts(resources.get("requests"))}


def effective(spec: Mapping[str, Any], devices: Iterable[DeviceRequest] = ()) -> Amounts:
    """What the NodeResourcesFit filter requires of a node: cpu in milli-cores, else units.

    `devices` run beside the containers. Resources asked for with 0 are listed. Source:
    component-helpers `resource.PodRequests` (v0.36), after the defaults of pod creation.
    """
    return _effective(spec, devices) if devices else _effective_alone(spec)


def _effective(spec: Mapping[str, Any], devices: Iterable[DeviceRequest] = ()) -> Amounts:
    total = _aggregate(spec, requested, devices)
    total.update(_pod_level(spec, total))
    return _add(total, amounts(spec.get("overhead")))


_effective_alone: Callable[[Mapping[str, Any]], Amounts] = memoize_last(_effective)
"""Of pods without other devices: nearly all."""


def below_containers(spec: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Pod-level requests that are less than what the containers request: both amounts.

    Source: `validatePodResourceConsistency` (kubernetes v1.36).
    """
    stated = amounts(mapping(spec.get("resources")).get("requests"))
    if not stated:
        return {}
    total = _aggregate(spec, requested)
    return {name: (there, total[name]) for name, there in stated.items() if there < total.get(name, 0)}


def _aggregate(
    spec: Mapping[str, Any],
    request: Callable[[Container], Amounts],
    devices: Iterable[DeviceRequest] = (),
) -> dict[str, int]:
    """For each resource the larger of what runs together and what any init container needs."""
    running: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    highest: dict[str, int] = {}
    for device in devices:
        if device.amount is not None:
            _add(running, {device.resource: device.amount})
    for name, _, container in containers(spec):
        asked = request(container)
        if name == "containers":
            _add(running, asked)
        elif container.get("restartPolicy") == "Always":
            _add(sidecars, asked)
        else:
            _raise(highest, _add(dict(asked), sidecars))
    return _raise(_add(running, sidecars), highest)


def _pod_level(spec: Mapping[str, Any], aggregate: Amounts) -> dict[str, int]:
    """Pod-level requests; one missing beside a pod limit is the containers' sum, else that limit."""
    resources = mapping(spec.get("resources"))
    stated = amounts(resources.get("requests"))
    for resource, limit in amounts(resources.get("limits")).items():
        if resource not in stated:
            summed = aggregate.get(resource, limit)
            stated[resource] = limit if is_hugepages(resource) else summed
    return {r: counted for r, counted in stated.items() if r in _POD_LEVEL or is_hugepages(r)}


def _add(total: dict[str, int], more: Amounts) -> dict[str, int]:
    for resource, counted in more.items():
        total[resource] = total.get(resource, 0) + counted
    return total


def _raise(total: dict[str, int], floor: Amounts) -> dict[str, int]:
    for resource, counted in floor.items():
        total[resource] = max(total.get(resource, 0), counted)
    return total
