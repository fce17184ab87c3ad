"""Tasks, roles, cliques and scaling groups with a minimum of their own, and their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from policykit.kube.instances import instance_sizes
from policykit.kube.podsets import Minimum, PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mappings, text, whole


class MinimumScope(NamedTuple):
    """The part of an object that a minimum counts, in one instance of the object."""

    name: str
    """`task worker`."""
    available: int | None
    """Pods or replicas of it; None: unknown."""
    unit: str = "pod"
    """pod, or replica if the minimum counts instances of several pods."""


def minimum_scope(manifest: Manifest, minimum: Minimum, pod_sets: Sequence[PodSet]) -> MinimumScope:
    """The part that a minimum counts."""
    if manifest.kind == "ModelServing":
        return _role_by_name(manifest, str(minimum.path[-1]))
    around = minimum.path[:-1]
    written = lookup(manifest.data, (*around, "replicas"))
    if minimum.part in ("clique", "group"):
        return _of_grove(manifest, minimum, 1 if written is None else whole(written))
    if sizes := instance_sizes(manifest):
        role = next((role for role in sizes if role == around[: len(role)]), ())
        size = sizes[role] if role else None
        # AIBrix makes no gang of roles whose instances are single pods.
        return MinimumScope(_named(manifest, "role", role), size if size and size > 1 else None)
    what = _named(manifest, minimum.part, around)
    if written is not None:
        return MinimumScope(what, whole(written))
    made = next((one for one in pod_sets if around and one.path[: len(around)] == around), None)
    return MinimumScope(what, made.replicas if made else None)


def _role_by_name(manifest: Manifest, name: str) -> MinimumScope:
    """A role of kthena, whose webhook refuses a minimum above the role's replicas (1.0)."""
    roles = mappings(lookup(manifest.data, ("spec", "template", "roles")))
    for role in roles:
        if role.get("name") == name:
            return MinimumScope(f"role {name}", whole(role.get("replicas", 1)), "replica")
    filled = any(not text(role.get("name")) or is_placeholder(role.get("name")) for role in roles)
    known = not filled and not is_placeholder(name)
    return MinimumScope(f"role {name}, which is not among the roles,", 0 if known else None, "replica")


def _of_grove(manifest: Manifest, minimum: Minimum, replicas: int | None) -> MinimumScope:
    """A clique or scaling group of Grove. Missing replicas count as 1, and so do 0 replicas of a clique."""
    around = minimum.path[:-1]
    if minimum.part == "group":
        return MinimumScope(_named(manifest, "group", around), replicas, "replica")
    nearest = around[:-1] if around[-1:] == ("spec",) else around
    return MinimumScope(_named(manifest, "clique", nearest), 1 if replicas == 0 else replicas)


def _named(manifest: Manifest, noun: str, place: Path) -> str:
    name = text(lookup(manifest.data, (*place, "name")))
    return f"{noun} {name}" if name else f"this {noun}"
