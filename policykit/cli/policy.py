"""The policy of a run: `-p FILE`, `-p profile:NAME`, or the nearest in this or a parent folder."""

from __future__ import annotations

import os
from functools import cache as once
from typing import TYPE_CHECKING

from policykit.cli.output import print_error
from policykit.workspace.disk import cached
from policykit.workspace.policies import nearest_policy, reader

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.workspace.cache.folder import Cache
    from policykit.workspace.cache.policies import CompiledPolicy, Reader


def cluster_from(reference: str, cache: Cache) -> Cluster:
    """The compiled policy of a file or `profile:NAME`. Raises PolicyError and SourceError."""
    return _loaded(_settled(reference), cache).cluster


def files_of(reference: str, cache: Cache) -> tuple[str, ...]:
    """Every file the policy was read from, itself first. Raises as `cluster_from` does."""
    return _loaded(_settled(reference), cache).files


def _settled(reference: str) -> str:
    """A file as its absolute path: the same name may be another file in another folder."""
    return reference if reference.startswith("profile:") else os.path.abspath(reference)


def _loaded(reference: str, cache: Cache) -> CompiledPolicy:
    bundled = reference.startswith("profile:") and not cache.folder
    return (_bundled if bundled else _written)(reference, cache)


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
    found = compiled(cache, name, reader(name), _compile)
    for notice in found.notices:
        print_error(notice)
    return found


def _compile(name: str, read: Reader) -> CompiledPolicy:
    from policykit.policy.load import load
    from policykit.workspace.cache.policies import CompiledPolicy

    loaded = load(name, read)
    return CompiledPolicy(loaded.cluster, loaded.files, tuple(map(str, loaded.notices)))


def shown_as(reference: str) -> str:
    """The path shown to users and in findings: the shorter of the relative and the absolute path."""
    if reference.startswith("profile:"):
        return reference
    return min(os.path.relpath(reference), os.path.abspath(reference), key=len)


def cluster_for(folder: str, reference: str | None, cache: Cache) -> Cluster | None:
    """The policy that applies to a folder; None if there is none."""
    chosen = reference or nearest_policy(folder)
    return cluster_from(chosen, cache) if chosen else None
