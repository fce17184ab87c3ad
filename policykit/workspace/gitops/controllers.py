"""What Flux and Argo CD apply to clusters, by their objects, and by the objects that these apply in turn."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from policykit.linter.input_file import KUSTOMIZATIONS, origin_of
from policykit.manifests.document import Manifest
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem, kustomize
from policykit.workspace.cache.builds import BuildRequest, builds_of_command
from policykit.workspace.command_state import cached
from policykit.workspace.files import repository_files
from policykit.workspace.gitops.argocd_applications import GROUP as ARGO_CD_GROUP
from policykit.workspace.gitops.argocd_applications import (
    application_objects,
    applications_in,
    argocd_sources,
    is_application,
)
from policykit.workspace.gitops.controller_files import ControllerObject, objects_in, raw_of, written_objects
from policykit.workspace.gitops.flux import (
    FLUX_GROUP,
    flux_source,
    flux_sources,
    is_kustomization,
    kustomizations,
    remote_clusters,
)
from policykit.workspace.gitops.source_contents import Contents, Unit, contents_of
from policykit.workspace.gitops.sources import Source, SourceLocation, SourceType
from policykit.workspace.gitops.substitution import SubstitutionError, substituted
from policykit.workspace.kustomization_entries import NotHereError
from policykit.workspace.kustomizations import files_of, is_root, tree_of
from policykit.workspace.kustomize import Build
from policykit.workspace.policies import has_applies, name_of, policy_by_place
from policykit.workspace.scopes import kustomization


@cached
def buildable_folders(root: str) -> Mapping[str, frozenset[str]]:
    """Folders with kustomizations that can be built on their own, each with the real paths of all files that
    its build reads. Kustomizations with entries that are not here are left out.
    """
    found = {}
    for path in repository_files(root):
        folder, name = os.path.split(path)
        if name in KUSTOMIZATIONS and is_root(folder):
            try:
                found[folder] = frozenset(files_of(tree_of(folder)))
            except NotHereError:
                continue
    return found


_DEEPEST = 8
"""Most objects of controllers that apply one another; three or four are usual."""
_MOST = 10_000
"""Most sources of a repository that are looked into."""
_TOO_MANY = f"more than {_DEEPEST} objects apply one another, or more than {_MOST} apply something"


class AppliedSource(NamedTuple):
    """What an object of a controller applies to the cluster of a policy."""

    policy: str
    source: Source
    contents: Contents

    def place(self) -> tuple[str, int]:
        """Where it is stated."""
        return self.source.stated.file, self.source.stated.line


@cached
def applied_by_controllers(root: str, policies: tuple[str, ...]) -> Mapping[str, tuple[AppliedSource, ...]]:
    """What controllers apply to the clusters of some policies of a repository.

    An object that is applied by another one belongs to the cluster of that one, as it is built; any other to
    the cluster that it names, or whose policy is next to it.
    """
    walk = _Walk(root, policies)
    owners = [policy for policy in policies if not has_applies(policy)]
    stated = [each for policy in owners for each in walk.stated(policy)]
    found = walk.all_below(stated)
    by_place = walk.by_place(owners, found)
    if by_place:
        found = [each for each in walk.all_below([*by_place, *stated]) if each not in by_place]
    return {policy: tuple(each for each in found if each.policy == policy) for policy in policies}


class _Walk:
    """Follows the objects that controllers apply."""

    def __init__(self, root: str, policies: Sequence[str]) -> None:
        self._root = root
        self._policies = policies
        self._contents: dict[str, Contents] = {}
        self._flux = frozenset(filesystem.realpath(each.file) for each in kustomizations(root))
        self._argo_cd = frozenset(filesystem.realpath(each.file) for each in application_objects(root))

    def stated(self, policy: str) -> Iterator[AppliedSource]:
        """What objects apply to a cluster by what is written."""

        def beside(file: str) -> bool:
            return os.path.abspath(policy_by_place(os.path.dirname(file)) or file) == policy

        yield from (
            self._applied(policy, source)
            for source in (
                *flux_sources(self._root, policy, name_of(policy), beside),
                *argocd_sources(policy),
            )
        )

    def by_place(self, policies: Sequence[str], found: Sequence[AppliedSource]) -> list[AppliedSource]:
        """The outermost kustomizations next to policies that have objects of controllers, and that nothing is
        said to apply: people apply them."""
        files = self._flux | self._argo_cd
        parts: dict[str, tuple[str, frozenset[str]]] = {}
        for folder, read in buildable_folders(self._root).items() if files and policies else ():
            policy = os.path.abspath(policy_by_place(folder) or folder)
            if policy in policies:
                parts[filesystem.realpath(kustomization(folder))] = policy, read
        inner = {read for file, (_, own) in parts.items() for read in own if read != file}
        inner |= {tree.file for each in found for unit in each.contents.units for tree in unit.tree.every()}
        return [
            self._applied(
                policy, Source(os.path.dirname(file), SourceType.KUSTOMIZATION, SourceLocation(policy))
            )
            for file, (policy, own) in parts.items()
            if file not in inner and not files.isdisjoint(own)
        ]

    def all_below(self, first: Sequence[AppliedSource]) -> list[AppliedSource]:
        """These and all that their objects apply, each once and as it is applied, not as it is written."""
        found, reached = self._below(first)
        outer = [each for each in first if not _is_among(each, reached)]
        if len(outer) == len(first):
            return found
        _, reached = self._below(outer)
        # Objects that apply each other are reached from no other.
        left_out = [each for each in first if not _is_among(each, reached)]
        return self._below([*outer, *left_out])[0]

    def _below(
        self, first: Sequence[AppliedSource]
    ) -> tuple[list[AppliedSource], dict[tuple[str, int], set[str]]]:
        """These and all that their objects apply, each once; and the policies for which one applies what is
        at a place."""
        found: dict[str, AppliedSource] = {}
        reached: dict[tuple[str, int], set[str]] = {}
        level = [*first]
        for _ in range(_DEEPEST):
            new = [each for each in level if _content(each) not in found]
            found |= {_content(each): each for each in new}
            if len(found) > _MOST:
                break
            level = []
            for files, mark in ((self._flux, FLUX_GROUP), (self._argo_cd, ARGO_CD_GROUP)):
                for above, below in self._next(new, files, mark) if files else ():
                    level.append(below)
                    if below.place() != above.place():
                        reached.setdefault(below.place(), set()).add(below.policy)
        left_out = [each for each in level if _content(each) not in found]
        too_many = (each.source._replace(path="", why_not=_TOO_MANY) for each in left_out[:1])
        return [*found.values(), *(self._applied(left_out[0].policy, each) for each in too_many)], reached

    def _next(
        self, applied: Sequence[AppliedSource], files: Collection[str], mark: str
    ) -> Iterator[tuple[AppliedSource, AppliedSource]]:
        """Sources with what the objects of one controller among them apply."""
        units = [(each, unit) for each in applied for unit in each.contents.units]
        objects = _applied_objects([unit for _, unit in units], files, mark)
        for (above, _), stated in zip(units, objects, strict=True):
            for each in stated:
                for policy, source in self._sources(each, above.policy):
                    yield above, self._applied(policy, source)

    def _sources(self, stated: ControllerObject, policy: str) -> Iterator[tuple[str, Source]]:
        """What an object that is applied to the cluster of a policy applies, and to which."""
        if is_kustomization(stated):
            remote = remote_clusters(stated)
            owners = [each for each in self._policies if name_of(each) in remote] if remote else [policy]
            yield from ((owner, flux_source(stated, owner)) for owner in owners)
        elif is_application(stated):
            for each in applications_in(stated, self._root):
                owner = each.cluster.policy if each.cluster else policy
                yield from ((owner, source) for source in each.sources if owner in self._policies)

    def _applied(self, policy: str, source: Source) -> AppliedSource:
        key = repr(source)
        if key not in self._contents:
            self._contents[key] = contents_of(source)
        return AppliedSource(policy, source, self._contents[key])


def _is_among(applied: AppliedSource, reached: Mapping[tuple[str, int], Collection[str]]) -> bool:
    """Whether what is written is applied by another object; what cannot be read may be for any cluster until
    one applies it."""
    owners = reached.get(applied.place(), ())
    return applied.policy in owners or bool(owners and applied.source.why_not)


def _content(applied: AppliedSource) -> str:
    """What sets apart what is applied, wherever that is stated."""
    source = applied.source
    stated = source.stated if source.why_not else source.stated._replace(resource="")
    return repr((applied.policy, source._replace(stated=stated)))


_SEPARATOR = "\n---\n"


def _applied_objects(
    units: Sequence[Unit], files: Collection[str], mark: str
) -> list[tuple[ControllerObject, ...]]:
    """For each unit, the objects of some files as the cluster gets them. `files`: real paths; `mark`: a text
    in each of the objects. Units without these files are not built, and neither are charts.
    """
    wanted = [each.root is not None and not each.root.charts and _has(each, files) for each in units]
    requests = [
        BuildRequest(unit.root, unit.tree)
        for unit, build in zip(units, wanted, strict=True)
        if build and unit.root is not None
    ]
    program = kustomize.binary() if requests else ""
    made = iter(builds_of_command(program, requests) if program else [Build()] * len(requests))
    found = []
    for unit, build in zip(units, wanted, strict=True):
        if build:
            found.append(tuple(_built(unit, next(made), mark)))
        elif unit.file in files:
            text = raw_of(unit.file).decode("utf-8", errors="replace")
            found.append(tuple(objects_in(text, unit.file, unit.namespace)))
        else:
            found.append(())
    return found


def _has(unit: Unit, files: Collection[str]) -> bool:
    return any(file in files for file in unit.tree.looked_at())


def _built(unit: Unit, build: Build, mark: str) -> Iterator[ControllerObject]:
    """Objects of a build; none if it fails, which is reported for the unit."""
    text = build.text.decode("utf-8", errors="replace")
    text = _SEPARATOR.join(each for each in text.split(_SEPARATOR) if mark in each)
    try:
        text = substituted(text, unit.variables) if unit.variables else text
    except SubstitutionError:
        return
    for each in objects_in(text, unit.tree.file, unit.namespace):
        file = _origin(each.manifest, build.folder)
        written = _written(each.manifest, file, mark)
        if written:
            yield each._replace(file=file, written=written)


def _origin(manifest: Manifest, folder: str) -> str:
    """The file that a built object comes from; empty: unknown."""
    path = origin_of(manifest.data).get("path")
    return filesystem.realpath(os.path.join(folder, path)) if isinstance(path, str) else ""


def _written(built: Manifest, file: str, mark: str) -> Manifest | None:
    """The object in a file that was built: builds add to names."""
    objects = [each.manifest for each in (written_objects(file, mark) if file else ())]
    alike = [each for each in objects if each.kind == built.kind]
    return max(
        (each for each in alike if each.name in built.name), key=lambda each: len(each.name), default=None
    )
