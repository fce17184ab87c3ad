"""Kustomizations and HelmReleases of Flux as sources: what each applies to the cluster of a policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.manifests.writer import dump
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import repository_root
from policykit.workspace.gitops.controller_files import ControllerObject, controller_files, written_objects
from policykit.workspace.gitops.flux_artifacts import resolved
from policykit.workspace.gitops.flux_variables import POST_BUILD, post_build_variables
from policykit.workspace.gitops.sources import (
    HelmOptions,
    Source,
    SourceLocation,
    SourceType,
)
from policykit.workspace.kustomization_entries import first_document
from policykit.workspace.policies import stated_repositories
from policykit.workspace.remotes import normalised, remotes
from policykit.workspace.scopes import is_patch, kustomization

FLUX_GROUP = "kustomize.toolkit.fluxcd.io"
_SOURCES = "source.toolkit.fluxcd.io"
_BOOTSTRAPPED = "flux-system"
_NOT_BUILT = frozenset(
    {"interval", "retryInterval", "timeout", "prune", "wait", "force", "healthChecks", "healthCheckExprs"}
    | {"dependsOn", "suspend", "serviceAccountName", "deletionPolicy", "decryption", "validation"}
    | {"buildMetadata", "ignore"}
)
"""Fields that change nothing that is judged."""
_APPLIED = frozenset(
    {"path", "sourceRef", "targetNamespace", "patches", "images", "components", "postBuild", "commonMetadata"}
    | {"namePrefix", "nameSuffix", "kubeConfig", "ignoreMissingComponents"}
)


def flux_sources(root: str, policy: str, cluster: str, beside: Callable[[str], bool]) -> tuple[Source, ...]:
    """The sources that the Flux Kustomizations of a repository apply to the cluster of a policy, by what is
    written.

    A Kustomization with a `kubeConfig` is for the cluster that its Secret is named after, any other for
    the cluster whose policy is next to it, according to `beside`.
    """
    found = []
    for each in kustomizations(root):
        remote = remote_clusters(each)
        if cluster in remote or (not remote and beside(each.file)):
            found.append(flux_source(each, policy))
    return tuple(found)


def adds_components(folder: str) -> bool:
    """Whether a Flux Kustomization adds components to the kustomization of a folder."""
    root, place = safe_paths.root_of(os.path.join(folder, "kustomization.yaml")), filesystem.realpath(folder)
    specs = map(_spec, kustomizations(root))
    return any(spec.get("components") and _folder(spec, root) == place for spec in specs)


def fills_namespace(file: str) -> bool:
    """Whether a Kustomization with a targetNamespace applies the folder of a file, or one above it."""
    root, place = safe_paths.root_of(file), filesystem.realpath(file)
    specs = map(_spec, kustomizations(root))
    return any(
        spec.get("targetNamespace") and safe_paths.contains(_folder(spec, root), place) for spec in specs
    )


def _spec(stated: ControllerObject) -> Mapping[str, Any]:
    return mapping(stated.manifest.data.get("spec"))


def remote_clusters(stated: ControllerObject) -> tuple[str, ...]:
    """Possible names of the cluster of a Kustomization's kubeConfig; empty: it has none."""
    kube_config = mapping(_spec(stated).get("kubeConfig"))
    names = [mapping(kube_config.get(field)).get("name") for field in ("secretRef", "configMapRef")]
    found = [name for name in names if isinstance(name, str) and name]
    return tuple(each for name in found for each in (name, name.removesuffix("-kubeconfig")))


@cached
def kustomizations(root: str) -> tuple[ControllerObject, ...]:
    """The Flux Kustomizations of a repository, as they are written."""
    return tuple(
        each
        for file in controller_files(root).flux
        for each in written_objects(file, FLUX_GROUP)
        if is_kustomization(each) and not is_patch(file)
    )


