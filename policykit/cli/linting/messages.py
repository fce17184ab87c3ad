"""Messages about kustomizations that were not built, and all else that was not judged or recognized."""

from __future__ import annotations

from policykit.linter.finding import Report
from policykit.linter.not_judged import EMPTY_INPUT, SOURCE
from policykit.linter.workspace import Workspace
from policykit.workspace.linting.workspace import WorkspaceNotes

_TOLD = (EMPTY_INPUT, SOURCE)
"""Reasons that are told without `--show-files`."""
_MOST = 3


def about_builds(workspace: Workspace, notes: WorkspaceNotes, *, every: bool) -> list[str]:
    """A message about kustomizations that were not built; with `every`, one for each kustomization."""
    lines = [f"policykit: {notice}" for notice in notes.notices]
    not_built = [one for one in workspace.not_judged if one.reason != SOURCE]
    if every:
        lines += [f"built {each.shown} with kustomize" for each in workspace.builds if not each.file]
        return lines + [f"not built {one.path}: {one.detail}" for one in not_built]
    if not not_built:
        return lines
    folder, why = not_built[0].path, not_built[0].detail
    more = len(not_built) - 1
    if not more:
        return [*lines, f"policykit: {folder} is linted file by file: {why}"]
    if len({one.detail for one in not_built}) == 1:
        return [*lines, f"policykit: {more + 1} kustomizations are linted file by file: {why}"]
    return [
        *lines,
        f"policykit: {more + 1} kustomizations are linted file by file; {folder}: {why}"
        " (--show-files names the others)",
    ]


def about_not_judged(report: Report, workspace: Workspace, *, every: bool) -> list[str]:
    """Messages about standard input without objects and about sources, with `every` about everything that was
    not judged; `about_builds` has those about kustomizations."""
    builds = {one for one in workspace.not_judged if one.reason != SOURCE}
    found = [one for one in report.not_judged if one not in builds and (every or one.reason in _TOLD)]
    lines = [f"policykit: {one.path} is not judged: {one.detail}" for one in found]
    if every or len(lines) <= _MOST:
        return lines
    more = len(lines) - _MOST
    return [*lines[:_MOST], f"policykit: {more} more are not judged (--show-files names them)"]


def about_workload_kinds(report: Report) -> list[str]:
    """One message about all objects that request cards and have no workload kind."""
    if not report.unrecognized:
        return []
    from policykit.placement.recognition import HOW_TO_STATE

    path, name = report.unrecognized[0]
    more = len(report.unrecognized) - 1
    have = f" and {more} more have" if more else " has"
    return [
        f"policykit: {name} in {path}{have} no workload kind, although the pods request cards: rules about"
        f" workload kinds skip {'them' if more else 'it'}; {HOW_TO_STATE}"
    ]
