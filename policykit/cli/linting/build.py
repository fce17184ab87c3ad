"""The kustomizations of a run as kustomize builds them: which ones, and what is said of the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.cli.linting.gather import STDIN, Gathered
from policykit.errors import Failures
from policykit.linter.member import READ, Member
from policykit.sources.scopes import kustomization, kustomization_root

if TYPE_CHECKING:
    from policykit.linter.built.tree import Built, Tree
    from policykit.sources.kustomize import Build


class Builds(NamedTuple):
    """What was built for a run, and why the rest was not."""

    built: tuple[Built, ...] = ()
    not_built: tuple[tuple[str, str], ...] = ()
    """(folder as people read it, why) of kustomizations that are looked at file by file."""


def builds_of(gathered: Gathered) -> Builds:
    """Builds the kustomizations whose folders, or files, the run was given.

    Their files are from then on looked at only for how they are written. Those that only list
    files need no building, and nothing is imported where there is no kustomization.
    """
    folders = [folder for folder in gathered.folders if kustomization(folder)]
    if not folders:
        return Builds()
    from policykit.cache.builds import builds
    from policykit.sources import kustomize

    silent = frozenset(map(os.path.realpath, gathered.left_out))
    trees, declined = _roots(folders, silent, gathered.failures)
    program = kustomize.binary() if trees else ""
    if trees and not program:
        declined += [(root, "kustomize is not on PATH") for root in trees]
    made = builds(program, [*trees.values()], gathered.cache) if program else []
    names = {os.path.realpath(m.file): m for m in gathered.members if m.file != STDIN} if made else {}
    _add_generated(gathered, trees.values() if made else (), names, silent)
    built: list[Built] = []
    for (root, tree), build in zip(trees.items(), made, strict=False):
        if build.failure:
            declined.append((root, build.failure))
            continue
        built.append(_built(gathered, root, tree, build, names, silent))
    _look_at_writing(gathered, (each.tree for each in built))
    return Builds(tuple(built), tuple(sorted((_shown(root), why) for root, why in declined)))


def told(builds: Builds, *, every: bool) -> list[str]:
    """Lines for people: one about what was not built, with `every` one for each kustomization."""
    if every:
        lines = [f"built {built.shown} with kustomize" for built in builds.built]
        return lines + [f"not built {folder}: {why}" for folder, why in builds.not_built]
    if not builds.not_built:
        return []
    folder, why = builds.not_built[0]
    more = len(builds.not_built) - 1
    if not more:
        return [f"policykit: {folder} is linted file by file: {why}"]
    reasons = {why for _, why in builds.not_built}
    if len(reasons) == 1:
        return [f"policykit: {more + 1} kustomizations are linted file by file: {why}"]
    return [
        f"policykit: {more + 1} kustomizations are linted file by file; {folder}: {why}"
        " (--show-files names the others)"
    ]


def _roots(
    folders: Sequence[str], silent: frozenset[str], failures: Failures
) -> tuple[dict[str, Tree], list[tuple[str, str]]]:
    """The outermost kustomizations, with what they list; and those that cannot be built, with the reason."""
    from policykit.sources.kustomizations import NotHereError, is_plain, is_root, tree_of, used_by

    roots = sorted({kustomization_root(folder) for folder in folders})
    real = {root: os.path.realpath(root) for root in roots}
    uses: dict[str, frozenset[str]] = {}
    for root in roots:
        with failures.told(_shown(root)):
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
        with failures.told(_shown(root)):
            try:
                tree = tree_of(root) if is_root(root) else None
                if tree and not is_plain(tree):
                    trees[root] = tree
            except NotHereError as reason:
                declined.append((root, str(reason)))
    return trees, declined


def _built(
    gathered: Gathered,
    root: str,
    tree: Tree,
    build: Build,
    names: Mapping[str, Member],
    silent: frozenset[str],
) -> Built:
    from policykit.linter.built.tree import Built

    # No file has such a name: the suffix keeps it from being taken for one.
    name = f"{_shown(os.path.join(root, os.path.basename(tree.file)))}#built"
    gathered.built[name] = build.text
    member = gathered.standing_in(root, name, root)
    return Built(member, tree, build.folder, names, silent, _shown(root))


def _add_generated(
    gathered: Gathered, trees: Iterable[Tree], names: dict[str, Member], silent: frozenset[str]
) -> None:
    """What generators read below the folders of the run may have findings, whatever its suffix."""
    folders = tuple(os.path.realpath(folder) + os.sep for folder in gathered.folders)
    for tree in trees:
        for listed in (listed for each in tree.every() for listed in each.generated):
            if listed.file not in names and listed.file not in silent and listed.file.startswith(folders):
                path = _shown(listed.file)
                names[listed.file] = Member(path, path, "", 0)
                gathered.beside.append(path)


def _look_at_writing(gathered: Gathered, trees: Iterable[Tree]) -> None:
    files = frozenset(file for tree in trees for file in tree.looked_at())
    gathered.built_from = files
    for number, member in enumerate(gathered.members if files else ()):
        if os.path.realpath(member.file) in files:
            gathered.members[number] = member._replace(look=READ)


def _shown(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
