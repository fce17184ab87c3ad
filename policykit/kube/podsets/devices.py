"""Devices that a kind requests outside the containers' resources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from policykit.kube.podsets.facts import Template
from policykit.kube.podsets.podset import DeviceRequest
from policykit.kube.podsets.rules import textual
from policykit.kube.podsets.walk import Binding, matches, value
from policykit.manifests.path import Path

_DEFAULT_GPU = "nvidia.com/gpu"
_IN_SPEC = ("containers", "initContainers")


def requested(data: Any, template: Template, binding: Binding) -> tuple[DeviceRequest, ...]:
    """Every device request of one match of the template."""
    if not template.devices:
        return ()
    found: list[DeviceRequest] = []
    for form, where in template.devices:
        # These are already counted in the spec.
        if len(where) > len(template.path) and where[len(template.path)] in _IN_SPEC:
            continue
        for path in matches(data, binding.bound(where)):
            found.extend(_FORMS[form](value(data, path), path))
    return tuple(found)


def _resources(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """requests and limits by resource name; for devices both are equal, or only the limit is set."""
    seen: set[str] = set()
    for part in ("requests", "limits", None):
        listed = value(found, (part,)) if part else found
        where = (*path, part) if part else path
        for resource, amount in listed.items() if isinstance(listed, dict) else ():
            if isinstance(resource, str) and "/" in resource and resource not in seen:
                seen.add(resource)
                yield DeviceRequest((*where, resource), resource, textual(amount))


def _name_and_quantity(found: Any, path: Path) -> Iterator[DeviceRequest]:
    name = value(found, ("name",))
    if isinstance(name, str) and name:
        yield DeviceRequest((*path, "quantity"), name, textual(value(found, ("quantity",))))


def _gpu_short(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """requests and limits with gpu, gpuType and custom (Dynamo v1alpha1)."""
    seen: set[str] = set()
    for part in ("requests", "limits"):
        listed = value(found, (part,))
        named = value(listed, ("gpuType",))
        resource = named if isinstance(named, str) and named else _DEFAULT_GPU
        amount = value(listed, ("gpu",))
        if amount is not None and resource not in seen:
            seen.add(resource)
            yield DeviceRequest((*path, part, "gpu"), resource, textual(amount))
        custom = value(listed, ("custom",))
        for name, amount in custom.items() if isinstance(custom, dict) else ():
            if isinstance(name, str) and "/" in name and name not in seen:
                seen.add(name)
                yield DeviceRequest((*path, part, "custom", name), name, textual(amount))


def _gpu_and_type(found: Any, path: Path) -> Iterator[DeviceRequest]:
    amount, named = value(found, ("gpu",)), value(found, ("gpuType",))
    if amount is not None:
        resource = named if isinstance(named, str) and named else _DEFAULT_GPU
        yield DeviceRequest((*path, "gpu"), resource, textual(amount))


_FORMS: dict[str, Callable[[Any, Path], Iterator[DeviceRequest]]] = {
    "resources": _resources,
    "nameAndQuantity": _name_and_quantity,
    "gpuShort": _gpu_short,
    "gpuAndType": _gpu_and_type,
}
