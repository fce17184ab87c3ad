"""ClusterColocationProfile objects: what admission sets on pods, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, pairs, text, texts, whole
from policykit.targets.koordinator.objects.shapes import present

API_VERSION = "config.koordinator.sh/v1alpha1"
KIND = "ClusterColocationProfile"
QOS_CLASSES = ("LSE", "LSR", "LS", "BE", "SYSTEM")
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label that every namespace has: its name."""

PLACES: Mapping[str, Path] = {
    "labels": ("spec", "selector", "matchLabels"),
    "namespaces": ("spec", "namespaceSelector", "matchExpressions"),
    "qos": ("spec", "qosClass"),
    "priority_class": ("spec", "priorityClassName"),
    "priority": ("spec", "koordinatorPriority"),
    "scheduler": ("spec", "schedulerName"),
}
"""Where a profile has each of these fields."""

_READ = frozenset(path[1] for path in PLACES.values())


class Profile(NamedTuple):
    """Which pods it selects, and the class they get."""

    name: str
    labels: Mapping[str, str] = {}
    """Of the pods; empty: any."""
    namespaces: tuple[str, ...] = ()
    """Names; empty: any."""
    qos: str = ""
    priority_class: str = ""
    priority: int | None = None
    """Order among pods of one class."""
    scheduler: str = ""
    unread: tuple[str, ...] = ()
    """Fields of its spec that this form cannot hold."""


def write(profile: Profile) -> dict[str, Any]:
    """The object, without the fields in `unread`."""
    namespaces = {"key": NAMESPACE_NAME, "operator": "In", "values": list(profile.namespaces)}
    spec = present(
        namespaceSelector={"matchExpressions": [namespaces]} if profile.namespaces else {},
        selector={"matchLabels": dict(profile.labels)} if profile.labels else {},
        qosClass=profile.qos,
        priorityClassName=profile.priority_class,
        koordinatorPriority=profile.priority,
        schedulerName=profile.scheduler,
    )
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": profile.name}, "spec": spec}


def read(data: Mapping[str, Any]) -> Profile:
    """A ClusterColocationProfile; what is absent or of another shape is ignored."""
    spec = mapping(data.get("spec"))
    selector, of_namespaces = mapping(spec.get("selector")), mapping(spec.get("namespaceSelector"))
    unread = {field for field in spec if isinstance(field, str) and field not in _READ}
    if selector.keys() - {"matchLabels"}:
        unread.add("selector")
    namespaces = _namespaces(of_namespaces)
    if of_namespaces and not namespaces:
        unread.add("namespaceSelector")
    return Profile(
        text(mapping(data.get("metadata")).get("name")),
        pairs(selector.get("matchLabels")),
        namespaces,
        text(spec.get("qosClass")),
        text(spec.get("priorityClassName")),
        whole(spec.get("koordinatorPriority")),
        text(spec.get("schedulerName")),
        tuple(sorted(unread)),
    )


def _namespaces(selector: Mapping[str, Any]) -> tuple[str, ...]:
    """Names that a selector of namespaces lists; empty: it selects by other criteria."""
    listed = mappings(selector.get("matchExpressions"))
    if len(listed) != 1 or selector.get("matchLabels"):
        return ()
    only = listed[0]
    by_name = only.get("key") == NAMESPACE_NAME and only.get("operator") == "In"
    return texts(only.get("values")) if by_name else ()
