"""What a policy of an earlier version of policykit left out, written down as it is understood today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.patch import Patch
from policykit.model.cluster import Cluster
from policykit.targets import DEFAULT_TARGET, target_of

_ROLES = {"training": "training", "inference": "serving", "serving": "serving"}
"""Names of workload kinds that implied a role before policies could state one."""


def migration(data: Mapping[str, Any], cluster: Cluster) -> tuple[Patch, ...]:
    """Changes to a policy file; none for a policy that states everything. They do not change its meaning.

    `data`: the file, without what it extends.
    """
    return (*_releases(cluster), *_roles(data, cluster))


def _releases(cluster: Cluster) -> Iterator[Patch]:
    """The newest known release, which a policy without one is judged by."""
    for name, settings in cluster.targets.items():
        target = target_of(name)
        if settings.version or target is None or target.releases is None:
            continue
        newest = target.releases.load().newest
        if name == DEFAULT_TARGET:
            yield Patch("add", (name,), f"{newest.major}.{newest.minor}")
        else:
            yield Patch("add", ("targets", name, "version"), str(newest))


def _roles(data: Mapping[str, Any], cluster: Cluster) -> Iterator[Patch]:
    written = data.get("workloads")
    for name, kind in cluster.workloads.items():
        own = written.get(name) if isinstance(written, Mapping) else None
        if not kind.role and name in _ROLES and isinstance(own, Mapping):
            yield Patch("add", ("workloads", name, "role"), _ROLES[name])
