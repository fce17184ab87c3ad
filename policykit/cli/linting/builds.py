"""The kustomizations of a run as kustomize builds them, and the reasons why others are not built."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.applied import Applied
from policykit.cli.linting.files import Files
from policykit.cli.linting.request import STDIN, Request
from policykit.cli.linting.settings import SettingsTable
from policykit.errors import Failures
from policykit.linter.builds.kustomization import BuiltKustomization, Kustomization
from policykit.linter.member import OBJECTS, Member
from policykit.workspace import kustomize
from policykit.workspace.cache.builds import Wanted, builds, root_of
from policykit.workspace.files import repository_files, repository_root
from policykit.workspace.helm_releases import helm_releases
from policykit.workspace.kustomizations import NotHereError, files_of, is_plain, is_root, tree_of, used_by
from policykit.workspace.scopes import (
    KUSTOMIZATIONS,
    kustomization,
    kustomization_namespace,
    kustomization_root,
)
from policykit.workspace.substitution import SubstitutionError, substituted
from policykit.workspace.units import contents_of

if TYPE_CHECKING:
    from policykit.workspace.kustomize import Build, Root
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


class BuildResults(NamedTuple):
    """What came of the attempts of a run."""

    built: tuple[BuiltKustomization, ...] = ()
    texts: Mapping[str, bytes] = {}
    """Objects as kustomize builds them, by the name of their member."""
    other_files: tuple[str, ...] = ()
    """Files outside the run that findings may point into."""
    not_built: tuple[tuple[str, str], ...] = ()
    """(shown folder, reason) of kustomizations that are linted file by file."""
    failed: tuple[Attempt, ...] = ()
    not_judged: tuple[tuple[str, str], ...] = ()
    """(object, reason) of charts that HelmReleases among the objects deploy."""


NO_BUILDS = BuildResults()


def attempts_by_place(
    request: Request, table: SettingsTable, files: Files, stated: frozenset[str], failures: Failures
) -> tuple[list[Attempt], list[tuple[str, str]]]:
    """Kustomizations that files of the run are part of, for the policies above them; and those that cannot
    be built, with the reason. `stated`: kustomizations of which policies say who applies them.
    """
    trees, declined = _roots(_folders(files), files, stated, failures)
    found = []
    for root, tree in trees.items():
        numbers = table.all_of(root)
        for number in numbers:
            namespace = request.namespace or kustomization_namespace(root)
            scope = root if len(numbers) == 1 else f"{root}\0{number}"
            member = built_member(root, tree, scope, number, namespace, numbers.index(number))
            found.append(Attempt(root, member, tree, root_of(tree)))
    return found, declined


def attempts_of(applied: Iterable[Applied], request: Request, first: int = 1) -> list[Attempt]:
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
    name = f"{_shown(os.path.join(folder, os.path.basename(file)))}#built{number or ''}"
    return Member(name, name, scope, setting, False, namespace, OBJECTS)


def results_of(
    request: Request,
    table: SettingsTable,
    files: Files,
    attempts: Sequence[Attempt],
    declined: list[tuple[str, str]],
) -> BuildResults:
    """Runs kustomize."""
    silent = frozenset(map(os.path.realpath, files.left_out))
    made = objects_of(attempts, request, table)
    released, not_judged = _released(attempts, made)
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
            declined.append((attempt.folder, failure))
            failed.append(attempt)
            continue
        texts[attempt.member.file] = text
        excluded = silent | excluded_files(table, attempt.member.setting, attempt.tree)
        real, shown = os.path.realpath(attempt.folder), _shown(attempt.folder)
        built.append(
            BuiltKustomization(
                attempt.member, attempt.tree, folder, names, excluded, shown, rendered, root=real
            )
        )
    return BuildResults(
        tuple(built),
        texts,
        tuple(member.path for member in generated.values()),
        tuple(sorted({(_shown(root), why) for root, why in declined})),
        tuple(failed),
        not_judged,
    )


def _released(
    attempts: Sequence[Attempt], made: Sequence[Objects]
) -> tuple[list[Attempt], tuple[tuple[str, str], ...]]:
    """Charts that HelmReleases among built objects deploy, and why others are not judged."""
    found: list[Attempt] = []
    not_judged: dict[tuple[str, str], None] = {}
    for attempt, objects in zip(attempts, made, strict=True):
        for source in helm_releases(objects.text or b"", attempt.tree.file):
            contents = contents_of(source)
            not_judged |= {(source.stated.resource, why): None for why in contents.why_not}
            for number, unit in enumerate(contents.units):
                assert unit.root is not None
                name = f"{attempt.member.file}/{source.stated.resource}{number or ''}".replace(" ", "/")
                member = attempt.member._replace(path=name, file=name, namespace=unit.namespace)
                found.append(Attempt(unit.folder, member, unit.tree, unit.root))
    return found, tuple(not_judged)


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
            found[number] = Objects(failure="neither kustomize nor kubectl is on PATH")
        elif charts[number] and not helm:
            found[number] = Objects(failure=f"it uses charts, and {without_helm}")
    tried = [number for number in range(len(attempts)) if number not in found]
    wanted = []
    for number in tried:
        root = attempts[number].root
        if charts[number]:
            version = kubernetes_of(table, attempts[number].member.setting)
            root = root._replace(charts=charts[number], helm=helm, kubernetes=version)
        wanted.append(Wanted(root, attempts[number].tree))
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
            return Objects(failure=f"variables cannot be substituted: {error}")
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


def excluded_files(table: SettingsTable, setting: int, tree: Kustomization) -> frozenset[str]:
    """Files of a tree that the policy of a setting excludes, links resolved."""
    if not table.excludes:
        return frozenset()
    return frozenset(file for file in tree.written() if table.excluded(_shown(file), setting))


def _folders(files: Files) -> list[str]:
    """Folders of kustomizations that files of the run may be part of."""
    found = dict.fromkeys(folder for folder in files.folders if kustomization(folder))
    real = {os.path.realpath(member.file) for member in files.members if member.file != STDIN}
    roots = {root for file in real if (root := repository_root(os.path.dirname(file)))}
    for root in sorted(roots):
        for folder, parts in _parts(root).items():
            if folder not in found and not parts.isdisjoint(real):
                found[folder] = None
    return [*found]


def _parts(root: str) -> dict[str, frozenset[str]]:
    """Folders with kustomizations of a repository, each with all files that are part of it."""
    found = {}
    for path in repository_files(root):
        folder, name = os.path.split(path)
        if name in KUSTOMIZATIONS and is_root(folder):
            try:
                found[folder] = frozenset(files_of(tree_of(folder)))
            except NotHereError:
                continue
    return found


def _roots(
    folders: Sequence[str], files: Files, stated: frozenset[str], failures: Failures
) -> tuple[dict[str, Kustomization], list[tuple[str, str]]]:
    """The outermost kustomizations, with what they list; and those that cannot be built, with the reason."""
    silent = frozenset(map(os.path.realpath, files.left_out))
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
    declined: list[tuple[str, str]] = []
    for root in roots:
        file = kustomization(root)
        if real[root] not in uses or real[root] in used or os.path.realpath(file) in silent:
            continue
        if real[root] in stated:
            continue
        with failures.collect(_shown(root)):
            try:
                tree = tree_of(root) if is_root(root) else None
                if tree and not is_plain(tree):
                    trees[root] = tree
            except NotHereError as reason:
                declined.append((root, str(reason)))
    return trees, declined


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


def _shown(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
