"""Files of a repository that may have objects of Flux or Argo CD: each file is read once for both."""

from __future__ import annotations

import os
from collections.abc import Iterator

from policykit.errors import SourceError
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.command_state import cached, hand_over
from policykit.workspace.files import read, repository_files
from policykit.workspace.scopes import kustomization

_FLUX = b".fluxcd.io/"
_ARGO_CD = b"argoproj.io/"
_VARIABLES = (b"ConfigMap", b"Secret")
_GENERATORS = (b"configMapGenerator", b"secretGenerator")
_MOST = 1 << 22
"""Bytes that are kept for the run, which lints most of the files: not more, whatever the repository has."""


class ControllerFiles(NamedTuple):
    """Absolute paths, in a stable order."""

    flux: tuple[str, ...]
    argo_cd: tuple[str, ...]
    variables: tuple[str, ...]
    """Files that may have ConfigMaps or Secrets."""
    generators: tuple[str, ...]
    """Kustomizations that may generate them."""


@cached
def controller_files(root: str) -> ControllerFiles:
    """Files that contain the API group of a controller, or what it reads variables from."""
    contents: dict[str, bytes] = {}
    left = _MOST
    flux: list[str] = []
    argo_cd: list[str] = []
    variables: list[str] = []
    generators: list[str] = []
    for path in repository_files(root):
        with (
            filesystem.ToLint()
        ):  # where no file names a controller, see `names_controller`, it decides nothing
            raw = raw_of(path)
        left -= len(raw)
        if raw and left >= 0:
            contents[path] = raw
        if _FLUX in raw:
            flux.append(path)
        if _ARGO_CD in raw:
            argo_cd.append(path)
        if any(kind in raw for kind in _VARIABLES):
            variables.append(path)
        if any(field in raw for field in _GENERATORS) and kustomization(os.path.dirname(path)) == path:
            generators.append(path)
    hand_over(contents)
    return ControllerFiles(tuple(flux), tuple(argo_cd), tuple(variables), tuple(generators))


def names_controller(raw: bytes) -> bool:
    """Whether a file may have objects of a controller."""
    return _FLUX in raw or _ARGO_CD in raw


def has_controllers(root: str | None) -> bool:
    """Whether a repository may have objects of a controller; None: there is no repository."""
    found = controller_files(root) if root else None
    return found is not None and bool(found.flux or found.argo_cd)


def raw_of(file: str) -> bytes:
    """The bytes of a file; empty if it cannot be read, which is reported where it is linted."""
    try:
        return read(file)
    except SourceError:
        return b""


class ControllerObject(NamedTuple):
    """An object, as a cluster gets it."""

    file: str
    """The file that it is written in."""
    manifest: Manifest
    written: Manifest
    """As written in that file; the same object if nothing builds it."""
    namespace: str = ""
    """Empty: unknown."""


@cached
def written_objects(file: str, mark: str) -> tuple[ControllerObject, ...]:
    """The objects of a file; empty: it cannot be read, or does not contain the text `mark`."""
    raw = raw_of(file)
    return tuple(objects_in(raw.decode("utf-8", errors="replace"), file)) if mark.encode() in raw else ()


def objects_in(text: str, file: str, namespace: str = "") -> Iterator[ControllerObject]:
    """The objects of a text; `namespace`: that of objects that set none."""
    for number, parsed in enumerate(parse(text)):
        for each in manifests(parsed.root, number) if parsed.root else ():
            yield ControllerObject(file, each, each, each.namespace or namespace)
