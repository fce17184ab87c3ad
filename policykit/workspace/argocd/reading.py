"""Finds the Applications of a repository, and what they deploy to each policy's cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from policykit.errors import SourceError
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.argocd.applications import GROUP, ReadApplication, applications_of
from policykit.workspace.argocd.repository import Repository, TargetCluster
from policykit.workspace.controller_files import controller_files
from policykit.workspace.disk import cached
from policykit.workspace.files import files_below, repository_files, repository_root
from policykit.workspace.policies import FILE_NAME, argocd_of, is_cluster, metadata_of, policy_by_place
from policykit.workspace.remotes import remotes
from policykit.workspace.sources import Source, Statement

_KINDS = ("Application", "ApplicationSet")
_SPECS: tuple[Path, ...] = (("spec", "template", "spec"), ("spec",))


class _Found(NamedTuple):
    file: str
    """Absolute."""
    application: ReadApplication


def argocd_sources(policy: str) -> tuple[Source, ...]:
    """What Applications deploy to the cluster of a policy: those whose destination is the cluster, and those
    next to the policy whose destination is not known. An ApplicationSet that cannot be read and is next to no
    policy may be for any cluster.
    """
    root = repository_root(os.path.dirname(os.path.abspath(policy)))
    found: list[Source] = []
    for file, (_, cluster, sources) in _applications(root) if root else ():
        owner = cluster.policy if cluster else policy_by_place(os.path.dirname(file))
        mine = bool(owner) and os.path.abspath(owner) == os.path.abspath(policy)
        if mine or (not owner and any(source.why_not for source in sources)):
            found += sources
    return tuple(found)


@cached
def _applications(root: str) -> tuple[_Found, ...]:
    objects = [(path, each) for path in controller_files(root).argo_cd for each in _objects(path)]
    if not objects:
        return ()
    repository = _repository(root)
    return tuple(
        _Found(path, application)
        for path, manifest in objects
        for application in applications_of(manifest.data, _stated(path, manifest), repository)
    )


def _repository(root: str) -> Repository:
    real = os.path.realpath(root)
    paths = [path for path in repository_files(root) if os.path.basename(path) == FILE_NAME]
    clusters = tuple(_cluster(os.path.abspath(path)) for path in paths if is_cluster(path))

    def folders() -> tuple[str, ...]:
        found = {os.path.dirname(path) for path in files_below(real)}
        for folder in [*found]:
            while folder := os.path.dirname(folder):
                found.add(folder)
        return tuple(sorted(found - {""}))

    def data(path: str) -> Any:
        parsed = next(parse(_content(os.path.join(real, path)).decode("utf-8", errors="replace")), None)
        return parsed.root.data if parsed and parsed.root else None

    return Repository(real, remotes(root), clusters, folders, lambda: files_below(real), data)


def _cluster(policy: str) -> TargetCluster:
    own, labels, annotations = metadata_of(policy)
    name, server = argocd_of(policy)
    return TargetCluster(policy, name or own, server, labels, annotations)


def _objects(path: str) -> Iterator[Manifest]:
    text = _content(path).decode("utf-8", errors="replace")
    for number, parsed in enumerate(parse(text)):
        for each in manifests(parsed.root, number) if parsed.root else ():
            if each.kind in _KINDS and each.api_version.startswith(GROUP):
                yield each


def _stated(path: str, manifest: Manifest) -> Statement:
    at = next(at for at in _SPECS if len(at) == 1 or isinstance(lookup(manifest.data, at), dict))
    for field in (("source", "path"), ("sources", 0, "path"), ("source",), ("sources",)):
        if lookup(manifest.data, (*at, *field)) is not None:
            at = (*at, *field)
            break
    resource = f"{manifest.kind} {manifest.namespace}/{manifest.name}".replace(" /", " ")
    where = (*manifest.base, *at)
    return Statement(os.path.realpath(path), manifest.span(at).line, manifest.document, where, resource)


def _content(path: str, part: int = 0) -> bytes:
    try:
        return boundary.read(path, most=boundary.SMALL, part=part)
    except SourceError:
        return b""
