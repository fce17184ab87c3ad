"""The generated files of one policy, compared with a folder: what differs, blocks or may be deleted.

Every format that is generated (YAML, Markdown, shell, environment files) has comments, so the
header in its first lines identifies a generated file; there is no separate list. A copy of a file with its
header counts as generated too: `gen --check` reports it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.errors import PolicykitError, SourceError
from policykit.formats.findings import counted
from policykit.generator.bundle import bundle, drift
from policykit.generator.header import is_crlf, owner
from policykit.namedtuple import NamedTuple
from policykit.policy.locations import policy_locations
from policykit.workspace import filesystem, writing
from policykit.workspace.files import shown_path
from policykit.workspace.policies import output_folders, policy_names, reader, shown_as
from policykit.workspace.safe_paths import SafePath, below, names_git, read, writable

if TYPE_CHECKING:
    from policykit.generator.artifact import TargetOutput
    from policykit.model.cluster import Cluster

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
    while not filesystem.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    if filesystem.islink(here) and not filesystem.exists(here):
        raise SourceError(
            "cannot be written: it is a broken link",
            "create the folder it points to, or remove the link",
            here,
        )
    if filesystem.lexists(here) and not filesystem.isdir(here):
        raise SourceError(
            "cannot be written: it is a file, not a folder",
            "move it away, or choose another output folder with -o",
            here,
        )


def obstacles_in(
    folder: str, paths: Iterable[str], policy: str, apart: Mapping[str, str] | None = None
) -> dict[str, Obstacle]:
    """Paths that must not be overwritten, with the reason: the file there was not generated."""
    found = ((path, _obstacle(folder, path, policy, apart or {})) for path in paths)
    return {path: obstacle for path, obstacle in found if obstacle}


def remove(folder: SafePath, paths: Iterable[str]) -> None:
    """Deletes files, and the folders they leave empty. Raises SourceError."""
    for path in paths:
        writing.remove(below(folder, path), folder)


def tidy(folder: SafePath, leftovers: Iterable[str]) -> None:
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
    real = filesystem.realpath(folder)
    for here, folders, names in filesystem.walk(folder):
        below = os.path.normpath(os.path.join(real, os.path.relpath(here, folder)))
        folders[:] = sorted(
            name
            for name in folders
            if not names_git(name)
            and os.path.join(below, name) not in apart
            and not filesystem.lexists(os.path.join(here, name, ".git"))
        )
        paths = (os.path.join(here, name) for name in sorted(names))
        yield from (path for path in paths if filesystem.isfile(path) and not filesystem.islink(path))


def _obstacle(folder: str, path: str, policy: str, apart: Mapping[str, str]) -> Obstacle | None:
    steps = path.split("/")
    for end in range(1, len(steps)):
        inner = os.path.join(folder, *steps[:end])
        if filesystem.realpath(inner) in apart:
            return Obstacle(
                f"is in the folder of {apart[filesystem.realpath(inner)]}",
                "give each policy a generate.out of its own",
            )
        if filesystem.lexists(os.path.join(inner, ".git")):
            return Obstacle(f"is in another repository, {inner}", "choose another output folder with -o")
        if filesystem.islink(inner):
            return Obstacle(f"is behind the link {inner}", "put a folder in its place, or remove it")
        if filesystem.lexists(inner) and not filesystem.isdir(inner):
            return Obstacle(f"is below {inner}, which is a file", "move that file away")
    return _in_place(os.path.join(folder, path), policy)


def _in_place(path: str, policy: str) -> Obstacle | None:
    if filesystem.islink(path):
        return Obstacle("is a link", "remove it: generated files are written in place, never through links")
    if filesystem.isdir(path):
        return Obstacle("is a folder", "move it away, or choose another output folder with -o")
    if not filesystem.lexists(path) or ((name := _owner(path)) == policy and _text(path) is not None):
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


class Plan(NamedTuple):
    """The files of a policy, and what exists at their paths."""

    place: SafePath
    """The folder."""
    files: dict[str, str]
    found: OutputFiles
    missing: list[str]
    different: list[str]
    orphaned: list[str]
    obstacles: dict[str, Obstacle]
    """Missing files whose path is taken."""
    stale: dict[str, str]
    """Files generated from a policy that is no longer in the repository, and its name."""

    @property
    def folder(self) -> str:
        """The path shown to users."""
        return self.place.path


def plan(
    reference: str,
    policy: str,
    place: SafePath,
    files: Mapping[str, str],
    other_folders: Mapping[str, str],
    *,
    whole: bool,
    own: bool = True,
    former_names: Container[str] = (),
) -> Plan:
    """What to write. Raises SourceError if the path cannot be a folder.

    `other_folders`: the real folders that other policies write to, with those policies; `whole`: the
    files are everything the policy generates; `own`: the folder is the one that the policy names;
    `former_names`: names that the policy says it had.
    """
    folder = place.path
    check_folder(folder)
    found = read_folder(folder, policy, other_folders)
    known = policy_names(reference, folder) if found.others else frozenset()
    former = _former_name(found, files, known, former_names) if own else ""
    if former:
        found = read_folder(folder, former, other_folders)
    there = as_there(files, found.ours)
    missing, different, orphaned = drift(there, found.ours)
    obstacles = obstacles_in(
        folder, missing, policy, {real: shown_path(path) for real, path in other_folders.items()}
    )
    others = {path: name for path, name in found.others.items() if path not in files}
    stale = {path: name for path, name in others.items() if name not in known}
    if not whole:
        orphaned, stale = [], {}
    return Plan(place, there, found, missing, different, orphaned, obstacles, stale)


def _former_name(
    found: OutputFiles, files: Collection[str], known: Container[str], stated: Container[str]
) -> str:
    """The name that the policy had when it generated a folder; empty: it has not been renamed.

    It has if all files there are of one policy, which the repository no longer has, and they have most of the
    paths that it writes now, or the policy says that this was its name.
    """
    names = [*dict.fromkeys(found.others.values())]
    if len(names) != 1 or names[0] in known or found.ours:
        return ""
    if names[0] in stated:
        return names[0]
    return names[0] if sum(path in files for path in found.others) * 2 > len(files) else ""


def generated(reference: str, cluster: Cluster, targets: Sequence[str] = ()) -> TargetOutput:
    """What a policy's targets write. Raises PolicykitError, with its location in the policy if it has one."""
    try:
        return api.generate(cluster, targets)
    except PolicykitError as error:
        raise _located(reference, error) from None


