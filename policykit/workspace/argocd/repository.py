"""What Applications are read against: the repository they are in, and the clusters of its policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_USER = re.compile(r"[^/@]*@")
_PORT = re.compile(r":\d+(?=/)")
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


def normalised(url: str) -> str:
    """A URL of a Git repository without what does not tell it from others: `git@example.com:a/b.git` and
    `https://me@example.com/a/b/` are both `example.com/a/b`.
    """
    text = url.strip()
    if _SCHEME.match(text):
        text = _PORT.sub("", _USER.sub("", _SCHEME.sub("", text), count=1), count=1)
    elif ":" in text:
        text = _USER.sub("", text, count=1).replace(":", "/", 1)
    host, slash, path = text.partition("/")
    return f"{host.lower()}{slash}{path.strip('/').removesuffix('.git').lower()}".rstrip("/")
