"""What a run assumes because a policy does not say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policykit.linter.workspace import Workspace
    from policykit.model.cluster import Cluster


def assumed_releases(workspace: Workspace) -> Iterator[str]:
    """One line for each policy that has a system without stating its release."""
    lines = (_line(setting.cluster) for setting in workspace.settings if setting.cluster)
    yield from dict.fromkeys(line for line in lines if line)


def _line(cluster: Cluster) -> str:
    from policykit.targets import target_of

    found = []
    for name, settings in cluster.targets.items():
        target = target_of(name)
        if not settings.version and target and target.releases and not target.always:
            found.append((name, target.releases.load()))
    if not found:
        return ""
    names = ", ".join(f"targets.{name}.version" for name, _ in found)
    versions = ", ".join(f"{known.title} {known.newest}" for _, known in found)
    return f"policykit: {cluster.source}: {names} not set: the newest known release is assumed ({versions})"