def folder_of(reference: str, out: str) -> SafePath:
    """The folder that `generate.out` names. Raises PolicykitError if it is outside the repository."""
    try:
        return writable(shown_path(os.path.join(os.path.dirname(reference), out)), by=reference)
    except SourceError as error:
        fault = PolicykitError(f"generate.out {error.message}", error.hint, path=("generate", "out"))
        raise _located(reference, fault) from None


def _located(reference: str, error: PolicykitError) -> PolicykitError:
    """An error about a path in a policy, with its file, line and column."""
    name = shown_as(reference)
    locations = policy_locations(name, reader(name)) if error.path and not error.place else None
    if locations is None:
        return error
    file, span = locations.at(error.path, False)
    return PolicykitError(error.message, error.hint, f"{file}:{span.line}:{span.column}")


def committed(reference: str, cluster: Cluster, among: Container[str] | None = None) -> Plan | None:
    """A policy compared with its folder; None if the folder has no file of it.

    `among`: absolute paths, one of which must be such a file. Raises PolicykitError if the
    policy cannot be generated.
    """
    if not cluster.output:
        return None
    place = folder_of(reference, cluster.output)
    folder = place.path
    if not filesystem.isdir(folder):
        return None
    other_folders = output_folders(reference, folder)
    found = read_folder(folder, cluster.name, other_folders)
    ours = (*found.ours, *found.others)
    if not any(among is None or os.path.abspath(os.path.join(folder, path)) in among for path in ours):
        return None
    return plan(
        reference,
        cluster.name,
        place,
        bundle(cluster, generated(reference, cluster)),
        other_folders,
        whole=True,
    )


def refuse_shared(folder: str, other_folders: Mapping[str, str]) -> None:
    """Raises SourceError if another policy writes to this folder."""
    other = other_folders.get(filesystem.realpath(folder))
    if other:
        raise SourceError(
            f"{shown_path(other)} also writes to this folder", "give each policy its own generate.out", folder
        )


def refuse(plan: Plan) -> None:
    """Raises SourceError if the path of a file is taken: then nothing is written."""
    for path, obstacle in plan.obstacles.items():
        others = len(plan.obstacles) - 1
        more = f", and {counted(others, 'more file')}" if others else ""
        place = os.path.join(plan.folder, path)
        raise SourceError(f"{obstacle.why}, so it was not overwritten{more}", obstacle.hint, place)