def is_kustomization(stated: ControllerObject) -> bool:
    """Whether an object is a Kustomization of Flux."""
    return stated.manifest.kind == "Kustomization" and stated.manifest.group == FLUX_GROUP


def flux_source(stated: ControllerObject, policy: str) -> Source:
    """What a Kustomization applies to the cluster of a policy."""
    spec, written = _spec(stated), stated.written
    at = (*written.base, "spec", "path" if "path" in spec else "sourceRef")
    name = f"Kustomization {stated.namespace or 'default'}/{stated.manifest.name}"
    line = written.span(("spec",)).line
    statement = SourceLocation(filesystem.realpath(stated.file), line, written.document, at, name)
    root = repository_root(os.path.dirname(stated.file)) or ""
    spec, unknown = resolved(stated, spec, root)
    path = _folder(spec, root)
    why_not, notices = (unknown, ()) if unknown else source_fault(stated, spec, root)
    why_not = why_not or _fault(spec, path, root)
    if why_not:
        return Source("", SourceType.KUSTOMIZATION, statement, why_not=why_not)
    form = SourceType.KUSTOMIZATION if kustomization(path) else SourceType.FLUX_FOLDER
    added, why_not = _added(spec, path, root)
    variables = post_build_variables(stated, mapping(spec.get("postBuild")), os.path.dirname(policy))
    ignore = mapping(_git_repository(stated, spec, root).get("spec")).get("ignore")
    return Source(
        path,
        form,
        statement,
        added,
        variables,
        unrestricted=True,
        notices=notices,
        ignore=ignore if isinstance(ignore, str) else "",
        why_not=why_not,
    )


def _folder(spec: Mapping[str, Any], root: str) -> str:
    path = spec.get("path")
    return filesystem.realpath(
        os.path.join(root, (path if isinstance(path, str) else "").replace("\0", "").lstrip("/"))
    )


def _fault(spec: Mapping[str, Any], path: str, root: str) -> str:
    unknown = sorted(str(field) for field in spec if field not in _APPLIED | _NOT_BUILT)
    unknown += sorted(
        f"postBuild.{field}" for field in mapping(spec.get("postBuild")) if field not in POST_BUILD
    )
    if unknown:
        return f"its field {unknown[0]} is not known here"
    if not root or not safe_paths.contains(filesystem.realpath(root), path):
        return "its path is outside of the repository"
    return "" if filesystem.isdir(path) else f"its path {spec.get('path')} is not a folder of the repository"


def source_fault(stated: ControllerObject, spec: Mapping[str, Any], root: str) -> tuple[str, tuple[str, ...]]:
    """Why the folder is not in this repository, if so; and notices about what is judged differently."""
    reference = mapping(spec.get("sourceRef"))
    kind, name = reference.get("kind"), reference.get("name")
    if not reference:
        return "it names no source", ()
    if kind != "GitRepository" or not isinstance(name, str):
        return f"its source is {kind} {name}, not a GitRepository", ()
    # `flux bootstrap` gives the repository that it writes to this name.
    bootstrapped = name == _BOOTSTRAPPED and not remotes(root)
    found = _git_repository(stated, spec, root)
    if not found:
        here = name == _BOOTSTRAPPED or name in stated_repositories(root)
        return ("" if here else f"its source GitRepository {name} is not defined here"), ()
    repository = mapping(found.get("spec"))
    url = repository.get("url")
    if not bootstrapped and not (isinstance(url, str) and normalised(url) in remotes(root)):
        return f"its source GitRepository {name} is another repository: {url}", ()
    pinned = mapping(repository.get("ref"))
    pins = [f"{field} {pinned[field]}" for field in ("tag", "semver", "commit", "name") if pinned.get(field)]
    return "", tuple(f"it applies {pin}, judged as the work tree is" for pin in pins)


