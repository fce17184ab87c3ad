"""Applications of Argo CD as sources: what each deploys, from which folder, to which cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.argocd.generators import parameters_of
from policykit.workspace.argocd.helm import helm_options
from policykit.workspace.argocd.kustomize import added_fields
from policykit.workspace.argocd.repository import (
    Repository,
    TargetCluster,
    UnreadableError,
)
from policykit.workspace.argocd.templates import Parameters, filled, merged
from policykit.workspace.remotes import normalised
from policykit.workspace.scopes import kustomization
from policykit.workspace.sources import FolderOptions, Form, Source, Statement

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
    {"repoURL", "path", "targetRevision", "chart", "ref", "name", "helm", "kustomize", "directory", "plugin"}
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
    data: Mapping[str, Any], stated: Statement, repository: Repository
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


def _application(data: Mapping[str, Any], stated: Statement, repository: Repository) -> ReadApplication:
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


def _sources(data: Mapping[str, Any], stated: Statement, repository: Repository) -> Iterator[Source]:
    spec = mapping(data.get("spec"))
    several = spec.get("sources")
    listed = several if isinstance(several, list) and several else [spec.get("source")]
    references = {
        f"${each['ref']}": _is_here(each, repository)
        for each in listed
        if isinstance(each, dict) and isinstance(each.get("ref"), str)
    }
    for each in listed:
        said = mapping(each)
        if "path" not in said and "chart" not in said and "ref" in said:
            continue  # only referenced for values by other sources
        try:
            yield _source(said, data, stated, repository, references)
        except UnreadableError as reason:
            yield _unread(stated, str(reason))


def _source(
    said: Mapping[str, Any],
    data: Mapping[str, Any],
    stated: Statement,
    repository: Repository,
    references: Mapping[str, bool],
) -> Source:
    unknown = sorted(name for name in said if name not in _SOURCE and said[name])
    if unknown:
        raise UnreadableError(f"its source has {unknown[0]}, which is not read")
    url = said.get("repoURL", "")
    if said.get("chart"):
        raise UnreadableError(f"its chart {said['chart']} is from {url}")
    if not _is_here(said, repository):
        raise UnreadableError(f"its source {url} is not this repository")
    folder = _inside(repository.root, str(said.get("path") or "."))
    if not os.path.isdir(folder):
        raise UnreadableError(f"its source has no folder {said.get('path')}")
    form = _form(folder, said)
    namespace = mapping(mapping(data.get("spec")).get("destination")).get("namespace")
    namespace = namespace if isinstance(namespace, str) else ""
    revision = str(said.get("targetRevision") or "")
    notices = (f"its revision {revision} is judged from the work tree",) if revision not in _BRANCHES else ()
    source = Source(folder, form, stated, namespace=namespace, notices=notices)
    if form is Form.CHART:
        options = helm_options(
            mapping(said.get("helm")), _name(data), namespace, folder, repository, references
        )
        return source._replace(helm=options)
    if form is Form.KUSTOMIZATION:
        return source._replace(added=added_fields(mapping(said.get("kustomize")), folder, repository.root))
    return source._replace(folder=_folder_options(mapping(said.get("directory"))))


def _form(folder: str, said: Mapping[str, Any]) -> Form:
    """The form that Argo CD detects: by the source, or else by the files in the folder."""
    stated = [name for name in ("helm", "kustomize", "directory", "plugin") if said.get(name)]
    if "plugin" in stated:
        raise UnreadableError("its objects come from a plugin")
    if len(stated) > 1:
        raise UnreadableError(f"its source has {' and '.join(stated)}, which Argo CD refuses")
    if "helm" in stated or (not stated and os.path.isfile(os.path.join(folder, "Chart.yaml"))):
        return Form.CHART
    if "kustomize" in stated or (not stated and kustomization(folder)):
        return Form.KUSTOMIZATION
    return Form.ARGO_CD_FOLDER


def _folder_options(said: Mapping[str, Any]) -> FolderOptions:
    unknown = sorted(name for name in said if name not in ("recurse", "include", "exclude") and said[name])
    if unknown:
        raise UnreadableError(f"its directory has {unknown[0]}, which is not read")
    return FolderOptions(
        bool(said.get("recurse")), str(said.get("include") or ""), str(said.get("exclude") or "")
    )


def _is_here(said: Mapping[str, Any], repository: Repository) -> bool:
    return normalised(str(said.get("repoURL", ""))) in repository.urls


def _inside(root: str, path: str) -> str:
    place = os.path.realpath(os.path.join(root, path.lstrip("/").replace("\0", "")))
    if not boundary.contains(root, place):
        raise UnreadableError(f"its path {path} is outside of the repository")
    return place


def _unread(stated: Statement, reason: str) -> Source:
    return Source("", Form.ARGO_CD_FOLDER, stated, why_not=reason)


def _name(data: Mapping[str, Any]) -> str:
    name = mapping(data.get("metadata")).get("name")
    return name if isinstance(name, str) else ""
