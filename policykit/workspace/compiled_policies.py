"""The policy of a file: `-p FILE`, `-p profile:NAME`, or the nearest in this or a parent folder, compiled."""

from __future__ import annotations

import os
from functools import cache as once
from typing import TYPE_CHECKING

from policykit.workspace.disk import cached
from policykit.workspace.policies import reader, shown_as

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.workspace.cache.folder import Cache
    from policykit.workspace.cache.policies import CompiledPolicy, Reader


def compiled_policy(reference: str, cache: Cache) -> CompiledPolicy:
    """The policy of a file or `profile:NAME`. Raises PolicyError and SourceError."""
    bundled = reference.startswith("profile:")
    # The same name may be another file in another folder.
    settled = reference if bundled else os.path.abspath(reference)
    return (_bundled if bundled and not cache.folder else _written)(settled, cache)


def cluster_of(reference: str, cache: Cache) -> Cluster:
    """The cluster that a policy describes. Raises PolicyError and SourceError."""
    return compiled_policy(reference, cache).cluster


@cached
def _written(reference: str, cache: Cache) -> CompiledPolicy:
    return _compiled(reference, cache)


@once
def _bundled(reference: str, cache: Cache) -> CompiledPolicy:
    """What ships with policykit stays as it is."""
    return _compiled(reference, cache)


def _compiled(reference: str, cache: Cache) -> CompiledPolicy:
    from policykit.workspace.cache.policies import compiled

    name = shown_as(reference)
    return compiled(cache, name, reader(name), _compile)


def _compile(name: str, read: Reader) -> CompiledPolicy:
    from policykit.policy.load import load
    from policykit.workspace.cache.policies import CompiledPolicy

    loaded = load(name, read)
    return CompiledPolicy(loaded.cluster, loaded.files, tuple(map(str, loaded.notices)))
