"""The kustomizations of a run as kustomize builds them, and the reasons why others are not built."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.files import Files
from policykit.cli.linting.request import Request
from policykit.cli.linting.settings import SettingsTable
from policykit.errors import Failures
from policykit.linter.finding import NotJudged
from policykit.linter.member import OBJECTS, STDIN, TEXT, Member
from policykit.linter.not_judged import NO_PROGRAM
from policykit.workspace.scopes import kustomization, kustomization_namespace, kustomization_root

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import BuiltKustomization, Kustomization
    from policykit.linter.subjects import FailedBuild
    from policykit.workspace.build_failures import FailedPlace
    from policykit.workspace.kustomizations import NotHereError
    from policykit.workspace.kustomize import Build


class Builds(NamedTuple):
    """The builds of a run, and why other kustomizations were not built."""

    members: tuple[Member, ...]
    """The files of the run; rules about effects read the builds, rules about text the source files."""
    built: tuple[BuiltKustomization, ...] = ()
    texts: Mapping[str, bytes] = {}
    """Objects as kustomize builds them, by the name of their member."""
    files: frozenset[str] = frozenset()
    """Source files of the builds, links resolved."""
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""
    not_judged: tuple[NotJudged, ...] = ()
    """Kustomizations that are not built, so that they are linted file by file."""
    wrong: tuple[tuple[int, FailedBuild], ...] = ()
    """Kustomizations with a mistake, for which no build succeeds, with the index of their setting."""
    failed: frozenset[str] = frozenset()
    """Source files of kustomizations that kustomize fails to build, links resolved."""


def builds_of(request: Request, table: SettingsTable, files: Files, failures: Failures) -> Builds:
    """Builds the kustomizations whose folders, or files, are among the arguments.

    One that only lists files is not built. Without kustomizations, nothing is imported.
    """
    folders = [folder for folder in files.folders if kustomization(folder)] if request.kustomize else []
    if not folders:
        return Builds(files.members)
    from policykit.workspace import kustomize
    from policykit.workspace.cache.builds import builds

    silent = frozenset(map(os.path.realpath, files.left_out))
    declined = _Declined(table, files, silent)
    trees = _roots(folders, silent, failures, declined)
    program = kustomize.binary() if trees else ""
    if trees and not program:
        for root in trees:
            declined.add(root, NO_PROGRAM, "neither kustomize nor kubectl is on PATH")
    results = builds(program, [*trees.values()], request.cache) if program else []
    names = {os.path.realpath(m.file): m for m in files.members if m.file != STDIN} if results else {}
    generated = _generated(files, trees.values(), names, silent) if results else {}
    names |= generated
    built: list[BuiltKustomization] = []
    texts: dict[str, bytes] = {}
    failed: set[str] = set()
    for (root, tree), build in zip(trees.items(), results, strict=False):
        if build.failure:
            declined.build(root, tree, build.failure)
            failed.update(tree.looked_at())
            continue
        member = _member(request, table, root, tree)
        texts[member.file] = build.text
        built.append(_built(root, member, tree, build, names, silent))
    looked_at = frozenset(file for each in built for file in each.tree.looked_at())
    return Builds(
        _text_only(files.members, looked_at),
        tuple(built),
        texts,
        looked_at,
        (*(member.path for member in generated.values()), *declined.other_files),
        tuple(sorted(declined.not_judged)),
        tuple(declined.wrong),
        frozenset(failed),
    )


class _Declined:
    """Collects the kustomizations that are not built: one with a mistake has a finding, others are not
    judged."""

    def __init__(self, table: SettingsTable, files: Files, silent: frozenset[str]) -> None:
        self._table = table
        self._silent = silent
        self._names = {os.path.realpath(m.file): m.path for m in files.members if m.file != STDIN}
        self.not_judged: list[NotJudged] = []
        self.wrong: list[tuple[int, FailedBuild]] = []
        self.other_files: list[str] = []

    def add(self, root: str, reason: str, detail: str) -> None:
        self.not_judged.append(NotJudged(_shown(root), reason, detail, self._table.of(root)))

    def build(self, root: str, tree: Kustomization, failure: str) -> None:
        """A build that kustomize fails to make."""
        from policykit.workspace.build_failures import mistake_in_build, reason_of

        self._told(root, mistake_in_build(tree, failure), reason_of(failure), failure)

    def read(self, root: str, error: NotHereError) -> None:
        """A kustomization that is not given to kustomize."""
        from policykit.workspace.build_failures import mistake_at

        wrong = mistake_at(error.wrong, str(error)) if error.wrong else None
        self._told(root, wrong, error.reason, str(error))

    def _told(self, root: str, wrong: FailedPlace | None, reason: str, detail: str) -> None:
        from policykit.linter.registry import FAILED_BUILD
        from policykit.workspace.build_failures import reported

        number = self._table.of(root)
        setting = self._table.settings[number]
        if wrong is None or not setting.selection.codes & setting.rules.codes(FAILED_BUILD):
            self.add(root, reason, detail)
        elif wrong.file not in self._silent:
            path = self._names.get(wrong.file) or _shown(wrong.file)
            self.wrong.append((number, reported(wrong, path)))
            if wrong.file not in self._names:
                self.other_files.append(path)


def _roots(
    folders: Sequence[str], silent: frozenset[str], failures: Failures, declined: _Declined
) -> dict[str, Kustomization]:
    """The outermost kustomizations, with what they list; those that cannot be built are `declined`."""
    from policykit.workspace.kustomizations import NotHereError, is_plain, is_root, tree_of, used_by

    roots = sorted({kustomization_root(folder) for folder in folders})
    real = {root: os.path.realpath(root) for root in roots}
    uses: dict[str, frozenset[str]] = {}
    for root in roots:
        with failures.collect(_shown(root)):
            uses[real[root]] = used_by(root)
    # Kustomizations that use each other are roots: their cycle is reported.
    used = {
        below
        for root, found in uses.items()
        for below in found
        if below != root and root not in uses.get(below, ())
    }
    trees: dict[str, Kustomization] = {}
    for root in roots:
        file = kustomization(root)
        if real[root] not in uses or real[root] in used or os.path.realpath(file) in silent:
            continue
        with failures.collect(_shown(root)):
            try:
                tree = tree_of(root) if is_root(root) else None
                if tree and not is_plain(tree):
                    trees[root] = tree
            except NotHereError as reason:
                declined.read(root, reason)
    return trees


def _member(request: Request, table: SettingsTable, root: str, tree: Kustomization) -> Member:
    """The member for the objects of a build, with the settings of its folder."""
    # The suffix keeps the name from being that of a file.
    name = f"{_shown(os.path.join(root, os.path.basename(tree.file)))}#built"
    namespace = request.namespace or kustomization_namespace(root)
    return Member(name, name, root, table.of(root), False, namespace, OBJECTS)


def _built(
    root: str,
    member: Member,
    tree: Kustomization,
    build: Build,
    names: Mapping[str, Member],
    silent: frozenset[str],
) -> BuiltKustomization:
    from policykit.linter.builds.kustomization import BuiltKustomization

    return BuiltKustomization(member, tree, build.folder, names, silent, _shown(root))


def _generated(
    files: Files, trees: Iterable[Kustomization], names: Mapping[str, Member], silent: frozenset[str]
) -> dict[str, Member]:
    """Files that generators read below the folders of the run: findings may point into them."""
    folders = tuple(os.path.realpath(folder) + os.sep for folder in files.folders)
    found = {}
    for tree in trees:
        for listed in (listed for each in tree.every() for listed in each.generated):
            if listed.file not in names and listed.file not in silent and listed.file.startswith(folders):
                path = _shown(listed.file)
                found[listed.file] = Member(path, path, "", 0)
    return found


def _text_only(members: Sequence[Member], files: frozenset[str]) -> tuple[Member, ...]:
    """Members whose source files were built are linted only by the rules about text."""
    if not files:
        return tuple(members)
    return tuple(
        member._replace(only=TEXT) if os.path.realpath(member.file) in files else member for member in members
    )


def _shown(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
