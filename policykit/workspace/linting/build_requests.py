"""What is to be built for a run: kustomizations and charts, each for one policy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.finding import NotJudged
from policykit.linter.input_file import OBJECTS, STDIN, InputFile, Kustomization
from policykit.linter.not_judged import SOURCE
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem
from policykit.workspace.cache.builds import root_of
from policykit.workspace.files import read, real_paths, relative, repository_root
from policykit.workspace.gitops.argocd_applications import GROUP as ARGO_CD_GROUP
from policykit.workspace.gitops.argocd_applications import is_application
from policykit.workspace.gitops.controller_files import controller_files, objects_in
from policykit.workspace.gitops.controllers import buildable_folders
from policykit.workspace.gitops.flux import FLUX_GROUP, helm_releases, is_kustomization
from policykit.workspace.gitops.source_contents import Contents, contents_of
from policykit.workspace.gitops.sources import Source
from policykit.workspace.kustomization_entries import NotHereError
from policykit.workspace.kustomizations import is_plain, is_root, tree_of, used_by
from policykit.workspace.linting.cluster_units import ClusterUnit
from policykit.workspace.linting.files import Files
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.settings import SettingsTable
from policykit.workspace.scopes import (
    kustomization,
    kustomization_namespace,
    kustomization_root,
)

if TYPE_CHECKING:
    from policykit.linter.rule import FailedBuild
    from policykit.workspace.build_failures import FailedPlace
    from policykit.workspace.gitops.sources import Variables
    from policykit.workspace.kustomize import Root


_IN_CHART = "a chart renders it, and what it applies is not followed"


class Attempt(NamedTuple):
    """A kustomization to build for one policy."""

    folder: str
    """Absolute."""
    input_file: InputFile
    """For its objects."""
    tree: Kustomization
    root: Root
    variables: Variables | None = None


class SkippedBuilds:
    """Collects the kustomizations that are not built: one with a mistake has a finding, others are not
    judged."""

    def __init__(self, table: SettingsTable, files: Files) -> None:
        self._table = table
        self._silent = frozenset(map(filesystem.realpath, files.left_out))
        self._names = {filesystem.realpath(m.file): m.path for m in files.input_files if m.file != STDIN}
        self.not_judged: list[NotJudged] = []
        self.incomplete: set[int] = set()
        """Settings of policies whose clusters apply more than is known."""
        self.wrong: list[tuple[int, FailedBuild]] = []
        self.other_files: list[str] = []

    def add(self, root: str, setting: int, reason: str, detail: str) -> None:
        one = NotJudged(relative(root), reason, detail, setting)
        if one not in self.not_judged:
            self.not_judged.append(one)

    def build(self, root: str, setting: int, tree: Kustomization, failure: str) -> None:
        """A build that kustomize fails to make."""
        from policykit.workspace.build_failures import mistake_in_build, reason_of

        self._add(root, setting, mistake_in_build(tree, failure), reason_of(failure), failure)

    def read(self, root: str, setting: int, error: NotHereError) -> None:
        """A kustomization that is not given to kustomize."""
        from policykit.workspace.build_failures import mistake_at

        wrong = mistake_at(error.wrong, str(error)) if error.wrong else None
        self._add(root, setting, wrong, error.reason, str(error))

    def _add(self, root: str, number: int, wrong: FailedPlace | None, reason: str, detail: str) -> None:
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
            input_file = built_file(root, tree, scope, number, namespace, numbers.index(number))
            found.append(Attempt(root, input_file, tree, root_of(tree)))
    return found + _charts_by_place(table, files, stated, declined)


def _charts_by_place(
    table: SettingsTable, files: Files, stated: frozenset[str], declined: SkippedBuilds
) -> list[Attempt]:
    """Charts that HelmReleases outside of kustomizations deploy, for the policies above them."""
    found: list[Attempt] = []
    real = {*real_paths(input_file.file for input_file in files.input_files if input_file.file != STDIN)}
    for root in _repositories(real):
        built = frozenset().union(*buildable_folders(root).values())
        for file in controller_files(root).flux:
            place = filesystem.realpath(file)
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
        input_file = InputFile(
            name, name, f"{unit.folder}\0{setting}", setting, False, unit.namespace, OBJECTS
        )
        yield Attempt(unit.folder, input_file, unit.tree, unit.root)


def attempts_of(applied: Iterable[ClusterUnit], request: Request, first: int = 1) -> list[Attempt]:
    """Kustomizations that policies say they apply."""
    found = []
    for number, each in enumerate(applied, first):
        unit = each.unit
        if unit.root is not None:
            namespace = request.namespace or unit.namespace
            input_file = built_file(unit.folder, unit.tree, each.scope, each.setting, namespace, number)
            input_file = input_file._replace(literal=each.source.literal)
            found.append(Attempt(unit.folder, input_file, unit.tree, unit.root, unit.variables))
    return found


def built_file(
    folder: str, tree: Kustomization, scope: str, setting: int, namespace: str, number: int = 0
) -> InputFile:
    """The input file for objects as they are built; `number` sets apart those of one folder."""
    # The suffix keeps the name from being that of a file.
    file = kustomization(folder) or tree.file
    name = f"{relative(os.path.join(folder, os.path.basename(file)))}#built{number or ''}"
    return InputFile(name, name, scope, setting, False, namespace, OBJECTS)


def released(attempts: Sequence[Attempt], texts: Sequence[bytes], declined: SkippedBuilds) -> list[Attempt]:
    """Charts that HelmReleases among built objects deploy; for others it is noted why they are not judged."""
    found: list[Attempt] = []
    for attempt, text in zip(attempts, texts, strict=True):
        for name in _applying(text) if any(attempt.tree.every_chart()) else ():
            declined.add(attempt.folder, attempt.input_file.setting, SOURCE, f"{name}: {_IN_CHART}")
            declined.incomplete.add(attempt.input_file.setting)
        for source in helm_releases(text, attempt.tree.file, built=True):
            contents = contents_of(source)
            for why in contents.why_not:
                message = f"{source.stated.resource}: {why}"
                declined.add(attempt.folder, attempt.input_file.setting, why.reason, message)
            for number, unit in enumerate(contents.units):
                assert unit.root is not None
                name = f"{attempt.input_file.file}/{source.stated.resource}{number or ''}".replace(" ", "/")
                input_file = attempt.input_file._replace(
                    path=name, file=name, namespace=unit.namespace, literal=False
                )
                found.append(Attempt(unit.folder, input_file, unit.tree, unit.root))
    return found


def _applying(text: bytes) -> Iterator[str]:
    """Objects among the built ones that controllers apply something by."""
    if not any(group.encode() in text for group in (FLUX_GROUP, ARGO_CD_GROUP)):
        return
    for each in objects_in(text.decode("utf-8", errors="replace"), ""):
        if is_application(each) or is_kustomization(each):
            yield f"{each.manifest.kind} {each.namespace}/{each.manifest.name}".replace(" /", " ")


def _folders(files: Files) -> list[str]:
    """Folders of kustomizations that files of the run may be part of."""
    found = dict.fromkeys(folder for folder in files.folders if kustomization(folder))
    real = {*real_paths(input_file.file for input_file in files.input_files if input_file.file != STDIN)}
    for root in _repositories(real):
        for folder, parts in buildable_folders(root).items():
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
    silent = frozenset(map(filesystem.realpath, files.left_out))
    roots = sorted({kustomization_root(folder) for folder in folders})
    real = {root: filesystem.realpath(root) for root in roots}
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
        if real[root] not in uses or real[root] in used or filesystem.realpath(file) in silent:
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
