"""ResourceQuotas and LimitRanges of namespaces: written and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.kube.names import is_extended, is_hugepages
from policykit.kube.requests import amounts
from policykit.manifests.shape import mapping, mappings, text, texts
from policykit.model.pool import Amounts
from policykit.model.quantity import amount, amount_text
from policykit.model.queue import ContainerRange, Quota
from policykit.namedtuple import NamedTuple
from policykit.targets.import_values import unread_fields

QUOTA = "ResourceQuota"
_SCOPED = frozenset({"cpu", "memory"})
"""Resources, besides pods and names with a `/`, that a quota scoped to priorities may limit."""
_SCOPE = "PriorityClass"


class ResourceQuota(NamedTuple):
    """A ResourceQuota, with cpu in milli-cores and everything else in units."""

    namespace: str
    name: str
    hard: Mapping[str, int] = {}
    """`requests.cpu`, `requests.nvidia.com/gpu`, `pods`, ..."""
    priorities: tuple[str, ...] = ()
    """Counts only pods of these PriorityClasses; empty: all."""
    unread: tuple[str, ...] = ()
    """Fields of the object that this type does not have."""


def resource_quota(quota: Quota) -> ResourceQuota:
    """A quota of the policy, with the keys that the API server counts.

    It accepts limits of cards but never counts them, since what cannot be overcommitted is limited by its
    request. Source: `pkg/quota/v1/evaluator/core/pods.go` (v1.36).
    """
    hard = {f"requests.{r}": amount for r, amount in sorted(quota.requests.items()) if _kept(quota, r)}
    for resource, wanted in sorted(quota.limits.items()):
        counted = is_extended(resource) or is_hugepages(resource)
        if _kept(quota, resource):
            hard.setdefault(f"requests.{resource}" if counted else f"limits.{resource}", wanted)
    if quota.pods is not None:
        hard["pods"] = quota.pods
    return ResourceQuota(quota.namespace, quota.name, hard, quota.priorities)


def _kept(quota: Quota, resource: str) -> bool:
    return not _refused(quota, resource) and not _native(resource)


def _native(resource: str) -> bool:
    """Kubernetes' own names with a `/`, which include Koordinator's batch resources, are never counted."""
    return "/" in resource and not is_extended(resource)


def _refused(quota: Quota, resource: str) -> bool:
    return bool(quota.priorities) and resource not in _SCOPED and "/" not in resource


def uncounted(quota: Quota) -> Iterator[str]:
    """Notices about resources that no ResourceQuota can count, with the nearest alternative."""
    named = sorted({*quota.requests, *quota.limits})
    refused = [resource for resource in named if _refused(quota, resource)]
    native = [resource for resource in named if _native(resource)]
    if refused:
        yield (
            f"quota {quota.name}: a ResourceQuota scoped to priorities cannot limit {', '.join(refused)}; "
            "omitted. Nearest: another quota without priorities, which counts all pods"
        )
    if native:
        yield (
            f"quota {quota.name}: the API server never counts {', '.join(native)}; omitted. Nearest: the "
            "quota of the scheduler that allocates it"
        )


def write_quota(quota: ResourceQuota) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if quota.hard:
        spec["hard"] = {k: amount_text(_resource(k), v) for k, v in quota.hard.items()}
    if quota.priorities:
        expression = {"scopeName": _SCOPE, "operator": "In", "values": list(quota.priorities)}
        spec["scopeSelector"] = {"matchExpressions": [expression]}
    return {
        "apiVersion": "v1",
        "kind": QUOTA,
        "metadata": {"name": quota.name, "namespace": quota.namespace},
        "spec": spec,
    }


def read_quota(data: Mapping[str, Any]) -> ResourceQuota:
    """A ResourceQuota. Parts that this type cannot express are named in `unread`."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    stated = mapping(spec.get("hard"))
    hard = {k: a for k, v in stated.items() if (a := amount(_resource(str(k)), v)) is not None}
    expressions = mappings(mapping(spec.get("scopeSelector")).get("matchExpressions"))
    ours = [each for each in expressions if each.get("scopeName") == _SCOPE and each.get("operator") == "In"]
    unread = [*unread_fields(spec, ("hard", "scopeSelector")), *unread_fields(stated, tuple(hard), "hard")]
    if len(expressions) > 1 or len(ours) < len(expressions):
        unread.append("scopeSelector")
    return ResourceQuota(
        text(metadata.get("namespace")),
        text(metadata.get("name")),
        hard,
        texts(ours[0].get("values")) if ours else (),
        tuple(unread),
    )


def _resource(key: str) -> str:
    """The resource of a key: cpu of limits.cpu."""
    kind, dot, resource = key.partition(".")
    return resource if dot and kind in ("requests", "limits") else key


RANGE = "LimitRange"
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


def write_range(limits: LimitRange) -> dict[str, Any]:
    """The object. Raises PolicykitError for cards, and for other resources that it must not have."""
    item: dict[str, Any] = {"type": "Container"}
    for key, field in _FIELDS.items():
        stated: Amounts = getattr(limits.containers, field)
        if stated:
            item[key] = {name: _text(limits, name, stated[name]) for name in sorted(stated)}
    return {
        "apiVersion": "v1",
        "kind": RANGE,
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


def read_range(data: Mapping[str, Any]) -> LimitRange:
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
