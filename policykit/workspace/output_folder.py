"""An output folder on disk: which files are generated, what blocks writing, what may be deleted.

Every format that is generated (YAML, Markdown, shell, environment files) has comments, so the
header in its first lines identifies a generated file; there is no separate list. A copy of a file with its
header counts as generated too: `gen --check` reports it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from policykit.errors import SourceError
from policykit.generator.header import is_crlf, owner
from policykit.namedtuple import NamedTuple
from policykit.workspace import writing
from policykit.workspace.boundary import Place, below, names_git, read

_HEAD = 4096
"""The header of a generated file is within this many bytes."""


class OutputFiles(NamedTuple):
    """Files of an output folder; paths are relative to it and use `/`."""

    ours: dict[str, str]
    """Text of the files that were generated from this policy."""
    others: dict[str, str]
    """Files generated from another policy, to the name of that policy."""
    leftovers: tuple[str, ...] = ()
    """Temporary files of killed runs. They are hidden and have a suffix that no tool reads."""


class Obstacle(NamedTuple):
    """Why a file cannot be written (the text after its path in the message), and what to do."""

    why: str
    hint: str


def read_folder(folder: str, policy: str, apart: Iterable[str] = ()) -> OutputFiles:
    """Reads a folder. Skips links, other repositories, and `apart` (real paths of folders of other
    policies)."""
    found = OutputFiles({}, {})
    leftovers: list[str] = []
    for path in _files(folder, frozenset(apart)):
        relative = os.path.relpath(path, folder).replace(os.sep, "/")
        if writing.is_leftover(os.path.basename(path)):
            leftovers.append(relative)
        elif (name := _owner(path)) == policy:
            text = _text(path)
            if text is not None:
                found.ours[relative] = text
        elif name:
            found.others[relative] = name
    return found._replace(leftovers=tuple(leftovers))


def check_folder(folder: str) -> None:
    """Raises SourceError if an output folder is not a folder or cannot be created."""
    here = folder
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    if os.path.islink(here) and not os.path.exists(here):
        raise SourceError(
            "cannot be written: it is a broken link",
            "create the folder it points to, or remove the link",
            here,
        )
    if os.path.lexists(here) and not os.path.isdir(here):
        raise SourceError(
            "cannot be written: it is a file, not a folder",
            "move it away, or choose another output folder with -o",
            here,
        )


def obstacles(
    folder: str, paths: Iterable[str], policy: str, apart: Mapping[str, str] | None = None
) -> dict[str, Obstacle]:
    """Paths that must not be overwritten, with the reason: the file there was not generated."""
    found = ((path, _obstacle(folder, path, policy, apart or {})) for path in paths)
    return {path: obstacle for path, obstacle in found if obstacle}


def remove(folder: Place, paths: Iterable[str]) -> None:
    """Deletes files, and the folders they leave empty. Raises SourceError."""
    for path in paths:
        writing.remove(below(folder, path), folder)


def tidy(folder: Place, leftovers: Iterable[str]) -> None:
    """Deletes temporary files of killed runs, except recent ones that another run may still be writing."""
    for path in leftovers:
        writing.remove_leftover(below(folder, path))


def as_there(files: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Texts with the line endings of the existing files: git may check them out with CRLF.

    A file counts as converted only if each of its lines is; a single CRLF is an edit by hand.
    """
    return {
        path: text.replace("\n", "\r\n") if is_crlf(there.get(path, "")) else text
        for path, text in files.items()
    }


def _files(folder: str, apart: frozenset[str]) -> Iterator[str]:
    real = os.path.realpath(folder)
    for here, folders, names in os.walk(folder):
        below = os.path.normpath(os.path.join(real, os.path.relpath(here, folder)))
        folders[:] = sorted(
            name
            for name in folders
            if not names_git(name)
            and os.path.join(below, name) not in apart
            and not os.path.lexists(os.path.join(here, name, ".git"))
        )
        paths = (os.path.join(here, name) for name in sorted(names))
        yield from (path for path in paths if os.path.isfile(path) and not os.path.islink(path))


def _obstacle(folder: str, path: str, policy: str, apart: Mapping[str, str]) -> Obstacle | None:
    steps = path.split("/")
    for end in range(1, len(steps)):
        inner = os.path.join(folder, *steps[:end])
        if os.path.realpath(inner) in apart:
            return Obstacle(
                f"is in the folder of {apart[os.path.realpath(inner)]}",
                "give each policy a generate.out of its own",
            )
        if os.path.lexists(os.path.join(inner, ".git")):
            return Obstacle(f"is in another repository, {inner}", "choose another output folder with -o")
        if os.path.islink(inner):
            return Obstacle(f"is behind the link {inner}", "put a folder in its place, or remove it")
        if os.path.lexists(inner) and not os.path.isdir(inner):
            return Obstacle(f"is below {inner}, which is a file", "move that file away")
    return _in_place(os.path.join(folder, path), policy)


def _in_place(path: str, policy: str) -> Obstacle | None:
    if os.path.islink(path):
        return Obstacle("is a link", "remove it: generated files are written in place, never through links")
    if os.path.isdir(path):
        return Obstacle("is a folder", "move it away, or choose another output folder with -o")
    if not os.path.lexists(path) or ((name := _owner(path)) == policy and _text(path) is not None):
        return None
    if name and name != policy:
        return Obstacle(
            f"was generated from policy {name}",
            f"if {name} was renamed to {policy}, delete the files that say so; if both are in use, give each"
            " a generate.out of its own",
        )
    return Obstacle(
        "was not generated from this policy",
        "move it away, or choose another output folder with -o; a generated file that lost its header can be"
        " deleted",
    )


def _owner(path: str) -> str:
    """The policy in the header of a file; empty: it has none, or cannot be read."""
    try:
        return owner(read(path, part=_HEAD).decode("utf-8", errors="replace"))
    except SourceError:
        return ""


def _text(path: str) -> str | None:
    """None: the file is not UTF-8 text."""
    try:
        return read(path).decode("utf-8")
    except (SourceError, UnicodeDecodeError):
        return None
