"""What a kustomization lists, and what is listed there in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.linter.workspace import Member
from policykit.manifests.path import Path


class Listed(NamedTuple):
    """An entry of a kustomization."""

    at: Path
    """Where it stands in the kustomization; for a text that stands there itself, that text."""
    file: str = ""
    """Absolute; empty: the text stands in the kustomization."""
    target: Mapping[str, str] | None = None
    """What a patch is for, as far as it is stated; None: its own kind and name tell."""
    key: str = ""
    """Of a generator's file: the key it becomes."""


class Chart(NamedTuple):
    """A chart of the repository that helm renders from a copy of its files."""

    name: str
    folder: str
    """Absolute, links resolved."""
    files: Mapping[str, str]
    """Path in the chart to the file, links resolved."""
    at: Path = ()
    """Its entry in the kustomization."""
    path: str = ""
    """As kustomize gives it to helm."""


class Tree(NamedTuple):
    """A kustomization with the ones that it uses."""

    file: str
    """Absolute, links resolved, as all files here."""
    resources: tuple[Listed, ...] = ()
    patches: tuple[Listed, ...] = ()
    generated: tuple[Listed, ...] = ()
    """Files that generators read."""
    bases: tuple[Below, ...] = ()
    components: tuple[Below, ...] = ()
    beside: tuple[Listed, ...] = ()
    """Files that say how it is built."""
    order: Any = None
    """Its `sortOptions`."""
    charts: tuple[Chart, ...] = ()
    """Those of its `helmCharts`, or the one that is rendered by itself."""

    def every(self) -> Iterator[Tree]:
        """Itself and all below, each once."""
        seen: set[str] = set()
        pending = [self]
        while pending:
            tree = pending.pop()
            if tree.file not in seen:
                seen.add(tree.file)
                yield tree
                pending.extend(below.tree for below in reversed((*tree.bases, *tree.components)))

    def written(self) -> Iterator[str]:
        """All files: itself, what it lists, and what stands there."""
        yield from (tree.file for tree in self.every())
        yield from self.looked_at()
        yield from (file for chart in self.every_chart() for file in chart.files.values())

    def every_chart(self) -> Iterator[Chart]:
        """Its own charts and those of all below."""
        for tree in self.every():
            yield from tree.charts

    def looked_at(self) -> Iterator[str]:
        """Files whose objects and patches are judged as built."""
        for tree in self.every():
            yield from (listed.file for listed in (*tree.resources, *tree.patches) if listed.file)


class Below(NamedTuple):
    """A base or component, and the entry that names it."""

    at: Path
    tree: Tree


Way = tuple[tuple[Tree, Path], ...]
"""Kustomizations from the outermost to the one that lists a file, each with the entry that leads on."""


def ways(tree: Tree) -> dict[str, Way]:
    """The first way that leads to each resource file, and to each kustomization."""
    found: dict[str, Way] = {}
    pending: list[tuple[Tree, Way]] = [(tree, ())]
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


class Built(NamedTuple):
    """A kustomization as built: what stands for it in a run."""

    member: Member
    """Its objects, as a file of the run."""
    tree: Tree
    folder: str
    """Absolute folder that the origins of its objects are relative to."""
    names: Mapping[str, Member]
    """The files of the run, links resolved."""
    silent: frozenset[str] = frozenset()
    """Files that settings leave out: nothing is said of them."""
    shown: str = "."
    """The folder, as people read it."""
    rendered: bytes = b""
    """Objects of charts as helm renders them, below comments that name their templates."""
