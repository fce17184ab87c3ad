"""Kustomizations with everything they list, and the routes by which one leads to a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.member import Member
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple


class FileEntry(NamedTuple):
    """An entry of a kustomization."""

    at: Path
    """Path of the entry in the kustomization; for an inline text, the path of that text."""
    file: str = ""
    """Absolute path; empty: the text is inline."""
    target: Mapping[str, str] | None = None
    """The target of a patch, if it has one; None: the patch names its object by kind and name."""
    key: str = ""
    """For a file of a generator: its key in the generated object."""


class Chart(NamedTuple):
    """A chart of the repository that helm renders from a copy of its files."""

    name: str
    folder: str
    """Absolute, links resolved."""
    files: Mapping[str, str]
    """Path in the chart to the file, links resolved."""
    at: Path = ()
    """Path of its entry in the kustomization."""
    path: str = ""
    """Path that kustomize passes to helm."""


class Kustomization(NamedTuple):
    """A kustomization, with the kustomizations that it uses."""

    file: str
    """Absolute, with links resolved, as all files here."""
    resources: tuple[FileEntry, ...] = ()
    patches: tuple[FileEntry, ...] = ()
    generated: tuple[FileEntry, ...] = ()
    """Files that generators read."""
    bases: tuple[KustomizationEntry, ...] = ()
    components: tuple[KustomizationEntry, ...] = ()
    beside: tuple[FileEntry, ...] = ()
    """Files that configure the build."""
    order: Any = None
    """Its `sortOptions`."""
    charts: tuple[Chart, ...] = ()
    """Charts of its `helmCharts`, or the one chart that is rendered alone."""
    document: int = 0
    """Index of the document; only an object that states what is built, as of Flux, may not be the first."""

    def every(self) -> Iterator[Kustomization]:
        """Itself and all kustomizations it uses, each once."""
        seen: set[str] = set()
        pending = [self]
        while pending:
            tree = pending.pop()
            if tree.file not in seen:
                seen.add(tree.file)
                yield tree
                pending.extend(below.tree for below in reversed((*tree.bases, *tree.components)))

    def written(self) -> Iterator[str]:
        """All files: the kustomizations, and their resources and patches."""
        yield from (tree.file for tree in self.every())
        yield from self.looked_at()
        yield from (file for chart in self.every_chart() for file in chart.files.values())

    def every_chart(self) -> Iterator[Chart]:
        """Its charts, and those of all kustomizations it uses."""
        for tree in self.every():
            yield from tree.charts

    def looked_at(self) -> Iterator[str]:
        """Files whose objects are linted as built: resources and patches."""
        for tree in self.every():
            yield from (listed.file for listed in (*tree.resources, *tree.patches) if listed.file)


class KustomizationEntry(NamedTuple):
    """A base or component, and the entry that names it."""

    at: Path
    tree: Kustomization


Route = tuple[tuple[Kustomization, Path], ...]
"""Kustomizations from the outermost to the one that lists a file, each with the entry of the next."""


def routes(tree: Kustomization) -> dict[str, Route]:
    """The first route to each resource file and to each kustomization."""
    found: dict[str, Route] = {}
    pending: list[tuple[Kustomization, Route]] = [(tree, ())]
    while pending:
        here, before = pending.pop()
        if here.file in found:
            continue
        found[here.file] = (*before, (here, ()))
        for listed in here.resources:
            found.setdefault(listed.file, (*before, (here, listed.at)))
        for below in reversed((*here.bases, *here.components)):
            pending.append((below.tree, (*before, (here, below.at))))
    return found


class BuiltKustomization(NamedTuple):
    """A built kustomization in a run."""

    member: Member
    """Represents its objects as a file of the run."""
    tree: Kustomization
    folder: str
    """Absolute folder that the origins of its objects are relative to."""
    names: Mapping[str, Member]
    """Members of the run, by their files with links resolved."""
    silent: frozenset[str] = frozenset()
    """Files that settings exclude, where no finding is reported."""
    shown: str = "."
    """The folder, as shown to the user."""
    rendered: bytes = b""
    """Objects of charts as helm renders them, below comments that name their templates."""
    root: str = ""
    """That folder, absolute with links resolved; empty: that of the tree's file."""
    file: str = ""
    """Absolute path of the file with the objects as they are applied; empty: they were built."""
