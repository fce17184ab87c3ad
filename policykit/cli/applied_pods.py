"""The pod sets that the cluster of a policy applies: as kustomize or helm builds them, else as written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from policykit import api
from policykit.errors import PolicykitError
from policykit.generator.header import owner
from policykit.linter.builds.kustomization import BuiltKustomization
from policykit.linter.builds.locations import SourceLocator
from policykit.linter.builds.sources import ParsedTexts
from policykit.linter.member import TEXT, Member
from policykit.linter.reader import decode
from policykit.model.cluster import Cluster
from policykit.placement.review import Review
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import Source, patch
from policykit.workspace.boundary import within
from policykit.workspace.cache.folder import Cache
from policykit.workspace.files import repository_root
from policykit.workspace.kustomizations import components_of, used_by
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.workspace import OpenResult, open_units
from policykit.workspace.scopes import is_patch, kustomization_namespace, kustomization_root

_HEAD = 4096
"""The header of a generated file is within this many bytes."""


def applied(policy: str, paths: Sequence[str], cache: Cache) -> OpenResult:
    """The files that a policy judges among some paths, with their builds. Without paths: all that the
    cluster of the policy is said to apply, else the folder of the policy, which is a file then."""
    return open_units(Request(tuple(paths) or (_scope(policy),), (policy,), cache=cache))


def _scope(policy: str) -> str:
    from policykit.workspace.clusters import sources_of

    absolute = os.path.abspath(policy)
    folder = os.path.dirname(absolute)
    found = (repository_root(folder) or folder) if sources_of(absolute) else folder
    return os.path.relpath(found)


def reviews(opened: OpenResult, cluster: Cluster, folder: str = "") -> Iterator[tuple[str, Review]]:
    """Every pod set under a cluster, with its file; `folder`: of an earlier revision, to which files are
    relative. Generated files are left out."""
    workspace = opened.workspace
    read = _Reader(opened, cluster)
    for member in workspace.members:
        if member.partial or (member.only == TEXT and not member.components) or is_patch(member.file):
            continue
        yield from ((_shown(path, folder), review) for path, review in read.file(member))
    for build in workspace.builds:
        yield from ((_shown(path, folder), review) for path, review in read.build(build))


def _shown(path: str, folder: str) -> str:
    return os.path.relpath(os.path.realpath(path), folder) if folder else path


class _Reader:
    """Reads pod sets of files and builds."""

    def __init__(self, opened: OpenResult, cluster: Cluster) -> None:
        self._workspace = opened.workspace
        self._cluster = cluster
        self._parsed = ParsedTexts()
        self._generated: dict[str, bool] = {}

    def file(self, member: Member) -> Iterator[tuple[str, Review]]:
        """A file as it is written, completed by generated components that a kustomization lists for it."""
        raw = self._workspace.read(member.file)
        if self._is_generated(member.file, raw):
            return
        here = os.path.dirname(os.path.abspath(member.file))
        namespace = member.namespace or kustomization_namespace(here) or "default"
        if member.components or self._uses_components(here):
            raw = _completed(Source(member.path, raw, namespace), self._cluster)
        for review in api.where(raw, self._cluster, namespace):
            yield member.path, review

    def build(self, build: BuiltKustomization) -> Iterator[tuple[str, Review]]:
        """Objects as they are built, without those that `file` completes."""
        places = SourceLocator(build, self._workspace.read, self._parsed)
        names = {member.path: file for file, member in build.names.items()}
        completed = components_of(build.tree)
        raw = self._workspace.read(build.member.file)
        for review in api.where(raw, self._cluster, build.member.namespace or "default"):
            place = places.of_object(review.manifest, review.pod_set.path)
            path = place[0] if place else build.shown
            if names.get(path) not in completed and not self._is_generated(path):
                yield path, review

    def _is_generated(self, path: str, raw: bytes | None = None) -> bool:
        if path not in self._generated:
            if raw is None:
                raw = self._workspace.read(path) if os.path.isfile(path) else b""
            self._generated[path] = bool(owner(decode(raw[:_HEAD]).text))
        return self._generated[path]

    def _uses_components(self, folder: str) -> bool:
        """Whether the kustomization of a folder lists a component that the policy generates."""
        cluster = self._cluster
        root = kustomization_root(folder)
        if not root or not cluster.output:
            return False
        output = os.path.join(os.path.dirname(cluster.source), cluster.output, "workloads")
        return any(within(each, os.path.realpath(output)) for each in used_by(root))


def _completed(source: Source, cluster: Cluster) -> bytes:
    """A manifest as generated components complete it."""
    try:
        return patch(source, cluster, PatchOptions()).raw
    except PolicykitError:
        return source.raw  # judged as it is written
