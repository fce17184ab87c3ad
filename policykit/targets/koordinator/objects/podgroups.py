"""Gangs: the PodGroup object, and the annotations of pods without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.targets.koordinator import names
from policykit.targets.koordinator.objects.shapes import compact, number, parsed, present

API_VERSION = f"{names.GROUP_API}/v1alpha1"
KIND = "PodGroup"
STRICT, NON_STRICT = "Strict", "NonStrict"
MUST_GATHER, PREFER_GATHER = "MustGather", "PreferGather"

PLACES: Mapping[str, Path] = {
    "minimum": ("spec", "minMember"),
    "timeout": ("spec", "scheduleTimeoutSeconds"),
    "total": ("metadata", "annotations", names.TOTAL_NUMBER),
    "mode": ("metadata", "annotations", names.GANG_MODE),
    "match_policy": ("metadata", "annotations", names.MATCH_POLICY),
    "groups": ("metadata", "annotations", names.GANG_GROUPS),
    "gather": ("metadata", "annotations", names.TOPOLOGY_SPEC),
}
"""Where a PodGroup has each field of a gang."""


class Gather(NamedTuple):
    """Pods are placed within one value of a layer of the network (Koordinator 1.7 and newer)."""

    layer: str
    strategy: str = MUST_GATHER
    multiple: int | None = None
    """podCountMultiple: pods under one value in multiples of it (1.8 and newer)."""


class Gang(NamedTuple):
    """Pods that start together."""

    name: str
    namespace: str = ""
    minimum: int | None = None
    total: int | None = None
    """How many pods there will be; None: `minimum`."""
    mode: str = ""
    """Strict or NonStrict; empty: Strict."""
    timeout: int | None = None
    """Seconds that a pod with a place waits for the others; None: the scheduler's default."""
    match_policy: str = ""
    groups: tuple[str, ...] = ()
    """`namespace/name` of every gang that starts with this one, itself included."""
    gather: tuple[Gather, ...] = ()


def write(gang: Gang) -> dict[str, Any]:
    """A PodGroup."""
    annotations = _annotations(gang)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": gang.name, **present(namespace=gang.namespace, annotations=annotations)},
        "spec": present(minMember=gang.minimum, scheduleTimeoutSeconds=gang.timeout),
    }


def read(data: Mapping[str, Any]) -> Gang:
    """A PodGroup; what is absent or of another shape is ignored."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    return _read(
        mapping(metadata.get("annotations")),
        Gang(
            text(metadata.get("name")),
            text(metadata.get("namespace")),
            whole(spec.get("minMember")),
            timeout=whole(spec.get("scheduleTimeoutSeconds")),
        ),
    )


def write_pods(gang: Gang) -> dict[str, str]:
    """Annotations of every pod of a gang that has no PodGroup."""
    annotations = {names.GANG_NAME: gang.name}
    if gang.minimum is not None:
        annotations[names.MIN_AVAILABLE] = str(gang.minimum)
    if gang.timeout is not None:
        annotations[names.WAITING_TIME] = f"{gang.timeout}s"
    return annotations | _annotations(gang)


def _annotations(gang: Gang) -> dict[str, str]:
    """The annotations that pods and PodGroups have in common."""
    gathered = [
        present(layer=each.layer, strategy=each.strategy, podCountMultiple=each.multiple)
        for each in gang.gather
    ]
    stated = {
        names.TOTAL_NUMBER: "" if gang.total is None else str(gang.total),
        names.GANG_MODE: gang.mode,
        names.MATCH_POLICY: gang.match_policy,
        names.GANG_GROUPS: compact(list(gang.groups)) if gang.groups else "",
        names.TOPOLOGY_SPEC: compact({"gatherStrategy": gathered}) if gathered else "",
    }
    return {key: value for key, value in stated.items() if value}


def _read(annotations: Mapping[str, Any], gang: Gang) -> Gang:
    groups = parsed(annotations.get(names.GANG_GROUPS))
    spec = mapping(parsed(annotations.get(names.TOPOLOGY_SPEC)))
    return gang._replace(
        total=number(annotations.get(names.TOTAL_NUMBER)),
        mode=text(annotations.get(names.GANG_MODE)),
        match_policy=text(annotations.get(names.MATCH_POLICY)),
        groups=tuple(one for one in groups if isinstance(one, str)) if isinstance(groups, list) else (),
        gather=tuple(
            Gather(text(each.get("layer")), text(each.get("strategy")), whole(each.get("podCountMultiple")))
            for each in mappings(spec.get("gatherStrategy"))
        ),
    )
