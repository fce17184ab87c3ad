"""Flux Kustomizations as sources: what each applies to the cluster of a policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.controller_files import controller_files, raw_of
from policykit.workspace.disk import cached
from policykit.workspace.files import repository_files, repository_root
from policykit.workspace.remotes import normalised, remotes
from policykit.workspace.scopes import kustomization
from policykit.workspace.sources import Form, Source, Statement, Variables
from policykit.workspace.variables import joined, texts, variables_of_object

_GROUP = "kustomize.toolkit.fluxcd.io"
_SOURCES = "source.toolkit.fluxcd.io"
_BOOTSTRAPPED = "flux-system"
_NOT_BUILT = frozenset(
    {"interval", "retryInterval", "timeout", "prune", "wait", "force", "healthChecks", "healthCheckExprs"}
    | {"dependsOn", "suspend", "serviceAccountName", "deletionPolicy", "decryption", "validation"}
)
"""Fields that do not change what is built."""
_APPLIED = frozenset(
    {"path", "sourceRef", "targetNamespace", "patches", "images", "components", "postBuild", "commonMetadata"}
    | {"namePrefix", "nameSuffix", "kubeConfig", "ignoreMissingComponents"}
)


class FluxObject(NamedTuple):
    """An object in a file."""

    file: str
    manifest: Manifest

    def named(self) -> tuple[str, str, str]:
        return self.manifest.kind, self.manifest.namespace or "", self.manifest.name


def flux_sources(root: str, cluster: str, beside: Callable[[str], bool]) -> tuple[Source, ...]:
    """The sources that the Flux Kustomizations of a repository apply to a cluster.

    A Kustomization with a `kubeConfig` is for the cluster that its Secret is named after, any other for
    the cluster whose policy is next to it, according to `beside`.
    """
    found = []
    for each in _kustomizations(root):
        spec = mapping(each.manifest.data.get("spec"))
        remote = _remote_cluster(spec)
        if cluster in remote or (not remote and beside(each.file)):
            found.append(_source(each, spec))
    return tuple(found)


def adds_components(folder: str) -> bool:
    """Whether a Flux Kustomization adds components to the kustomization of a folder."""
    root, place = boundary.root_of(os.path.join(folder, "kustomization.yaml")), os.path.realpath(folder)
    specs = (mapping(each.manifest.data.get("spec")) for each in _kustomizations(root))
    return any(spec.get("components") and _folder(spec, root) == place for spec in specs)


def _remote_cluster(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Possible names of the cluster of a kubeConfig; empty: there is no kubeConfig."""
    said = mapping(spec.get("kubeConfig"))
    names = [mapping(said.get(field)).get("name") for field in ("secretRef", "configMapRef")]
    found = [name for name in names if isinstance(name, str) and name]
    return tuple(each for name in found for each in (name, name.removesuffix("-kubeconfig")))


@cached
def _kustomizations(root: str) -> tuple[FluxObject, ...]:
    return tuple(
        each
        for file in controller_files(root).flux
        for each in _objects(file, f"{_GROUP}/")
        if each.manifest.kind == "Kustomization" and each.manifest.group == _GROUP
    )


@cached
def _objects(file: str, mark: str) -> tuple[FluxObject, ...]:
    """The objects of a file; empty: it cannot be read, or does not contain the text `mark`."""
    raw = raw_of(file)
    if mark.encode() not in raw:
        return ()
    text = raw.decode("utf-8", errors="replace")
    return tuple(
        FluxObject(file, each)
        for number, parsed in enumerate(parse(text))
        if parsed.root
        for each in manifests(parsed.root, number)
    )


def _source(stated: FluxObject, spec: Mapping[str, Any]) -> Source:
    manifest = stated.manifest
    at = (*manifest.base, "spec", "path" if "path" in spec else "sourceRef")
    name = f"Kustomization {manifest.namespace or 'default'}/{manifest.name}"
    line = manifest.span(("spec",)).line
    statement = Statement(os.path.realpath(stated.file), line, manifest.document, at, name)
    root = repository_root(os.path.dirname(stated.file)) or ""
    path = _folder(spec, root)
    why_not, notices = source_fault(stated, spec, root)
    why_not = why_not or _fault(spec, path, root)
    if why_not:
        return Source("", Form.KUSTOMIZATION, statement, why_not=why_not)
    form = Form.KUSTOMIZATION if kustomization(path) else Form.FLUX_FOLDER
    added, why_not = _added(spec, path, root)
    variables = _variables(stated, spec)
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
    said = spec.get("path")
    return os.path.realpath(
        os.path.join(root, (said if isinstance(said, str) else "").replace("\0", "").lstrip("/"))
    )


def _fault(spec: Mapping[str, Any], path: str, root: str) -> str:
    unknown = sorted(str(field) for field in spec if field not in _APPLIED | _NOT_BUILT)
    if unknown:
        return f"its field {unknown[0]} is not known here"
    if not root or not boundary.contains(os.path.realpath(root), path):
        return "its path is outside of the repository"
    return "" if os.path.isdir(path) else f"its path {spec.get('path')} is not a folder of the repository"


