"""The kustomizations of a run as kustomize builds them: which ones, and what is said of the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.files import Files
from policykit.cli.linting.request import STDIN, Request
from policykit.cli.linting.settings import SettingsTable
from policykit.errors import Failures
from policykit.linter.workspace import BUILT, READ, Member
from policykit.workspace.scopes import kustomization, kustomization_namespace, kustomization_root

if TYPE_CHECKING:
    from policykit.linter.builds.kustomization import Built, Tree
    from policykit.workspace.kustomize import Build


class Builds(NamedTuple):
    """What was built for a run, and why the rest was not."""

    members: tuple[Member, ...]
    """The files of the run: what was built counts as built, and its files for how they are written."""
    built: tuple[Built, ...] = ()
    texts: Mapping[str, bytes] = {}
    """Objects as kustomize builds them, by the names that they are opened by."""
    files: frozenset[str] = frozenset()
    """Files that those were built from, links resolved."""
    beside: tuple[str, ...] = ()
    """Files that are no members, and that findings may stand in."""
    not_built: tuple[tuple[str, str], ...] = ()
    """(folder as people read it, why) of kustomizations that are looked at file by file."""
    failed: frozenset[str] = frozenset()
    """Files of kustomizations that kustomize refuses to build, links resolved."""


def builds_of(request: Request, table: SettingsTable, files: Files, failures: Failures) -> Builds:
    """Builds the kustomizations whose folders, or files, the run was given.

    Those that only list files need no building, and nothing is imported where there is no kustomization.
    """
    folders = [folder for folder in files.folders if kustomization(folder)] if request.kustomize else []
    if not folders:
        return Builds(files.members)
    from policykit.workspace import kustomize
    from policykit.workspace.cache.builds import builds

    silent = frozenset(map(os.path.realpath, files.left_out))
    trees, declined = _roots(folders, silent, failures)
    program = kustomize.binary() if trees else ""
    if trees and not program:
        declined += [(root, "neither kustomize nor kubectl is on PATH") for root in trees]
    made = builds(program, [*trees.values()], request.cache) if program else []
    names = {os.path.realpath(m.file): m for m in files.members if m.file != STDIN} if made else {}
    beside = _generated(files, trees.values(), names, silent) if made else {}
    names |= beside
    built: list[Built] = []
    texts: dict[str, bytes] = {}
    failed: set[str] = set()
    for (root, tree), build in zip(trees.items(), made, strict=False):
        if build.failure:
            declined.append((root, build.failure))
            failed.update(tree.looked_at())
            continue
        member = _member(request, table, root, tree)
        texts[member.file] = build.text
        built.append(_built(root, member, tree, build, names, silent))
    looked_at = frozenset(file for each in built for file in each.tree.looked_at())
    return Builds(
        _for_writing(files.members, looked_at),
        tuple(built),
        texts,
        looked_at,
        tuple(member.path for member in beside.values()),
        tuple(sorted((_shown(root), why) for root, why in declined)),
        frozenset(failed),
    )


def _roots(
    folders: Sequence[str], silent: frozenset[str], failures: Failures
) -> tuple[dict[str, Tree], list[tuple[str, str]]]:
    """The outermost kustomizations, with what they list; and those that cannot be built, with the reason."""
    from policykit.workspace.kustomizations import NotHereError, is_plain, is_root, tree_of, used_by

    roots = sorted({kustomization_root(folder) for folder in folders})
    real = {root: os.path.realpath(root) for root in roots}
    uses: dict[str, frozenset[str]] = {}
    for root in roots:
        with failures.collect(_shown(root)):
            uses[real[root]] = used_by(root)
    # Those that use each other are told so.
    used = {
        below
        for root, found in uses.items()
        for below in found
        if below != root and root not in uses.get(below, ())
    }
    trees: dict[str, Tree] = {}
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


def _member(request: Request, table: SettingsTable, root: str, tree: Tree) -> Member:
    """What stands for the objects of a build, under the policy of its folder."""
    # No file has such a name: the suffix keeps it from being taken for one.
    name = f"{_shown(os.path.join(root, os.path.basename(tree.file)))}#built"
    namespace = request.namespace or kustomization_namespace(root)
    return Member(name, name, root, table.of(root), False, namespace, BUILT)


def _built(
    root: str, member: Member, tree: Tree, build: Build, names: Mapping[str, Member], silent: frozenset[str]
) -> Built:
    from policykit.linter.builds.kustomization import Built

    return Built(member, tree, build.folder, names, silent, _shown(root))


def _generated(
    files: Files, trees: Iterable[Tree], names: Mapping[str, Member], silent: frozenset[str]
) -> dict[str, Member]:
    """What generators read below the folders of the run may have findings, whatever its suffix."""
    folders = tuple(os.path.realpath(folder) + os.sep for folder in files.folders)
    found = {}
    for tree in trees:
        for listed in (listed for each in tree.every() for listed in each.generated):
            if listed.file not in names and listed.file not in silent and listed.file.startswith(folders):
                path = _shown(listed.file)
                found[listed.file] = Member(path, path, "", 0)
    return found


def _for_writing(members: Sequence[Member], files: frozenset[str]) -> tuple[Member, ...]:
    """Files of builds are looked at only for how they are written."""
    if not files:
        return tuple(members)
    return tuple(
        member._replace(look=READ) if os.path.realpath(member.file) in files else member for member in members
    )


def _shown(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
