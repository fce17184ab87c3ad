"""The shape of objects, which files and builds are both judged by: what a build mends is not told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.linter.partial import says_partial
from policykit.linter.reader import decode
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Workspace


class Reconciled(NamedTuple):
    """What is told of files, and of builds."""

    files: tuple[UnitFinding, ...]
    builds: tuple[UnitFinding, ...]


def reconcile(
    workspace: Workspace, files: Sequence[UnitFinding], builds: Sequence[UnitFinding]
) -> Reconciled:
    """What a file's object lacks is told where a build of its policy lacks it; what both have is told of
    the file, which may be fixed. A file that calls itself partial is completed by others than kustomize.
    """
    codes = frozenset[str]().union(*(setting.rules.about_shape() for setting in workspace.settings))
    resources = _resources(workspace)
    shown = {_mark(one) for one in builds if one.finding.code in codes}
    kept = [
        one
        for one in files
        if one.finding.code not in codes
        or (one.setting, one.finding.path) not in resources
        or _mark(one) in shown
    ]
    known = {mark for one in kept if one.finding.code in codes for mark in (_mark(one), _spot(one))}
    partial = _Partial(workspace)
    added = [
        one
        for one in builds
        if one.finding.code not in codes
        or not (_mark(one) in known or _spot(one) in known or partial.says(one))
    ]
    return Reconciled(tuple(kept), tuple(added))


class _Partial:
    """Files that call themselves partial, each read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._read = workspace.read
        self._files = {member.path: member.file for member in workspace.members}
        self._known: dict[str, bool] = {}

    def says(self, one: UnitFinding) -> bool:
        """Whether the file of an object does."""
        path = one.home[0] if one.home else one.finding.path
        if path not in self._known:
            try:
                text = decode(self._read(self._files.get(path, path))).text
            except SourceError:
                text = ""
            self._known[path] = says_partial(text)
        return self._known[path]


def _resources(workspace: Workspace) -> set[tuple[int, str]]:
    """Policy and reported path of each file whose objects builds of that policy use."""
    return {
        (build.member.setting, build.names[listed.file].path)
        for build in workspace.builds
        for tree in build.tree.every()
        for listed in tree.resources
        if listed.file in build.names
    }


def _mark(one: UnitFinding) -> tuple[object, ...]:
    of = one.finding
    return one.setting, of.path, of.document, of.code, of.pointer


def _spot(one: UnitFinding) -> tuple[object, ...]:
    of = one.finding
    return one.setting, of.path, of.span, of.code
