"""The kustomizations of a run as kustomize builds them, and the reasons why others are not built."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.errors import Failures
from policykit.linter.builds.kustomization import BuiltKustomization, Kustomization
from policykit.linter.finding import NotJudged
from policykit.linter.member import OBJECTS, STDIN, Member
from policykit.linter.not_judged import BUILD_FAILED, NO_PROGRAM
from policykit.namedtuple import NamedTuple
from policykit.workspace import kustomize
from policykit.workspace.cache.builds import BuildRequest, builds, root_of
from policykit.workspace.entries import NotHereError
from policykit.workspace.files import relative, repository_root
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
from policykit.workspace.substitution import SubstitutionError, substituted
from policykit.workspace.units import contents_of

if TYPE_CHECKING:
    from policykit.linter.subjects import FailedBuild
    from policykit.workspace.build_failures import FailedPlace
    from policykit.workspace.kustomize import Build, Root
    from policykit.workspace.sources import Variables


_NO_PROGRAM = "neither kustomize nor kubectl is on PATH"
_NO_HELM = "it uses charts, and "
_NOT_SUBSTITUTED = "variables cannot be substituted"


class Attempt(NamedTuple):
    """A kustomization to build for one policy."""

    folder: str
    """Absolute."""
    member: Member
    """For its objects."""
    tree: Kustomization
    root: Root
    variables: Variables | None = None


class BuildResults(NamedTuple):
    """What came of the attempts of a run."""

    built: tuple[BuiltKustomization, ...] = ()
    texts: Mapping[str, bytes] = {}
    """Objects as kustomize builds them, by the name of their member."""
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""
    failed: tuple[Attempt, ...] = ()


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
    return found


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


def results_of(
    request: Request,
    table: SettingsTable,
    files: Files,
    attempts: Sequence[Attempt],
    declined: SkippedBuilds,
) -> BuildResults:
    """Runs kustomize."""
    silent = frozenset(map(os.path.realpath, files.left_out))
    made = objects_of(attempts, request, table)
    released = _released(attempts, made, declined)
    attempts = [*attempts, *released]
    made += objects_of(released, request, table)
    works = any(each.text is not None for each in made)
    names = {os.path.realpath(m.file): m for m in files.members if m.file != STDIN} if works else {}
    generated = _generated(files, (each.tree for each in attempts), names, silent) if works else {}
    names |= generated
    built: list[BuiltKustomization] = []
    texts: dict[str, bytes] = {}
    failed: list[Attempt] = []
    for attempt, (text, folder, failure, rendered) in zip(attempts, made, strict=True):
        if text is None:
            _decline(declined, attempt, failure)
            failed.append(attempt)
            continue
        texts[attempt.member.file] = text
        excluded = silent | excluded_files(table, attempt.member.setting, attempt.tree)
        real, shown = os.path.realpath(attempt.folder), relative(attempt.folder)
        built.append(
            BuiltKustomization(
                attempt.member, attempt.tree, folder, names, excluded, shown, rendered, root=real
            )
        )
    return BuildResults(
        tuple(built),
        texts,
        tuple(member.path for member in generated.values()),
        tuple(failed),
    )


def _released(attempts: Sequence[Attempt], made: Sequence[Objects], declined: SkippedBuilds) -> list[Attempt]:
    """Charts that HelmReleases among built objects deploy; of others it is told why they are not judged."""
    found: list[Attempt] = []
    for attempt, objects in zip(attempts, made, strict=True):
        for source in helm_releases(objects.text or b"", attempt.tree.file):
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


class Objects(NamedTuple):
    """What came of an attempt."""

    text: bytes | None = None
    """None: nothing did."""
    folder: str = ""
    """That the origins of its objects are relative to."""
    failure: str = ""
    rendered: bytes = b""
    """Objects of charts as helm renders them."""


def objects_of(attempts: Sequence[Attempt], request: Request, table: SettingsTable) -> list[Objects]:
    """Runs kustomize and helm."""
    program = kustomize.binary() if attempts else ""
    helm = without_helm = ""
    charts = [tuple(each.tree.every_chart()) for each in attempts]
    if any(charts):
        helm, without_helm = _helm(request)
    found: dict[int, Objects] = {}
    for number, each in enumerate(attempts):
        if each.root.release is None and not program:
            found[number] = Objects(failure=_NO_PROGRAM)
        elif charts[number] and not helm:
            found[number] = Objects(failure=f"{_NO_HELM}{without_helm}")
    tried = [number for number in range(len(attempts)) if number not in found]
    wanted = []
    for number in tried:
        root = attempts[number].root
        if charts[number]:
            version = kubernetes_of(table, attempts[number].member.setting)
            root = root._replace(charts=charts[number], helm=helm, kubernetes=version)
        wanted.append(BuildRequest(root, attempts[number].tree))
    made = builds(program, wanted, request.cache)
    found |= {number: _objects_of(attempts[number], build) for number, build in zip(tried, made, strict=True)}
    return [found[number] for number in range(len(attempts))]


def _objects_of(attempt: Attempt, build: Build) -> Objects:
    if build.failure:
        return Objects(failure=build.failure)
    text = build.text
    if attempt.variables is not None:
        try:
            text = substituted(text.decode("utf-8", errors="replace"), attempt.variables).encode()
        except SubstitutionError as error:
            return Objects(failure=f"{_NOT_SUBSTITUTED}: {error}")
    return Objects(text, build.folder, "", build.rendered)


def _helm(request: Request) -> tuple[str, str]:
    """The program that renders charts, else why there is none."""
    if not request.helm:
        return "", "--helm never"
    from policykit.workspace.helm import binary

    return binary(), "helm is not on PATH"


def kubernetes_of(table: SettingsTable, setting: int) -> str:
    """The version of Kubernetes that charts are rendered for."""
    cluster = table.settings[setting].cluster
    return cluster.kubernetes_version if cluster else ""


def _decline(declined: SkippedBuilds, attempt: Attempt, failure: str) -> None:
    setting = attempt.member.setting
    if failure == _NO_PROGRAM or failure.startswith(_NO_HELM):
        declined.add(attempt.folder, setting, NO_PROGRAM, failure)
    elif failure.startswith(_NOT_SUBSTITUTED) or attempt.root.charts:
        declined.add(attempt.folder, setting, BUILD_FAILED, failure)
    else:
        declined.build(attempt.folder, setting, attempt.tree, failure)


def excluded_files(table: SettingsTable, setting: int, tree: Kustomization) -> frozenset[str]:
    """Files of a tree that the policy of a setting excludes, links resolved."""
    if not table.excludes:
        return frozenset()
    return frozenset(file for file in tree.written() if table.excluded(relative(file), setting))


def _folders(files: Files) -> list[str]:
    """Folders of kustomizations that files of the run may be part of."""
    found = dict.fromkeys(folder for folder in files.folders if kustomization(folder))
    real = {os.path.realpath(member.file) for member in files.members if member.file != STDIN}
    roots = {root for file in real if (root := repository_root(os.path.dirname(file)))}
    for root in sorted(roots):
        for folder, parts in parts_of(root).items():
            if folder not in found and not parts.isdisjoint(real):
                found[folder] = None
    return [*found]


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


def _generated(
    files: Files, trees: Iterable[Kustomization], names: Mapping[str, Member], silent: frozenset[str]
) -> dict[str, Member]:
    """Files that generators read below the folders of the run: findings may point into them."""
    folders = tuple(os.path.realpath(folder) + os.sep for folder in files.folders)
    found = {}
    for tree in trees:
        for listed in (listed for each in tree.every() for listed in each.generated):
            if listed.file not in names and listed.file not in silent and listed.file.startswith(folders):
                path = relative(listed.file)
                found[listed.file] = Member(path, path, "", 0)
    return found
