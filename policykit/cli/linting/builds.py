"""The kustomizations of a run as kustomize builds them, and the reasons why others are not built."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.files import Files
from policykit.cli.linting.request import STDIN, Request
from policykit.cli.linting.settings import SettingsTable
from policykit.errors import Failures
from policykit.linter.member import OBJECTS, TEXT, Member
from policykit.workspace.scopes import kustomization, kustomization_namespace, kustomization_root

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import BuiltKustomization, Kustomization
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
    not_built: tuple[tuple[str, str], ...] = ()
    """(shown folder, reason) of kustomizations that are linted file by file."""
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
    from policykit.workspace.cache.builds import Programs, builds

    silent = frozenset(map(os.path.realpath, files.left_out))
    trees, declined = _roots(folders, silent, failures)
    program = kustomize.binary() if trees else ""
    if trees and not program:
        declined += [(root, "neither kustomize nor kubectl is on PATH") for root in trees]
    helm = ""
    if any(tree.charts for root in trees.values() for tree in root.every()):
        helm, why = _helm(request)
        for root in [root for root, tree in trees.items() if not helm and any(tree.every_chart())]:
            declined.append((root, f"{_shown(trees.pop(root).file)} uses charts, and {why}"))
    versions = [_kubernetes(table, root) for root in trees] if helm else []
    results = builds(Programs(program, helm), [*trees.values()], request.cache, versions) if program else []
    names = {os.path.realpath(m.file): m for m in files.members if m.file != STDIN} if results else {}
    generated = _generated(files, trees.values(), names, silent) if results else {}
    names |= generated
    built: list[BuiltKustomization] = []
    texts: dict[str, bytes] = {}
    failed: set[str] = set()
    for (root, tree), build in zip(trees.items(), results, strict=False):
        if build.failure:
            declined.append((root, build.failure))
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
        tuple(member.path for member in generated.values()),
        tuple(sorted((_shown(root), why) for root, why in declined)),
        frozenset(failed),
    )


def _helm(request: Request) -> tuple[str, str]:
    """The program that renders charts, else why there is none."""
    if not request.helm:
        return "", "--helm never"
    from policykit.workspace.helm import binary

    return binary(), "helm is not on PATH"


def _kubernetes(table: SettingsTable, folder: str) -> str:
    """The version of Kubernetes that charts are rendered for."""
    cluster = table.settings[table.of(folder)].cluster
    return cluster.kubernetes_version if cluster else ""


def _roots(
    folders: Sequence[str], silent: frozenset[str], failures: Failures
) -> tuple[dict[str, Kustomization], list[tuple[str, str]]]:
    """The outermost kustomizations, with what they list; and those that cannot be built, with the reason."""
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
    declined: list[tuple[str, str]] = []
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
                declined.append((root, str(reason)))
    return trees, declined


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

    return BuiltKustomization(member, tree, build.folder, names, silent, _shown(root), build.rendered)


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
