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
"""A LimitRange on a card would hand cards to every container that requests none."""
_FIELDS = {"default": "default", "defaultRequest": "default_request", "min": "minimum", "max": "maximum"}
"""Key of the object to the field of `ContainerRange`."""


class LimitRange(NamedTuple):
    """The object, of its item of type Container."""

    namespace: str
    name: str
    containers: ContainerRange = ContainerRange()
    unsaid: tuple[str, ...] = ()
    """Fields read that have no place here."""


def with_defaults(containers: ContainerRange) -> ContainerRange:
    """As the API server stores it: stated in full, or `kubectl apply` changes it again each time.

    Source: `SetDefaults_LimitRangeItem` (Kubernetes v1.36).
    """
    default = {**containers.maximum, **containers.default}
    request = {**containers.minimum, **default, **containers.default_request}
    return containers._replace(default=default, default_request=request)


def without_defaults(containers: ContainerRange) -> ContainerRange:
    """As a policy states it: without what the API server adds."""
    added = with_defaults(containers._replace(default_request={})).default_request
    return containers._replace(
        default=_besides(containers.default, containers.maximum),
        default_request=_besides(containers.default_request, added),
    )


def _besides(stated: Amounts, added: Amounts) -> Amounts:
    return {name: amount for name, amount in stated.items() if added.get(name) != amount}


def write(limits: LimitRange) -> dict[str, Any]:
    """Raises PolicykitError for cards and whatever else a range of containers must not state."""
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
    """What is of another shape is left out, and named in `unsaid`."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    items = mappings(spec.get("limits"))
    item: Mapping[str, Any] = next((each for each in items if each.get("type") == "Container"), {})
    found = {field: amounts(item.get(key)) for key, field in _FIELDS.items()}
    unsaid = [f"limits of {text(each.get('type')) or 'no type'}" for each in items if each is not item]
    unsaid += unread_fields(item, ("type", *_FIELDS))
    for key, field in _FIELDS.items():
        unsaid += unread_fields(found[field], RESOURCES, key)
        found[field] = {name: found[field][name] for name in found[field] if name in RESOURCES}
    return LimitRange(
        text(metadata.get("namespace")), text(metadata.get("name")), ContainerRange(**found), tuple(unsaid)
    )
