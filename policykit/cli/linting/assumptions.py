"""What a run assumes because a policy does not say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policykit.linter.workspace import Workspace
    from policykit.model.cluster import Cluster


def assumed_releases(workspace: Workspace) -> Iterator[str]:
    """For each policy a line about Kubernetes and one about its other systems, where no release is stated."""
    lines = (line for setting in workspace.settings if setting.cluster for line in _lines(setting.cluster))
    yield from dict.fromkeys(lines)


def _lines(cluster: Cluster) -> Iterator[str]:
    from policykit.targets import DEFAULT_TARGET, target_of

    default = target_of(DEFAULT_TARGET)
    if not cluster.kubernetes_version and default and default.releases:
        known = default.releases.load()
        yield (
            f"policykit: {cluster.source}: kubernetes not set: only what every release from {known.range} "
            "refuses is an error"
        )
    found = []
    for name, settings in cluster.targets.items():
        target = target_of(name)
        if not settings.version and target and target.releases and not target.always:
            found.append((name, target.releases.load()))
    if found:
        names = ", ".join(f"targets.{name}.version" for name, _ in found)
        versions = ", ".join(f"{known.title} {known.newest}" for _, known in found)
        assumed = f"the newest known release is assumed ({versions})"
        yield f"policykit: {cluster.source}: {names} not set: {assumed}"
