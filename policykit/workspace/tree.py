"""A folder of generated files on disk: what is ours there, what stands in the way, what may go.

Every format that is generated (YAML, Markdown, shell, environment files) has comments, so the
header in its first lines tells ours from others; there is no list of generated files beside it.
Whoever copies a file together with its header copies the claim too: `gen --check` names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.generator.bundle import owner
from policykit.workspace import writing
from policykit.workspace.boundary import Place, below, names_git, read

_HEAD = 4096
"""Bytes in which the header of a generated file stands."""


class OutputFiles(NamedTuple):
    """What stands in an output folder, paths relative to it, with `/`."""

    ours: dict[str, str]
    """Text of the files that were generated from this policy."""
    others: dict[str, str]
    """Policy that a file was generated from, if it was another one."""
    leftovers: tuple[str, ...] = ()
    """What killed runs left. Never applied: hidden, and with a suffix that nothing reads."""


class Obstacle(NamedTuple):
    """Why a file cannot be written, as what follows its path, and what to do."""

    why: str
    hint: str


def read_folder(folder: str, policy: str, apart: Iterable[str] = ()) -> OutputFiles:
    """Reads a folder. Links are not followed and never ours; neither is what stands `apart`
    (real folders of other policies) or in another repository."""
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
    """Raises SourceError where a folder to write to is none, or cannot be made."""
    here = folder
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    if os.path.islink(here) and not os.path.exists(here):
        raise SourceError(
            "cannot be written: it is a link that leads nowhere",
            "make the folder it leads to, or remove it",
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
    """Paths that must not be written, since what stands there is not ours, and why."""
    found = ((path, _obstacle(folder, path, policy, apart or {})) for path in paths)
    return {path: obstacle for path, obstacle in found if obstacle}


def remove(folder: Place, paths: Iterable[str]) -> None:
    """Deletes files, and the folders they leave empty. Raises SourceError."""
    for path in paths:
        writing.remove(below(folder, path), folder)


def tidy(folder: Place, leftovers: Iterable[str]) -> None:
    """Deletes what killed runs left, except what another run may be writing just now."""
    for path in leftovers:
        writing.remove_leftover(below(folder, path))


def as_there(files: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Texts with the line endings their files have: git may check them out with CRLF.

    A file counts as converted only if each of its lines is; a single CRLF is an edit by hand.
    """
    return {
        path: text.replace("\n", "\r\n") if _is_crlf(there.get(path, "")) else text
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
    """The policy a file says it was generated from; empty: none, or not readable."""
    try:
        return owner(read(path, part=_HEAD).decode("utf-8", errors="replace"))
    except SourceError:
        return ""


def _text(path: str) -> str | None:
    """None: not text."""
    try:
        return read(path).decode("utf-8")
    except (SourceError, UnicodeDecodeError):
        return None


def _is_crlf(text: str) -> bool:
    return "\n" in text and text.count("\r\n") == text.count("\n")
