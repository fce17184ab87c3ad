"""The repository in which Applications are read, and the clusters of its policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.namedtuple import NamedTuple


class UnreadableError(Exception):
    """Why an Application or ApplicationSet is not judged."""


class TargetCluster(NamedTuple):
    """A policy as a cluster of Argo CD."""

    policy: str
    """Absolute path."""
    name: str
    server: str = ""
    """Empty: unknown."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class Repository(NamedTuple):
    """What generators and sources use of a repository."""

    root: str
    """Absolute, links resolved."""
    urls: frozenset[str] = frozenset()
    """Its normalised URLs."""
    clusters: tuple[TargetCluster, ...] = ()
    folders: Callable[[], tuple[str, ...]] = lambda: ()
    """Paths of its folders, relative to the root."""
    files: Callable[[], tuple[str, ...]] = lambda: ()
    """Paths of its files, relative to the root."""
    data: Callable[[str], Any] = lambda path: None
    """The first document of a YAML or JSON file; None: it cannot be read."""