def source_fault(stated: FluxObject, spec: Mapping[str, Any], root: str) -> tuple[str, tuple[str, ...]]:
    """Why the folder is not in this repository, if so; and notices about what is judged differently."""
    reference = mapping(spec.get("sourceRef"))
    kind, name = reference.get("kind"), reference.get("name")
    if kind != "GitRepository" or not isinstance(name, str):
        return f"its source is {kind} {name}, not a GitRepository", ()
    # `flux bootstrap` gives the repository that it writes to this name.
    bootstrapped = name == _BOOTSTRAPPED and not remotes(root)
    found = _git_repository(stated, spec, root)
    if not found:
        return ("" if name == _BOOTSTRAPPED else f"its source GitRepository {name} is not defined here"), ()
    repository = mapping(found.get("spec"))
    url = repository.get("url")
    if not bootstrapped and not (isinstance(url, str) and normalised(url) in remotes(root)):
        return f"its source GitRepository {name} is another repository: {url}", ()
    pinned = mapping(repository.get("ref"))
    pins = [f"{field} {pinned[field]}" for field in ("tag", "semver", "commit", "name") if pinned.get(field)]
    return "", tuple(f"it applies {pin}, judged as the work tree is" for pin in pins)


def _git_repository(stated: FluxObject, spec: Mapping[str, Any], root: str) -> Mapping[str, Any]:
    """The GitRepository of a source; empty: it is not in the repository."""
    reference = mapping(spec.get("sourceRef"))
    namespace = reference.get("namespace") or stated.manifest.namespace or ""
    wanted = ("GitRepository", namespace, reference.get("name"))
    for file in controller_files(root).flux:
        for each in _objects(file, f"{_SOURCES}/"):
            if each.named() == wanted and each.manifest.group == _SOURCES:
                return each.manifest.data
    return {}


def _added(spec: Mapping[str, Any], path: str, root: str) -> tuple[dict[str, Any], str]:
    """Fields added to the kustomization of the folder, or why they cannot be added."""
    added: dict[str, Any] = {}
    for field, name in (("targetNamespace", "namespace"), ("namePrefix",) * 2, ("nameSuffix",) * 2):
        if isinstance(spec.get(field), str) and spec[field]:
            added[name] = spec[field]
    for field in ("patches", "images"):
        if isinstance(spec.get(field), list) and spec[field]:
            added[field] = [each for each in spec[field] if isinstance(each, dict)]
    patch = _common_metadata(mapping(spec.get("commonMetadata")))
    if patch:
        added["patches"] = [*added.get("patches", ()), patch]
    if any("path" in each for each in added.get("patches", ())):
        return {}, "a patch of it names a file"
    components = []
    stated = spec.get("components")
    for said in stated if isinstance(stated, list) else ():
        place = os.path.realpath(os.path.join(path, str(said).replace("\0", "")))
        if os.path.isdir(place) and boundary.contains(os.path.realpath(root), place):
            components.append(place)
        elif os.path.lexists(place) or spec.get("ignoreMissingComponents") is not True:
            return {}, f"its component {said} is not a folder of the repository"
    return ({**added, "components": components} if components else added), ""


def _common_metadata(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """A patch of all objects: unlike labels of kustomize, those of Flux are not set on pod templates."""
    import json

    about = {
        field: mapping(said.get(field)) for field in ("labels", "annotations") if mapping(said.get(field))
    }
    if not about:
        return None
    patch = {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "any", **about}}
    return {"target": {"kind": ".*"}, "patch": json.dumps(patch)}


def _variables(stated: FluxObject, spec: Mapping[str, Any]) -> Variables | None:
    post = mapping(spec.get("postBuild"))
    found: list[Variables] = []
    references = post.get("substituteFrom")
    for each in references if isinstance(references, list) else ():
        if isinstance(each, dict):
            found.append(_referenced(stated, each))
    if mapping(post.get("substitute")):
        found.append(Variables(texts(mapping(post.get("substitute")))))
    return joined(found) if found else None


def _referenced(stated: FluxObject, reference: Mapping[str, Any]) -> Variables:
    """The variables of a ConfigMap or Secret next to the Kustomization; if it is not here, any may exist."""
    wanted = (str(reference.get("kind")), str(reference.get("name")))
    here = os.path.dirname(stated.file)
    root = repository_root(here) or here
    near = [file for file in repository_files(root) if boundary.within(file, here)] or [stated.file]
    for files in (near, repository_files(root)):
        found = [
            each
            for file in files
            for each in _objects(file, wanted[1])
            if (each.manifest.kind, each.manifest.name) == wanted
        ]
        if len(found) == 1:
            return variables_of_object(found[0].manifest.data)
        if found:
            break
    return Variables(complete=False)
