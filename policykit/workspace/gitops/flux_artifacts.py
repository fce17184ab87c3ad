"""ExternalArtifacts of Flux that an ArtifactGenerator of the repository makes from folders of it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings
from policykit.namedtuple import NamedTuple
from policykit.workspace.command_state import cached
from policykit.workspace.gitops.controller_files import ControllerObject, controller_files, written_objects

_GENERATORS = "source.extensions.fluxcd.io"
_ALL = "/**"


class _Copy(NamedTuple):
    """Everything below a folder of a source, copied to a folder of the artifact."""

    alias: str
    folder: str
    target: str


def resolved(stated: ControllerObject, spec: Mapping[str, Any], root: str) -> tuple[Mapping[str, Any], str]:
    """The spec of a Kustomization with the source of its ExternalArtifact and the path there, or why they
    are not known; any other spec as it is.

    Source: copy operations of source-watcher 2: `@alias/folder/**` copies what is in the folder.
    """
    reference = mapping(spec.get("sourceRef"))
    if reference.get("kind") != "ExternalArtifact":
        return spec, ""
    name, namespace = str(reference.get("name")), reference.get("namespace") or stated.namespace
    found = next(_artifacts(root, name, namespace), None)
    if found is None:
        return spec, f"its source ExternalArtifact {name} is made by no ArtifactGenerator of the repository"
    generator, artifact = found
    path = _from_top(str(spec.get("path") or ""))
    copies = [_copy(each) for each in mappings(artifact.get("copy"))]
    if None in copies:
        return spec, f"its source ExternalArtifact {name} is copied from more than whole folders"
    below = [each for each in copies if each and posixpath.commonpath((each.target, path)) == each.target]
    inside = [each for each in copies if each and posixpath.commonpath((each.target, path)) == path]
    if len({*below, *inside}) != 1 or not below:
        return spec, f"its path is not a single folder of the source of ExternalArtifact {name}"
    (copy,) = below
    source = next(
        (
            one
            for one in mappings(generator.manifest.data["spec"].get("sources"))
            if one.get("alias") == copy.alias
        ),
        {},
    )
    folder = posixpath.join(copy.folder, posixpath.relpath(path, copy.target))
    source = {"namespace": generator.namespace or namespace, **source}
    return {**spec, "path": folder, "sourceRef": source}, ""


def _artifacts(
    root: str, name: str, namespace: object
) -> Iterator[tuple[ControllerObject, Mapping[str, Any]]]:
    """The generators of an artifact of this name, each with its statement."""
    for each in _generators(root):
        # What is written without a namespace may get any from a kustomization.
        if not each.namespace or not namespace or each.namespace == namespace:
            for artifact in mappings(mapping(each.manifest.data.get("spec")).get("artifacts")):
                if artifact.get("name") == name:
                    yield each, artifact


@cached
def _generators(root: str) -> tuple[ControllerObject, ...]:
    return tuple(
        each
        for file in controller_files(root).flux
        for each in written_objects(file, f"{_GENERATORS}/")
        if (each.manifest.group, each.manifest.kind) == (_GENERATORS, "ArtifactGenerator")
    )


def _copy(fields: Mapping[str, Any]) -> _Copy | None:
    """None: it does not copy a whole folder as it is."""
    source, target = fields.get("from"), fields.get("to")
    if not isinstance(source, str) or not isinstance(target, str) or fields.get("exclude"):
        return None
    if not source.startswith("@") or not source.endswith(_ALL) or not target.startswith("@artifact"):
        return None
    alias, _, folder = source.removesuffix(_ALL).removeprefix("@").partition("/")
    if any(mark in folder for mark in "*?[{") or fields.get("strategy") not in (None, "Overwrite"):
        return None
    return _Copy(alias, folder, _from_top(target.removeprefix("@artifact")))


def _from_top(path: str) -> str:
    """A path in an artifact, from its top folder; it leads to nothing above."""
    return posixpath.normpath("/" + path.lstrip("/"))
