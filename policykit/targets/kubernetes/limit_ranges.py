"""LimitRange: defaults and bounds of the containers in a namespace, never of cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.kube.requests import amounts
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import ContainerRange
from policykit.namedtuple import NamedTuple
from policykit.targets.reading import unread_fields

KIND = "LimitRange"
RESOURCES = ("cpu", "ephemeral-storage", "memory")
"""A LimitRange of a card would give cards to every container that requests none."""
_FIELDS = {"default": "default", "defaultRequest": "default_request", "min": "minimum", "max": "maximum"}
"""Key of an item of `limits` to the field of `ContainerRange`."""


class LimitRange(NamedTuple):
    """A LimitRange, as far as its item of type Container."""

    namespace: str
    name: str
    containers: ContainerRange = ContainerRange()
    unread: tuple[str, ...] = ()
    """Fields of the object that this type does not have."""


def with_defaults(containers: ContainerRange) -> ContainerRange:
    """A range with the API server's defaults: without them, each `kubectl apply` changes the object.

    Source: `SetDefaults_LimitRangeItem` (Kubernetes v1.36).
    """
    default = {**containers.maximum, **containers.default}
    request = {**containers.minimum, **default, **containers.default_request}
    return containers._replace(default=default, default_request=request)


def without_defaults(containers: ContainerRange) -> ContainerRange:
    """A range as a policy states it: without defaults of the API server."""
    added = with_defaults(containers._replace(default_request={})).default_request
    return containers._replace(
        default=_besides(containers.default, containers.maximum),
        default_request=_besides(containers.default_request, added),
    )


def _besides(stated: Amounts, added: Amounts) -> Amounts:
    return {name: amount for name, amount in stated.items() if added.get(name) != amount}


def write(limits: LimitRange) -> dict[str, Any]:
    """The object. Raises PolicykitError for cards, and for other resources that it must not have."""
    item: dict[str, Any] = {"type": "Container"}
    for key, field in _FIELDS.items():
        stated: Amounts = getattr(limits.containers, field)
        if stated:
            item[key] = {name: _text(limits, name, stated[name]) for name in sorted(stated)}
    return {
        "apiVersion": "v1",
        "kind": KIND,
        "metadata": {"name": limits.name, "namespace": limits.namespace},
        "spec": {"limits": [item]},
    }


def _text(limits: LimitRange, resource: str, wanted: int) -> str:
    if resource not in RESOURCES:
        raise PolicykitError(
            f"quota {limits.name}: containers states {resource}, and a LimitRange would give it to every "
            "container that requests none",
            "limit it by the quota itself: requests",
            path=("quotas", limits.name, "containers"),
        )
    return amount_text(resource, wanted)


def read(data: Mapping[str, Any]) -> LimitRange:
    """A LimitRange. Parts that this type cannot express are named in `unread`."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    items = mappings(spec.get("limits"))
    item: Mapping[str, Any] = next((each for each in items if each.get("type") == "Container"), {})
    found = {field: amounts(item.get(key)) for key, field in _FIELDS.items()}
    unread = [f"limits of {text(each.get('type')) or 'no type'}" for each in items if each is not item]
    unread += unread_fields(item, ("type", *_FIELDS))
    for key, field in _FIELDS.items():
        unread += unread_fields(found[field], RESOURCES, key)
        found[field] = {name: found[field][name] for name in found[field] if name in RESOURCES}
    return LimitRange(
        text(metadata.get("namespace")), text(metadata.get("name")), ContainerRange(**found), tuple(unread)
    )
