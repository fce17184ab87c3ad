"""ElasticQuota objects: scheduling.sigs.k8s.io/v1alpha1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.requests import amounts
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, texts
from policykit.model.pool import Amounts
from policykit.model.quantity import resource_list
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.objects.values import compact, parsed, present

API_VERSION = "scheduling.sigs.k8s.io/v1alpha1"
KIND = "ElasticQuota"
ROOT = "koordinator-root-quota"
BUILT_IN = (ROOT, "koordinator-system-quota", "koordinator-default-quota")
"""Quotas that Koordinator creates itself."""

PREFIX = "quota.scheduling.koordinator.sh/"
_PARENT, _IS_PARENT = f"{PREFIX}parent", f"{PREFIX}is-parent"
_LENDS, _TREE = f"{PREFIX}allow-lent-resource", f"{PREFIX}tree-id"
_WEIGHT, _NAMESPACES = f"{PREFIX}shared-weight", f"{PREFIX}namespaces"
_TENANTS = "policykit.io/tenants"
"""Annotation of policykit: the tenants of the namespaces."""
_STATED = "policykit.io/stated"
"""Annotation of policykit: the resources that the queue itself states."""

PLACES: Mapping[str, Path] = {
    "minimum": ("spec", "min"),
    "maximum": ("spec", "max"),
    "parent": ("metadata", "labels", _PARENT),
    "is_parent": ("metadata", "labels", _IS_PARENT),
    "lends": ("metadata", "labels", _LENDS),
    "weight": ("metadata", "annotations", _WEIGHT),
    "namespaces": ("metadata", "annotations", _NAMESPACES),
}
"""Where an ElasticQuota has each of these fields."""


class QueueResources(NamedTuple):
    """Resources that the policy states for a queue. Its quota has those of the whole tree."""

    guarantee: tuple[str, ...] = ()
    deserved: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()


class ElasticQuota(NamedTuple):
    """An ElasticQuota."""

    name: str
    namespace: str = ""
    parent: str = ""
    """Empty: the built-in root."""
    is_parent: bool = False
    minimum: Amounts = {}
    maximum: Amounts = {}
    """Resources that are not listed are unlimited."""
    lends: bool = True
    """Whether others may use the unused part of its minimum."""
    weight: Amounts | None = None
    """Share of spare capacity, per resource; None: as `maximum`."""
    namespaces: tuple[str, ...] = ()
    """Namespaces whose pods are charged to it if they name no quota."""
    tenants: Mapping[str, tuple[str, ...]] = {}
    """Tenant to its namespaces, for reading a policy back."""
    tree: str = ""
    stated: QueueResources | None = None
    """None: it was not generated from a queue."""


def write(quota: ElasticQuota) -> dict[str, Any]:
    """The object, including the webhook's defaults, since the webhook may be disabled."""
    labels = {
        _PARENT: quota.parent or ROOT,
        _IS_PARENT: _flag(quota.is_parent),
        _LENDS: _flag(quota.lends),
        **({_TREE: quota.tree} if quota.tree else {}),
    }
    annotations: dict[str, str] = {}
    if quota.weight is not None:
        annotations[_WEIGHT] = compact(resource_list(quota.weight))
    if quota.namespaces:
        annotations[_NAMESPACES] = compact(list(quota.namespaces))
    if quota.tenants:
        annotations[_TENANTS] = compact({name: list(of) for name, of in quota.tenants.items()})
    if quota.stated is not None:
        annotations[_STATED] = compact({name: list(of) for name, of in quota.stated._asdict().items() if of})
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": quota.name,
            **present(namespace=quota.namespace),
            "labels": labels,
            **present(annotations=annotations),
        },
        "spec": {"min": resource_list(quota.minimum), "max": resource_list(quota.maximum)},
    }


def read(data: Mapping[str, Any]) -> ElasticQuota:
    """An ElasticQuota. A field that is missing or has the wrong type gets Koordinator's default."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    labels, annotations = mapping(metadata.get("labels")), mapping(metadata.get("annotations"))
    parent = text(labels.get(_PARENT))
    weight = parsed(annotations.get(_WEIGHT))
    tenants = mapping(parsed(annotations.get(_TENANTS)))
    return ElasticQuota(
        text(metadata.get("name")),
        text(metadata.get("namespace")),
        "" if parent == ROOT else parent,
        labels.get(_IS_PARENT) == "true",
        amounts(spec.get("min")),
        amounts(spec.get("max")),
        labels.get(_LENDS) != "false",
        amounts(weight) if isinstance(weight, dict) else None,
        texts(parsed(annotations.get(_NAMESPACES))),
        {name: texts(of) for name, of in tenants.items()},
        text(labels.get(_TREE)),
        _stated(parsed(annotations.get(_STATED))),
    )


def _stated(data: object) -> QueueResources | None:
    if not isinstance(data, dict):
        return None
    return QueueResources(*(texts(data.get(name)) for name in QueueResources._fields))


def _flag(value: bool) -> str:
    return "true" if value else "false"
