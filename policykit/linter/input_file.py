"""A file or build of a run; and the kustomization or chart, with all that it lists, that a build is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple

TEXT = "text"
"""Only the text of the file is linted: its objects are linted as kustomize builds them."""
OBJECTS = "objects"
"""Only the objects are linted, which come from a build: their text is linted in the source files."""


KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Names of the files with kustomizations."""
STDIN = "-"
"""The path with which standard input is opened."""


_ORIGIN: Path = ("metadata", "annotations", "config.kubernetes.io/origin")
_TEMPLATES = "/templates/"


def origin_of(data: object) -> Mapping[str, Any]:
    """What kustomize says a built object comes from: `path` of a file, or what made it, `configuredBy` and
    `configuredIn`; empty: nothing is said."""
    written = lookup(data, _ORIGIN)
    root = next((parsed.root for parsed in parse(written)), None) if isinstance(written, str) else None
    return mapping(root.data if root else None)


class InputFile(NamedTuple):
    """A file of the run."""

    path: str
    """As reported."""
    file: str
    """As opened."""
    scope: str
    """Cross-document rules compare the files of one scope; empty: the file is in no scope."""
    setting: int
    """Index into the run's settings."""
    partial: bool = False
    """Whether its objects are incomplete: patches, or objects that an unbuilt kustomization adds to."""
    namespace: str = ""
    """Namespace of its objects that set none; empty: that of the setting."""
    only: str = ""
    """TEXT or OBJECTS: the part that is linted; empty: both."""

    components: tuple[str, ...] = ()
    """Workload kinds whose generated components a kustomization applies to it."""

    origins: tuple[str, ...] = ()
    """Of a build: origins of the objects that are linted, as those of others are in no file of the run; of
    these only facts are read. Empty: all are linted."""
    literal: bool = False
    """Whether nothing replaces `${NAME}` in it before it is applied."""
    inlined: bool = False
    """Whether Pipelines-as-Code reads it, by the folder that it is in."""

    @property
    def is_built(self) -> bool:
        """Whether it represents the objects of a build."""
        return self.only == OBJECTS


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
        """Files whose objects are linted as built: resources, patches, and templates of charts."""
        for tree in self.every():
            yield from (listed.file for listed in (*tree.resources, *tree.patches) if listed.file)
            for chart in tree.charts:
                yield from (file for path, file in chart.files.items() if _TEMPLATES in f"/{path}")


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

    input_file: InputFile
    """Represents its objects as a file of the run."""
    tree: Kustomization
    folder: str
    """Absolute folder that the origins of its objects are relative to."""
    names: Mapping[str, InputFile]
    """Input files of the run, by their files with links resolved."""
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
