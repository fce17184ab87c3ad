"""Which findings a run reports as new: those outside baselines, and with `--since` in changed documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from policykit.cli.linting.request import Request
from policykit.errors import Failures, SourceError
from policykit.linter.baseline import BaselineFile, Baselines
from policykit.linter.member import STDIN, Member
from policykit.workspace.baselines import folder_of, load, nearest_baselines, shown_as
from policykit.workspace.boundary import within
from policykit.workspace.files import BASELINE, repository_root


def baselines_of(
    request: Request, members: Sequence[Member], other_files: Sequence[str], failures: Failures
) -> Baselines | None:
    """The baselines that apply to files of the run; None: there are none.

    One that cannot be read or is not valid is a failure of the run and accepts nothing. Raises
    SourceError if the command line names it.
    """
    governing = {} if request.no_baseline else _governing(request, members, other_files)
    if not governing:
        return None
    files: dict[str, BaselineFile] = {}
    for path in sorted(set(governing.values())):
        with nullcontext() if request.baseline else failures.collect(shown_as(path)):
            files[path] = load(path)
    whole = not failures
    covered = (path for path, file in files.items() if whole and not uncovered(file, request.paths))
    known = {file: path for file, path in governing.items() if path in files}
    return Baselines(files, known, frozenset(covered))


def uncovered(file: BaselineFile, paths: Sequence[str]) -> list[str]:
    """Existing paths that a baseline covers and the arguments do not."""
    given = [os.path.abspath(path) for path in paths if path != STDIN]
    places = [os.path.normpath(os.path.join(file.folder, path)) for path in file.baseline.covers]
    return [
        place for place in places if os.path.lexists(place) and not any(within(place, path) for path in given)
    ]


def _governing(request: Request, members: Sequence[Member], other_files: Sequence[str]) -> dict[str, str]:
    """The baseline of each file; a folder that no longer contains manifests still has one."""
    files = [*(member.path for member in members), *other_files]
    files += [os.path.join(path, BASELINE) for path in request.named]
    if request.baseline:
        return dict.fromkeys(files, os.path.abspath(request.baseline))
    return nearest_baselines(files)


def changes_of(
    members: Sequence[Member], read: Callable[[str], bytes], revision: str
) -> Mapping[str, frozenset[int]]:
    """The indices of the changed documents of each file that is not new as a whole, by reported path.

    The revision is one of the repository that the current folder belongs to. Raises SourceError or
    UsageError if git fails.
    """
    from policykit.workspace.revisions import changed_documents, changes_since, top_of

    found: dict[str, frozenset[int]] = {}
    here = repository_root(os.getcwd())
    home = top_of(here) if here else ""
    for root, own in _by_repository(members).items():
        files = [member.file for member in own]
        changes = changes_since(revision, files, top_of(root or folder_of(files[0])), home)
        for member in own:
            change = changes.of(member.file)
            if change is None:
                found[member.path] = frozenset()
            elif change[0] is not None:
                found[member.path] = changed_documents(change[0], _now(read, member.file))
    return found


def _by_repository(members: Sequence[Member]) -> dict[str | None, list[Member]]:
    found: dict[str | None, list[Member]] = {}
    for member in members:
        if member.file != STDIN:
            found.setdefault(repository_root(folder_of(member.file)), []).append(member)
    return found


def _now(read: Callable[[str], bytes], file: str) -> bytes:
    try:
        return read(file)
    except SourceError:
        # Reported where it is linted; it has no findings.
        return b""
