"""HyperNode objects: topology.volcano.sh/v1alpha1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping, mappings, pairs, text, texts, whole

API_VERSION = "topology.volcano.sh/v1alpha1"


class Requirement(NamedTuple):
    """A requirement on a node label."""

    key: str
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: tuple[str, ...] = ()


class Member(NamedTuple):
    """What belongs to a HyperNode: a HyperNode by its name, or nodes. One of the selectors is set.

    `labels` and `requirements` are one selector and hold together; labels select nodes only.
    """

    kind: str
    """Node or HyperNode."""
    name: str = ""
    pattern: str = ""
    """Regular expression over node names."""
    labels: Mapping[str, str] = {}
    requirements: tuple[Requirement, ...] = ()


class HyperNode(NamedTuple):
    """Nodes that stand together at a tier of the topology."""

    name: str
    tier: int
    """The lower the closer."""
    members: tuple[Member, ...]
    tier_name: str = ""
    """Since 1.14; one tier has one name."""


def write(hyper_node: HyperNode) -> dict[str, Any]:
    """A HyperNode as Volcano's object."""
    spec: dict[str, Any] = {"tier": hyper_node.tier}
    if hyper_node.tier_name:
        spec["tierName"] = hyper_node.tier_name
    spec["members"] = [_member(member) for member in hyper_node.members]
    return {
        "apiVersion": API_VERSION,
        "kind": "HyperNode",
        "metadata": {"name": hyper_node.name},
        "spec": spec,
    }


def _member(member: Member) -> dict[str, Any]:
    written: dict[str, Any] = {"type": member.kind}
    if member.name:
        written["selector"] = {"exactMatch": {"name": member.name}}
    elif member.pattern:
        written["selector"] = {"regexMatch": {"pattern": member.pattern}}
    elif member.labels or member.requirements:
        selector: dict[str, Any] = {}
        if member.labels:
            selector["matchLabels"] = dict(sorted(member.labels.items()))
        if member.requirements:
            selector["matchExpressions"] = [_requirement(each) for each in member.requirements]
        written["selector"] = {"labelMatch": selector}
    return written


def _requirement(each: Requirement) -> dict[str, Any]:
    values = {"values": list(each.values)} if each.values else {}
    return {"key": each.key, "operator": each.operator, **values}


def read(data: Mapping[str, Any]) -> HyperNode:
    """A HyperNode object; what is absent or of another shape is empty, the tier 0."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    return HyperNode(
        text(metadata.get("name")),
        whole(spec.get("tier")) or 0,
        tuple(_read_member(member) for member in mappings(spec.get("members"))),
        text(spec.get("tierName")),
    )


def _read_member(data: Mapping[str, Any]) -> Member:
    selector = mapping(data.get("selector"))
    by_label = mapping(selector.get("labelMatch"))
    return Member(
        text(data.get("type")),
        text(mapping(selector.get("exactMatch")).get("name")),
        text(mapping(selector.get("regexMatch")).get("pattern")),
        pairs(by_label.get("matchLabels")),
        tuple(
            Requirement(text(each.get("key")), text(each.get("operator")), texts(each.get("values")))
            for each in mappings(by_label.get("matchExpressions"))
        ),
    )
