"""What Flux Kustomizations beside a policy say that its cluster applies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from policykit.errors import SourceError
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.namedtuple import NamedTuple
from policykit.workspace import boundary
from policykit.workspace.disk import cached
from policykit.workspace.files import FLUX, files_of_controllers, read, repository_files, repository_root
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
"""Fields that change nothing in what is built."""
_APPLIED = frozenset(
    {"path", "sourceRef", "targetNamespace", "patches", "images", "components", "postBuild", "commonMetadata"}
    | {"namePrefix", "nameSuffix", "kubeConfig", "ignoreMissingComponents"}
)


class FluxObject(NamedTuple):
    """An object of a file."""

    file: str
    manifest: Manifest

    def named(self) -> tuple[str, str, str]:
        return self.manifest.kind, self.manifest.namespace or "", self.manifest.name


def flux_sources(root: str, cluster: str, beside: Callable[[str], bool]) -> tuple[Source, ...]:
    """The sources that the Flux Kustomizations of a repository state for a cluster of that name.

    One with a `kubeConfig` is for the cluster that its Secret is named after, others for the cluster whose
    policy is `beside` their file.
    """
    found = []
    for each in _kustomizations(root):
        spec = _map(each.manifest.data, "spec")
        remote = _remote_cluster(spec)
        if cluster in remote or (not remote and beside(each.file)):
            found.append(_source(each, spec))
    return tuple(found)


def _remote_cluster(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the cluster that a kubeConfig leads to; empty: there is none."""
    said = _map(spec, "kubeConfig")
    names = [_map(said, field).get("name") for field in ("secretRef", "configMapRef")]
    found = [name for name in names if isinstance(name, str) and name]
    return tuple(each for name in found for each in (name, name.removesuffix("-kubeconfig")))


def _raw(file: str) -> bytes:
    try:
        return read(file)
    except SourceError:
        return b""  # told where the file is linted


@cached
def _kustomizations(root: str) -> tuple[FluxObject, ...]:
    return tuple(
        each
        for file in files_of_controllers(root)[FLUX]
        for each in _objects(file, f"{_GROUP}/")
        if each.manifest.kind == "Kustomization" and each.manifest.group == _GROUP
    )


@cached
def _objects(file: str, mark: str) -> tuple[FluxObject, ...]:
    """The objects of a file that has a text in it; empty: it cannot be read, or has not."""
    raw = _raw(file)
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
    said = spec.get("path")
    path = os.path.realpath(
        os.path.join(root, (said if isinstance(said, str) else "").replace("\0", "").lstrip("/"))
    )
    why_not, notices = source_fault(stated, spec, root)
    why_not = why_not or _fault(spec, path, root)
    if why_not:
        return Source("", Form.KUSTOMIZATION, statement, why_not=why_not)
    form = Form.KUSTOMIZATION if kustomization(path) else Form.FLUX_FOLDER
    added, why_not = _added(spec, path, root)
    variables = _variables(stated, spec)
    return Source(
        path, form, statement, added, variables, unrestricted=True, notices=notices, why_not=why_not
    )


def _fault(spec: Mapping[str, Any], path: str, root: str) -> str:
    unknown = sorted(str(field) for field in spec if field not in _APPLIED | _NOT_BUILT)
    if unknown:
        return f"its field {unknown[0]} is not known here"
    if not root or not boundary.contains(os.path.realpath(root), path):
        return "its path is outside of the repository"
    return "" if os.path.isdir(path) else f"its path {spec.get('path')} is not a folder of the repository"


