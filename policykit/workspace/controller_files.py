"""Files of a repository that may have objects of Flux or Argo CD: each file is read once for both."""

from __future__ import annotations

from policykit.errors import SourceError
from policykit.namedtuple import NamedTuple
from policykit.workspace.disk import cached
from policykit.workspace.files import read, repository_files

_FLUX = b".toolkit.fluxcd.io/"
_ARGO_CD = b"argoproj.io/"


class ControllerFiles(NamedTuple):
    """Absolute paths, in a stable order."""

    flux: tuple[str, ...]
    argo_cd: tuple[str, ...]


@cached
def controller_files(root: str) -> ControllerFiles:
    """Files that contain the API group of a controller."""
    flux: list[str] = []
    argo_cd: list[str] = []
    for path in repository_files(root):
        raw = raw_of(path)
        if _FLUX in raw:
            flux.append(path)
        if _ARGO_CD in raw:
            argo_cd.append(path)
    return ControllerFiles(tuple(flux), tuple(argo_cd))


def raw_of(file: str) -> bytes:
    """The bytes of a file; empty if it cannot be read, which is reported where it is linted."""
    try:
        return read(file)
    except SourceError:
        return b""