def _git_repository(stated: ControllerObject, spec: Mapping[str, Any], root: str) -> Mapping[str, Any]:
    """The GitRepository of a source; empty: it is not in the repository."""
    reference = mapping(spec.get("sourceRef"))
    namespace = reference.get("namespace") or stated.namespace
    for each in _git_repositories(root).get(str(reference.get("name")), ()):
        # What is written without a namespace may get any from a kustomization.
        if not each.namespace or not namespace or each.namespace == namespace:
            return each.data
    return {}


@cached
def _git_repositories(root: str) -> Mapping[str, Sequence[Manifest]]:
    """The GitRepositories of a repository by their names."""
    found: dict[str, list[Manifest]] = {}
    for file in controller_files(root).flux:
        for each in (one.manifest for one in written_objects(file, f"{_SOURCES}/")):
            if (each.group, each.kind) == (_SOURCES, "GitRepository"):
                found.setdefault(each.name, []).append(each)
    return found


def _added(spec: Mapping[str, Any], path: str, root: str) -> tuple[dict[str, Any], str]:
    """Fields added to the kustomization of the folder, or why they cannot be added."""
    added: dict[str, Any] = {}
    for field, name in (("targetNamespace", "namespace"), ("namePrefix",) * 2, ("nameSuffix",) * 2):
        if isinstance(spec.get(field), str) and spec[field]:
            added[name] = spec[field]
    for field in ("patches", "images"):
        if isinstance(spec.get(field), list) and spec[field]:
            added[field] = [each for each in spec[field] if isinstance(each, dict)]
    if "images" in added:
        added["images"] = _images(first_document(kustomization(path)).get("images"), added["images"])
    patch = _common_metadata(mapping(spec.get("commonMetadata")))
    if patch:
        added["patches"] = [*added.get("patches", ()), patch]
    if any("path" in each for each in added.get("patches", ())):
        return {}, "a patch of it names a file"
    components = []
    stated = spec.get("components")
    for component in stated if isinstance(stated, list) else ():
        place = filesystem.realpath(os.path.join(path, str(component).replace("\0", "")))
        if filesystem.isdir(place) and safe_paths.contains(filesystem.realpath(root), place):
            components.append(place)
        elif filesystem.lexists(place) or spec.get("ignoreMissingComponents") is not True:
            return {}, f"its component {component} is not a folder of the repository"
    return ({**added, "components": components} if components else added), ""


