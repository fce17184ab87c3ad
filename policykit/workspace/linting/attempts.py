"""What is to be built for a run: kustomizations and charts, each for one policy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.builds.kustomization import Kustomization
from policykit.linter.finding import NotJudged
from policykit.linter.member import OBJECTS, STDIN, Member
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.builds import root_of
from policykit.workspace.controller_files import controller_files
from policykit.workspace.entries import NotHereError
from policykit.workspace.files import read, real_paths, relative, repository_root
from policykit.workspace.helm_releases import helm_releases
from policykit.workspace.kustomization_parts import parts_of
from policykit.workspace.kustomizations import is_plain, is_root, tree_of, used_by
from policykit.workspace.linting.applied import ClusterUnit
from policykit.workspace.linting.files import Files
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.scopes import (
    kustomization,
    kustomization_namespace,
    kustomization_root,
)
from policykit.workspace.sources import Source
from policykit.workspace.units import Contents, contents_of

if TYPE_CHECKING:
    from policykit.linter.subjects import FailedBuild
    from policykit.workspace.build_failures import FailedPlace
    from policykit.workspace.kustomize import Root
    from policykit.workspace.sources import Variables


class Attempt(NamedTuple):
    """A kustomization to build for one policy."""

    folder: str
    """Absolute."""
    member: Member
    """For its objects."""
    tree: Kustomization
    root: Root
    variables: Variables | None = None


class SkippedBuilds:
    """Collects the kustomizations that are not built: one with a mistake has a finding, others are not
    judged."""

    def __init__(self, table: SettingsTable, files: Files) -> None:
        self._table = table
        self._silent = frozenset(map(os.path.realpath, files.left_out))
        self._names = {os.path.realpath(m.file): m.path for m in files.members if m.file != STDIN}
        self.not_judged: list[NotJudged] = []
        self.wrong: list[tuple[int, FailedBuild]] = []
        self.other_files: list[str] = []

    def add(self, root: str, setting: int, reason: str, detail: str) -> None:
        one = NotJudged(relative(root), reason, detail, setting)
        if one not in self.not_judged:
            self.not_judged.append(one)

    def build(self, root: str, setting: int, tree: Kustomization, failure: str) -> None:
        """A build that kustomize fails to make."""
        from policykit.workspace.build_failures import mistake_in_build, reason_of

        self._told(root, setting, mistake_in_build(tree, failure), reason_of(failure), failure)

    def read(self, root: str, setting: int, error: NotHereError) -> None:
        """A kustomization that is not given to kustomize."""
        from policykit.workspace.build_failures import mistake_at

        wrong = mistake_at(error.wrong, str(error)) if error.wrong else None
        self._told(root, setting, wrong, error.reason, str(error))

    def _told(self, root: str, number: int, wrong: FailedPlace | None, reason: str, detail: str) -> None:
        from policykit.linter.registry import FAILED_BUILD
        from policykit.workspace.build_failures import reported

        setting = self._table.settings[number]
        if wrong is None or not setting.selection.codes & setting.rules.codes(FAILED_BUILD):
            self.add(root, number, reason, detail)
        elif wrong.file not in self._silent:
            path = self._names.get(wrong.file) or relative(wrong.file)
            if (number, reported(wrong, path)) not in self.wrong:
                self.wrong.append((number, reported(wrong, path)))
            if wrong.file not in self._names:
                self.other_files.append(path)


def attempts_by_place(
    request: Request,
    table: SettingsTable,
    files: Files,
    stated: frozenset[str],
    declined: SkippedBuilds,
    failures: Failures,
) -> list[Attempt]:
    """Kustomizations that files of the run are part of, for the policies above them. `stated`: kustomizations
    of which policies say who applies them.
    """
    trees = _roots(_folders(files), table, files, stated, declined, failures)
    found = []
    for root, tree in trees.items():
        numbers = table.all_of(root)
        for number in numbers:
            namespace = request.namespace or kustomization_namespace(root)
            scope = root if len(numbers) == 1 else f"{root}\0{number}"
            member = built_member(root, tree, scope, number, namespace, numbers.index(number))
            found.append(Attempt(root, member, tree, root_of(tree)))
    return found + _charts_by_place(table, files, stated, declined)


def _charts_by_place(
    table: SettingsTable, files: Files, stated: frozenset[str], declined: SkippedBuilds
) -> list[Attempt]:
    """Charts that HelmReleases outside of kustomizations deploy, for the policies above them."""
    found: list[Attempt] = []
    real = {*real_paths(member.file for member in files.members if member.file != STDIN)}
    for root in _repositories(real):
        built = frozenset().union(*parts_of(root).values())
        for file in controller_files(root).flux:
            place = os.path.realpath(file)
            if place in stated or place in built:
                continue
            for source in helm_releases(read(file), file, built=False):
                contents = contents_of(source)
                here = place in real or any(
                    not real.isdisjoint(unit.tree.written()) for unit in contents.units
                )
                for setting in table.all_of(os.path.dirname(file)) if here else ():
                    found += _charts(source, contents, file, setting, declined)
    return found


def _charts(
    source: Source, contents: Contents, file: str, setting: int, declined: SkippedBuilds
) -> Iterator[Attempt]:
    for why in contents.why_not:
        declined.add(file, setting, why.reason, f"{source.stated.resource}: {why}")
    for number, unit in enumerate(contents.units):
        assert unit.root is not None
        name = f"{relative(file)}#{source.stated.resource}{number or ''}".replace(" ", "/")
        member = Member(name, name, f"{unit.folder}\0{setting}", setting, False, unit.namespace, OBJECTS)
        yield Attempt(unit.folder, member, unit.tree, unit.root)


def attempts_of(applied: Iterable[ClusterUnit], request: Request, first: int = 1) -> list[Attempt]:
    """Kustomizations that policies say they apply."""
    found = []
    for number, each in enumerate(applied, first):
        unit = each.unit
        if unit.root is not None:
            namespace = request.namespace or unit.namespace
            member = built_member(unit.folder, unit.tree, each.scope, each.setting, namespace, number)
            found.append(Attempt(unit.folder, member, unit.tree, unit.root, unit.variables))
    return found


def built_member(
    folder: str, tree: Kustomization, scope: str, setting: int, namespace: str, number: int = 0
) -> Member:
    """The member for objects as they are built; `number` sets apart those of one folder."""
    # The suffix keeps the name from being that of a file.
    file = kustomization(folder) or tree.file
    name = f"{relative(os.path.join(folder, os.path.basename(file)))}#built{number or ''}"
    return Member(name, name, scope, setting, False, namespace, OBJECTS)


def released(attempts: Sequence[Attempt], texts: Sequence[bytes], declined: SkippedBuilds) -> list[Attempt]:
    """Charts that HelmReleases among built objects deploy; of others it is told why they are not judged."""
    found: list[Attempt] = []
    for attempt, text in zip(attempts, texts, strict=True):
        for source in helm_releases(text, attempt.tree.file, built=True):
            contents = contents_of(source)
            for why in contents.why_not:
                said = f"{source.stated.resource}: {why}"
                declined.add(attempt.folder, attempt.member.setting, why.reason, said)
            for number, unit in enumerate(contents.units):
                assert unit.root is not None
                name = f"{attempt.member.file}/{source.stated.resource}{number or ''}".replace(" ", "/")
                member = attempt.member._replace(path=name, file=name, namespace=unit.namespace)
                found.append(Attempt(unit.folder, member, unit.tree, unit.root))
    return found


def _folders(files: Files) -> list[str]:
    """Folders of kustomizations that files of the run may be part of."""
    found = dict.fromkeys(folder for folder in files.folders if kustomization(folder))
    real = {*real_paths(member.file for member in files.members if member.file != STDIN)}
    for root in _repositories(real):
        for folder, parts in parts_of(root).items():
            if folder not in found and not parts.isdisjoint(real):
                found[folder] = None
    return [*found]


def _repositories(files: Iterable[str]) -> list[str]:
    return sorted({root for file in files if (root := repository_root(os.path.dirname(file)))})


def _roots(
    folders: Sequence[str],
    table: SettingsTable,
    files: Files,
    stated: frozenset[str],
    declined: SkippedBuilds,
    failures: Failures,
) -> dict[str, Kustomization]:
    """The outermost kustomizations, with what they list; those that cannot be built are `declined`."""
    silent = frozenset(map(os.path.realpath, files.left_out))
    roots = sorted({kustomization_root(folder) for folder in folders})
    real = {root: os.path.realpath(root) for root in roots}
    uses: dict[str, frozenset[str]] = {}
    for root in roots:
        with failures.collect(relative(root)):
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
        if real[root] in stated:
            continue
        with failures.collect(relative(root)):
            try:
                tree = tree_of(root) if is_root(root) else None
                if tree and not is_plain(tree):
                    trees[root] = tree
            except NotHereError as reason:
                for number in table.all_of(root):
                    declined.read(root, number, reason)
    return trees
