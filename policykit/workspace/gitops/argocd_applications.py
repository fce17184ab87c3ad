"""Applications of Argo CD as sources: what each deploys, from which folder, to which cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import SourceError
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import files_below, repository_root
from policykit.workspace.gitops.argocd_application_sets import Parameters, filled, merged, parameters_of
from policykit.workspace.gitops.argocd_source_options import added_fields, helm_options
from policykit.workspace.gitops.controller_files import ControllerObject, controller_files, written_objects
from policykit.workspace.gitops.sources import (
    FolderOptions,
    Repository,
    Source,
    SourceLocation,
    SourceType,
    TargetCluster,
    UnreadableError,
)
from policykit.workspace.policies import argocd_of, is_cluster, metadata_of, policy_by_place, policy_files
from policykit.workspace.remotes import normalised, remotes
from policykit.workspace.scopes import is_patch, kustomization

GROUP = "argoproj.io/"
_SPEC = frozenset(
    {
        "project",
        "source",
        "sources",
        "destination",
        "syncPolicy",
        "ignoreDifferences",
        "info",
        "revisionHistoryLimit",
    }
)
_SET = frozenset(
    {
        "generators",
        "template",
        "templatePatch",
        "goTemplate",
        "goTemplateOptions",
        "strategy",
        "syncPolicy",
        "preservedFields",
        "ignoreApplicationDifferences",
        "applyNestedSelectors",
    }
)
_SOURCE = frozenset(
    {"repoURL", "path", "targetRevision", "tagPrefix", "chart", "ref", "name"}
    | {"helm", "kustomize", "directory", "plugin"}
)
"""Fields that are read, or that do not change what is applied."""
_BRANCHES = frozenset({"", "HEAD", "main", "master"})
"""Revisions for which the work tree is judged without a notice."""


class ReadApplication(NamedTuple):
    """The sources of an Application, and their cluster."""

    name: str
    cluster: TargetCluster | None
    """None: its destination names no policy."""
    sources: tuple[Source, ...]


def applications_of(
    data: Mapping[str, Any], stated: SourceLocation, repository: Repository
) -> tuple[ReadApplication, ...]:
    """The Applications of an object, which is one itself or an ApplicationSet. Those that cannot be read
    become sources with the reason why they are not judged.
    """
    if data.get("kind") == "Application":
        return (_application(data, stated, repository),)
    spec = mapping(data.get("spec"))
    try:
        unknown = sorted(name for name in spec if name not in _SET and spec[name])
        if unknown:
            raise UnreadableError(f"it has {unknown[0]}, which is not read")
        go = bool(spec.get("goTemplate"))
        return tuple(
            _application(_made(spec, each, go=go), stated, repository)
            for each in parameters_of(spec, repository)
        )
    except UnreadableError as reason:
        return (ReadApplication(_name(data), None, (_unread(stated, str(reason)),)),)


def _made(spec: Mapping[str, Any], parameters: Parameters, *, go: bool) -> Mapping[str, Any]:
    """The Application of one set of parameters. Raises UnreadableError."""
    data = mapping(filled(spec.get("template"), parameters, go=go))
    patch = spec.get("templatePatch")
    if not isinstance(patch, str) or not patch.strip():
        return data
    if not go:
        raise UnreadableError("it has templatePatch without goTemplate")
    parsed = next(parse(filled(patch, parameters, go=True)), None)
    if parsed is None or parsed.root is None or not isinstance(parsed.root.data, dict):
        raise UnreadableError("its templatePatch is not YAML")
    return mapping(merged(data, parsed.root.data))


def _application(data: Mapping[str, Any], stated: SourceLocation, repository: Repository) -> ReadApplication:
    spec = mapping(data.get("spec"))
    destination = mapping(spec.get("destination"))
    found: tuple[Source, ...]
    try:
        unknown = sorted(name for name in spec if name not in _SPEC and spec[name])
        if unknown:
            raise UnreadableError(f"it has {unknown[0]}, which is not read")
        found = tuple(_sources(data, stated, repository))
    except UnreadableError as reason:
        found = (_unread(stated, str(reason)),)
    return ReadApplication(_name(data), _cluster(destination, repository), found)


def _cluster(destination: Mapping[str, Any], repository: Repository) -> TargetCluster | None:
    name, server = destination.get("name"), destination.get("server")
    for cluster in repository.clusters:
        if (name and name == cluster.name) or (
            server and server in (cluster.server, f"policy:{cluster.name}")
        ):
            return cluster
    return None


def _sources(data: Mapping[str, Any], stated: SourceLocation, repository: Repository) -> Iterator[Source]:
    spec = mapping(data.get("spec"))
    several = spec.get("sources")
    listed = several if isinstance(several, list) and several else [spec.get("source")]
    references = {
        f"${each['ref']}": _is_here(each, repository)
        for each in listed
        if isinstance(each, dict) and isinstance(each.get("ref"), str)
    }
    for each in listed:
        fields = mapping(each)
        if "path" not in fields and "chart" not in fields and "ref" in fields:
            continue  # only referenced for values by other sources
        try:
            yield _source(fields, data, stated, repository, references)
        except UnreadableError as reason:
            yield _unread(stated, str(reason))


def _source(
    fields: Mapping[str, Any],
    data: Mapping[str, Any],
    stated: SourceLocation,
    repository: Repository,
    references: Mapping[str, bool],
) -> Source:
    unknown = sorted(name for name in fields if name not in _SOURCE and fields[name])
    if unknown:
        raise UnreadableError(f"its source has {unknown[0]}, which is not read")
    url = fields.get("repoURL", "")
    if fields.get("chart"):
        raise UnreadableError(f"its chart {fields['chart']} is from {url}")
    if not _is_here(fields, repository):
        raise UnreadableError(f"its source {url} is not this repository")
    folder = _inside(repository.root, str(fields.get("path") or "."))
    if not filesystem.isdir(folder):
        raise UnreadableError(f"its source has no folder {fields.get('path')}")
    form = _form(folder, fields)
    namespace = mapping(mapping(data.get("spec")).get("destination")).get("namespace")
    namespace = namespace if isinstance(namespace, str) else ""
    revision = str(fields.get("targetRevision") or "")
    notices = (f"its revision {revision} is judged from the work tree",) if revision not in _BRANCHES else ()
    source = Source(folder, form, stated, literal=True, namespace=namespace, notices=notices)
    if form is SourceType.CHART:
        options = helm_options(
            mapping(fields.get("helm")), _name(data), namespace, folder, repository, references
        )
        return source._replace(helm=options)
    if form is SourceType.KUSTOMIZATION:
        return source._replace(added=added_fields(mapping(fields.get("kustomize")), folder, repository.root))
    return source._replace(folder=_folder_options(mapping(fields.get("directory"))))


def _form(folder: str, fields: Mapping[str, Any]) -> SourceType:
    """The form that Argo CD detects: by the source, or else by the files in the folder."""
    stated = [name for name in ("helm", "kustomize", "directory", "plugin") if fields.get(name)]
    if "plugin" in stated:
        raise UnreadableError("its objects come from a plugin")
    if len(stated) > 1:
        raise UnreadableError(f"its source has {' and '.join(stated)}, which Argo CD refuses")
    if "helm" in stated or (not stated and filesystem.isfile(os.path.join(folder, "Chart.yaml"))):
        return SourceType.CHART
    if "kustomize" in stated or (not stated and kustomization(folder)):
        return SourceType.KUSTOMIZATION
    return SourceType.ARGO_CD_FOLDER


def _folder_options(fields: Mapping[str, Any]) -> FolderOptions:
    unknown = sorted(
        name for name in fields if name not in ("recurse", "include", "exclude") and fields[name]
    )
    if unknown:
        raise UnreadableError(f"its directory has {unknown[0]}, which is not read")
    return FolderOptions(
        bool(fields.get("recurse")), str(fields.get("include") or ""), str(fields.get("exclude") or "")
    )


def _is_here(fields: Mapping[str, Any], repository: Repository) -> bool:
    return normalised(str(fields.get("repoURL", ""))) in repository.urls


def _inside(root: str, path: str) -> str:
    place = filesystem.realpath(os.path.join(root, path.lstrip("/").replace("\0", "")))
    if not safe_paths.contains(root, place):
        raise UnreadableError(f"its path {path} is outside of the repository")
    return place


def _unread(stated: SourceLocation, reason: str) -> Source:
    return Source("", SourceType.ARGO_CD_FOLDER, stated, why_not=reason)


def _name(data: Mapping[str, Any]) -> str:
    name = mapping(data.get("metadata")).get("name")
    return name if isinstance(name, str) else ""


_KINDS = ("Application", "ApplicationSet")
_SPECS: tuple[Path, ...] = (("spec", "template", "spec"), ("spec",))


def argocd_sources(policy: str) -> tuple[Source, ...]:
    """What Applications deploy to the cluster of a policy, by what is written: those whose destination is it,
    and those next to the policy whose destination is not known. An ApplicationSet that cannot be read and is
    next to no policy may be for any cluster.
    """
    root = repository_root(os.path.dirname(os.path.abspath(policy)))
    found: list[Source] = []
    for stated, (_, cluster, sources) in _applications(root) if root else ():
        owner = cluster.policy if cluster else policy_by_place(os.path.dirname(stated.file))
        mine = bool(owner) and os.path.abspath(owner) == os.path.abspath(policy)
        if mine or (not owner and any(source.why_not for source in sources)):
            found += sources
    return tuple(found)


@cached
def _applications(root: str) -> tuple[tuple[ControllerObject, ReadApplication], ...]:
    return tuple(
        (stated, each) for stated in application_objects(root) for each in applications_in(stated, root)
    )


@cached
def application_objects(root: str) -> tuple[ControllerObject, ...]:
    """The Applications and ApplicationSets of a repository, as they are written."""
    files = controller_files(root).argo_cd
    return tuple(
        each
        for file in files
        for each in written_objects(file, GROUP)
        if is_application(each) and not is_patch(file)
    )


def is_application(stated: ControllerObject) -> bool:
    """Whether an object is an Application or ApplicationSet."""
    return stated.manifest.kind in _KINDS and stated.manifest.api_version.startswith(GROUP)


def applications_in(stated: ControllerObject, root: str) -> tuple[ReadApplication, ...]:
    """The Applications of an object, which is one itself or an ApplicationSet."""
    return applications_of(stated.manifest.data, _stated(stated), _repository(root))


@cached
def _repository(root: str) -> Repository:
    real = filesystem.realpath(root)
    clusters = tuple(
        _target_cluster(os.path.abspath(path)) for path in policy_files(root) if is_cluster(path)
    )

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


def _target_cluster(policy: str) -> TargetCluster:
    own, labels, annotations = metadata_of(policy)
    name, server = argocd_of(policy)
    return TargetCluster(policy, name or own, server, labels, annotations)


def _stated(stated: ControllerObject) -> SourceLocation:
    written = stated.written
    at = next(at for at in _SPECS if len(at) == 1 or isinstance(lookup(written.data, at), dict))
    for field in (("source", "path"), ("sources", 0, "path"), ("source",), ("sources",)):
        if lookup(written.data, (*at, *field)) is not None:
            at = (*at, *field)
            break
    resource = f"{written.kind} {stated.namespace}/{stated.manifest.name}".replace(" /", " ")
    where = (*written.base, *at)
    return SourceLocation(
        filesystem.realpath(stated.file), written.span(at).line, written.document, where, resource
    )


def _content(path: str, part: int = 0) -> bytes:
    try:
        return safe_paths.read(path, most=safe_paths.SMALL, part=part)
    except SourceError:
        return b""