def source_fault(stated: FluxObject, spec: Mapping[str, Any], root: str) -> tuple[str, tuple[str, ...]]:
    """Why the folder is not one of this repository; and what is judged otherwise than it is applied."""
    reference = _map(spec, "sourceRef")
    kind, name = reference.get("kind"), reference.get("name")
    if kind != "GitRepository" or not isinstance(name, str):
        return f"its source is {kind} {name}, not a GitRepository", ()
    namespace = reference.get("namespace") or stated.manifest.namespace or ""
    found = [
        each
        for file in files_of_controllers(root)[FLUX]
        for each in _objects(file, f"{_SOURCES}/")
        if each.named() == ("GitRepository", namespace, name) and each.manifest.group == _SOURCES
    ]
    # `flux bootstrap` gives the repository that it writes to this name.
    bootstrapped = name == _BOOTSTRAPPED and not remotes(root)
    if not found:
        return ("" if name == _BOOTSTRAPPED else f"its source GitRepository {name} is not defined here"), ()
    repository = _map(found[0].manifest.data, "spec")
    url = repository.get("url")
    if not bootstrapped and not (isinstance(url, str) and normalised(url) in remotes(root)):
        return f"its source GitRepository {name} is another repository: {url}", ()
    pinned = _map(repository, "ref")
    pins = [f"{field} {pinned[field]}" for field in ("tag", "semver", "commit", "name") if pinned.get(field)]
    return "", tuple(f"it applies {pin}, judged as the work tree is" for pin in pins)


def _added(spec: Mapping[str, Any], path: str, root: str) -> tuple[dict[str, Any], str]:
    """What is added to the kustomization of the folder, and why that cannot be done."""
    added: dict[str, Any] = {}
    for field, name in (("targetNamespace", "namespace"), ("namePrefix",) * 2, ("nameSuffix",) * 2):
        if isinstance(spec.get(field), str) and spec[field]:
            added[name] = spec[field]
    for field in ("patches", "images"):
        if isinstance(spec.get(field), list) and spec[field]:
            added[field] = [each for each in spec[field] if isinstance(each, dict)]
    patch = _common_metadata(_map(spec, "commonMetadata"))
    if patch:
        added["patches"] = [*added.get("patches", ()), patch]
    if any("path" in each for each in added.get("patches", ())):
        return {}, "a patch of it names a file"
    if {"namePrefix", "nameSuffix"} & added.keys() & _own_fields(path):
        return {}, "it and the kustomization of its folder both change names"
    components = []
    stated = spec.get("components")
    for said in stated if isinstance(stated, list) else ():
        place = os.path.realpath(os.path.join(path, str(said).replace("\0", "")))
        if os.path.isdir(place) and boundary.contains(os.path.realpath(root), place):
            components.append(place)
        elif os.path.lexists(place) or spec.get("ignoreMissingComponents") is not True:
            return {}, f"its component {said} is not a folder of the repository"
    return ({**added, "components": components} if components else added), ""


def _own_fields(path: str) -> frozenset[str]:
    file = kustomization(path)
    found = _objects(file, "name") if file else ()
    return frozenset(str(field) for each in found for field in each.manifest.data)


def _common_metadata(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """A patch of all objects: labels of Flux, other than those of kustomize, are for the objects alone."""
    import json

    about = {field: _map(said, field) for field in ("labels", "annotations") if _map(said, field)}
    if not about:
        return None
    patch = {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "any", **about}}
    return {"target": {"kind": ".*"}, "patch": json.dumps(patch)}


def _variables(stated: FluxObject, spec: Mapping[str, Any]) -> Variables | None:
    post = _map(spec, "postBuild")
    found: list[Variables] = []
    references = post.get("substituteFrom")
    for each in references if isinstance(references, list) else ():
        if isinstance(each, dict):
            found.append(_referenced(stated, each))
    if _map(post, "substitute"):
        found.append(Variables(texts(_map(post, "substitute"))))
    return joined(found) if found else None


def _referenced(stated: FluxObject, reference: Mapping[str, Any]) -> Variables:
    """The variables of a ConfigMap or Secret beside the Kustomization; what is not here may say anything."""
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


def _map(data: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = data.get(field)
    return value if isinstance(value, dict) else {}
