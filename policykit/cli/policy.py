"""The policy of a command, with the notices about it on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.cli.output import print_error
from policykit.workspace.compiled_policies import compiled_policy
from policykit.workspace.disk import cached
from policykit.workspace.policies import nearest_policy

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.workspace.cache.folder import Cache


@cached
def cluster_from(reference: str, cache: Cache) -> Cluster:
    """The compiled policy of a file or `profile:NAME`. Raises PolicyError and SourceError."""
    found = compiled_policy(reference, cache)
    for notice in found.notices:
        print_error(notice)
    return found.cluster


def cluster_for(folder: str, reference: str | None, cache: Cache) -> Cluster | None:
    """The policy that applies to a folder; None if there is none."""
    chosen = reference or nearest_policy(folder)
    return cluster_from(chosen, cache) if chosen else None
