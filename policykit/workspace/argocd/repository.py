"""What Applications are read against: the repository they are in, and the clusters of its policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.namedtuple import NamedTuple

IN_CLUSTER = frozenset({"in-cluster", "https://kubernetes.default.svc"})
"""Destinations that mean the cluster that Argo CD runs in."""


class UnreadableError(Exception):
    """Why an Application or ApplicationSet is not judged, in a few words."""


class TargetCluster(NamedTuple):
    """A policy as a cluster of Argo CD."""

    policy: str
    """Absolute path."""
    name: str
    server: str = ""
    """Empty: not stated."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class Repository(NamedTuple):
    """A repository, as generators and sources see it."""

    root: str
    """Absolute, links resolved."""
    urls: frozenset[str] = frozenset()
    """Normalised URLs that mean it."""
    clusters: tuple[TargetCluster, ...] = ()
    folders: Callable[[], tuple[str, ...]] = lambda: ()
    """Paths of its folders, relative to the root."""
    files: Callable[[], tuple[str, ...]] = lambda: ()
    """Paths of its files, relative to the root."""
    data: Callable[[str], Any] = lambda path: None
    """The first document of a YAML or JSON file; None: it cannot be read."""