def _images(own: object, added: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Images with what the kustomization of the folder says of the same ones; a tag and a digest replace each
    other. Source: kustomize_generator.go of fluxcd/pkg 1.35.
    """
    stated = (
        {each.get("name"): each for each in own if isinstance(each, dict)} if isinstance(own, list) else {}
    )
    found: list[Mapping[str, Any]] = []
    for each in added:
        version = {"newTag", "digest"} if each.get("newTag") or each.get("digest") else set()
        kept = {
            field: value for field, value in stated.get(each.get("name"), {}).items() if field not in version
        }
        found.append({**kept, **{field: value for field, value in each.items() if value}})
    return found


def _common_metadata(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """A patch of all objects: unlike labels of kustomize, those of Flux are not set on pod templates."""
    import json

    about = {
        field: mapping(metadata.get(field))
        for field in ("labels", "annotations")
        if mapping(metadata.get(field))
    }
    if not about:
        return None
    patch = {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "any", **about}}
    return {"target": {"kind": ".*"}, "patch": json.dumps(patch)}


_HELM_GROUP = "helm.toolkit.fluxcd.io"
_CHART: Path = ("spec", "chart", "spec", "chart")
_LONGEST_NAME = 53
_NOTHING = frozenset(
    {"interval", "timeout", "suspend", "dependsOn", "test", "rollback", "uninstall", "driftDetection"}
    | {"maxHistory", "serviceAccountName", "persistentClient", "storageNamespace", "upgrade"}
)
"""Fields that do not change what is rendered."""
_READ = frozenset({"chart", "releaseName", "targetNamespace", "values", "install"})
_CHART_READ = frozenset(
    {"chart", "sourceRef", "valuesFiles", "version", "interval", "reconcileStrategy", "verify"}
    | {"ignoreMissingValuesFiles"}
)


def helm_releases(text: bytes, file: str, *, built: bool) -> Iterator[Source]:
    """The charts that HelmReleases of a file deploy; `built`: among the objects that it says to build."""
    if _HELM_GROUP.encode() not in text:
        return
    for number, parsed in enumerate(parse(text.decode("utf-8", errors="replace"))):
        for each in manifests(parsed.root, number) if parsed.root else ():
            spec = mapping(each.data.get("spec"))
            # A patch names no chart.
            if (
                each.kind == "HelmRelease"
                and each.group == _HELM_GROUP
                and (spec.get("chart") or spec.get("chartRef"))
            ):
                yield _release_source(each, file, built=built)


def _release_source(manifest: Manifest, file: str, *, built: bool) -> Source:
    name = f"HelmRelease {manifest.namespace or 'default'}/{manifest.name}"
    at = (*manifest.base, *_CHART)
    line = manifest.span(_CHART).line
    stated = (
        SourceLocation(file, resource=name)
        if built
        else SourceLocation(file, line, manifest.document, at, name)
    )
    root = filesystem.realpath(repository_root(os.path.dirname(file)) or os.path.dirname(file))
    spec = mapping(manifest.data.get("spec"))
    chart = mapping(mapping(spec.get("chart")).get("spec"))
    why_not = _elsewhere(spec)
    notices: tuple[str, ...] = ()
    if not why_not:
        why_not, notices = source_fault(
            ControllerObject(file, manifest, manifest, manifest.namespace or ""), chart, root
        )
    place = _place(root, chart.get("chart"))
    if not why_not and not (safe_paths.contains(root, place) and filesystem.isdir(place)):
        why_not = f"its chart {chart.get('chart')} is not a folder of the repository"
    why_not = why_not or _release_fault(spec, chart)
    if why_not:
        return Source("", SourceType.CHART, stated, why_not=why_not)
    return Source(
        place,
        SourceType.CHART,
        stated,
        helm=_options(manifest, spec, chart, root),
        notices=notices,
        own_values=not chart.get("valuesFiles"),
    )


def _elsewhere(spec: Mapping[str, Any]) -> str:
    reference = mapping(spec.get("chartRef"))
    return (
        f"its chart is {reference.get('kind')} {reference.get('name')}, not a folder of the repository"
        if reference
        else ""
    )


def _release_fault(spec: Mapping[str, Any], chart: Mapping[str, Any]) -> str:
    unknown = sorted(str(field) for field in spec if field not in _READ | _NOTHING and spec[field])
    unknown += sorted(str(field) for field in chart if field not in _CHART_READ and chart[field])
    return f"its field {unknown[0]} is not applied here" if unknown else ""


def _options(manifest: Manifest, spec: Mapping[str, Any], chart: Mapping[str, Any], root: str) -> HelmOptions:
    target = spec.get("targetNamespace")
    name = f"{target}-{manifest.name}" if isinstance(target, str) and target else manifest.name
    release = spec.get("releaseName")
    files = chart.get("valuesFiles")
    places = [_place(root, each) for each in files] if isinstance(files, list) else []
    if chart.get("ignoreMissingValuesFiles"):
        places = [place for place in places if filesystem.lexists(place)]
    values = spec.get("values")
    return HelmOptions(
        release if isinstance(release, str) and release else name[:_LONGEST_NAME],
        target if isinstance(target, str) and target else manifest.namespace or "default",
        tuple(places),
        (dump(values),) if isinstance(values, dict) and values else (),
        include_crds=mapping(spec.get("install")).get("crds") != "Skip",
    )


def _place(root: str, path: object) -> str:
    return filesystem.realpath(os.path.join(root, str(path).replace("\0", "").lstrip("/")))
