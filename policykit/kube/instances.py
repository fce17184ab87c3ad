"""Serving roles: instances are independent, and only the pods of one instance wait for each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, whole

_ROLES: Mapping[tuple[str, str], Path] = {
    ("orchestration.aibrix.ai", "RoleSet"): ("spec", "roles"),
    ("orchestration.aibrix.ai", "StormService"): ("spec", "template", "spec", "roles"),
    ("workloads.x-k8s.io", "RoleBasedGroup"): ("spec", "roles"),
}
"""(API group, kind) to the list of its roles."""


def instance_sizes(manifest: Manifest) -> dict[Path, int | None] | None:
    """Pods of one instance of each role, by the role's path; None: unknown size.

    None for a kind without such roles. Sources: AIBrix 0.6 `podGroupSize`, RoleBasedGroup 0.7 `size`
    of its patterns (v1alpha2) and of `leaderWorkerSet` and `components` (v1alpha1).
    """
    place = _ROLES.get((manifest.group, manifest.kind))
    if place is None:
        return None
    roles = lookup(manifest.data, place)
    listed = enumerate(roles if isinstance(roles, list) else ())
    return {(*place, number): _size(role) for number, role in listed if isinstance(role, Mapping)}


def _size(role: Mapping[str, Any]) -> int | None:
    parts = [*mappings(mapping(role.get("customComponentsPattern")).get("components"))]
    parts = parts or [*mappings(role.get("components"))]
    if parts:
        sizes = [whole(part.get("size", 1)) for part in parts]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    for field in ("leaderWorkerPattern", "leaderWorkerSet"):
        if role.get(field) is not None:
            return whole(mapping(role[field]).get("size", 1))
    return whole(role.get("podGroupSize", 1))
