"""The baselines that accept findings of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext

from policykit.errors import Failures
from policykit.linter.baseline import BaselineFile, Baselines
from policykit.linter.member import STDIN, Member
from policykit.workspace.baselines import load, nearest_baselines
from policykit.workspace.boundary import within
from policykit.workspace.files import BASELINE, shown_path
from policykit.workspace.linting.request import Request


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
        with nullcontext() if request.baseline else failures.collect(shown_path(path)):
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
