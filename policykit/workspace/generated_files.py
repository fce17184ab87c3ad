"""The generated files of one policy, compared with a folder on disk."""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.errors import PolicykitError, SourceError
from policykit.formats.findings import counted
from policykit.generator.bundle import bundle, drift
from policykit.namedtuple import NamedTuple
from policykit.policy.locations import policy_locations
from policykit.workspace import output_folder
from policykit.workspace.boundary import Place, writable
from policykit.workspace.files import shown_path
from policykit.workspace.policies import output_folders, policy_names, reader, shown_as

if TYPE_CHECKING:
    from policykit.generator.artifact import Generated
    from policykit.model.cluster import Cluster


class Plan(NamedTuple):
    """The files of a policy, and what exists at their paths."""

    place: Place
    """The folder."""
    files: dict[str, str]
    found: output_folder.OutputFiles
    missing: list[str]
    different: list[str]
    orphaned: list[str]
    obstacles: dict[str, output_folder.Obstacle]
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
    place: Place,
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
    output_folder.check_folder(folder)
    found = output_folder.read_folder(folder, policy, other_folders)
    known = policy_names(reference, folder) if found.others else frozenset()
    former = _former_name(found, files, known, former_names) if own else ""
    if former:
        found = output_folder.read_folder(folder, former, other_folders)
    there = output_folder.as_there(files, found.ours)
    missing, different, orphaned = drift(there, found.ours)
    obstacles = output_folder.obstacles(
        folder, missing, policy, {real: shown_path(path) for real, path in other_folders.items()}
    )
    others = {path: name for path, name in found.others.items() if path not in files}
    stale = {path: name for path, name in others.items() if name not in known}
    if not whole:
        orphaned, stale = [], {}
    return Plan(place, there, found, missing, different, orphaned, obstacles, stale)


def _former_name(
    found: output_folder.OutputFiles, files: Collection[str], known: Container[str], stated: Container[str]
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


def generated(reference: str, cluster: Cluster, targets: Sequence[str] = ()) -> Generated:
    """What a policy's targets write. Raises PolicykitError, with its location in the policy if it has one."""
    try:
        return api.generate(cluster, targets)
    except PolicykitError as error:
        raise _located(reference, error) from None


def folder_of(reference: str, out: str) -> Place:
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
    if not os.path.isdir(folder):
        return None
    other_folders = output_folders(reference, folder)
    found = output_folder.read_folder(folder, cluster.name, other_folders)
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
    other = other_folders.get(os.path.realpath(folder))
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
