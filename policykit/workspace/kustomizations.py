"""Reads kustomizations with everything they list, if it is on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from policykit.linter.input_file import KUSTOMIZATIONS, Chart, FileEntry, Kustomization, KustomizationEntry
from policykit.linter.not_judged import BUILD_FAILED, CHART, OUTSIDE, OVER_LIMITS, PROGRAM
from policykit.manifests.path import Path
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.workloads.components import selected_kinds
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import relative, walk
from policykit.workspace.kustomization_entries import (
    GROUP,
    Entry,
    NotHereError,
    about_plugins,
    absence,
    first_document,
    is_remote,
    text_of,
)
from policykit.workspace.scopes import kustomization

_PLUGINS = ("generators", "transformers", "validators")
_FILES = ("crds", "configurations", *_PLUGINS)
"""Fields with files or kustomizations that configure the build."""
_GENERATORS = ("configMapGenerator", "secretGenerator")
_CHARTS = ("helmChartInflationGenerator",)
_INFLATION = "HelmChartInflationGenerator"
_FUNCTION = "config.kubernetes.io/function"

_DEEPEST = 50
"""Maximum depth of nested kustomizations; four or five levels are usual."""
_LONGEST = 4096
"""Maximum length of a path; longer texts are not paths."""
_PLAIN = frozenset({"apiVersion", "kind", "metadata", "resources", "bases", "namespace", "sortOptions"})
"""Fields that do not change objects; but see `namespace` in `is_plain`."""


def is_root(folder: str) -> bool:
    """Whether a folder's kustomization can be built on its own, so is not a component or another kind."""
    data = first_document(kustomization(folder))
    version = data.get("apiVersion")
    ours = version is None or (isinstance(version, str) and version.startswith(GROUP))
    return bool(data) and ours and data.get("kind") != "Component"


def used_by(folder: str) -> frozenset[str]:
    """Folders (links resolved) of the kustomizations that a folder's one uses, if they exist here."""
    found: set[str] = set()
    pending = [filesystem.realpath(folder)]
    limit = _limit(folder)
    while pending:
        here = pending.pop()
        data = first_document(kustomization(here))
        for field in ("resources", "bases", "components"):
            for _, entry in _entries(data, field):
                place = filesystem.realpath(os.path.join(here, entry.replace("\0", "")))
                if place not in found and safe_paths.contains(limit, place) and filesystem.isdir(place):
                    found.add(place)
                    pending.append(place)
    return frozenset(found)


def tree_of(folder: str) -> Kustomization:
    """The kustomization of a folder, with everything it uses. Raises NotHereError."""
    return _tree(filesystem.realpath(folder), _limit(folder))


@cached
def _tree(folder: str, limit: str) -> Kustomization:
    return _reader(limit).tree(folder, ())


@cached
def _reader(limit: str) -> _Reader:
    """One for all kustomizations of a boundary: many use the same bases."""
    return _Reader(limit)


def check_file(path: str) -> None:
    """Checks a file that is built without a kustomization. Raises NotHereError."""
    reader = _Reader(_limit(os.path.dirname(path)))
    why = reader.obstacle(filesystem.realpath(path))
    if why:
        raise NotHereError(f"{os.path.relpath(path)} {why}", OUTSIDE)


def is_completed(path: str) -> bool:
    """Whether a kustomization within the boundary of a file adds to the file's objects.

    It reads only kustomizations, once for all files of a boundary.
    """
    return filesystem.realpath(path) in _completed(safe_paths.root_of(path))


@cached
def _completed(limit: str) -> frozenset[str]:
    """Real paths of resources that a kustomization changes, directly or through others."""
    known = {os.path.dirname(path) for path in walk(limit)}
    resources: dict[str, list[str]] = {}
    changing: list[str] = []
    for folder in sorted(known):
        file = kustomization(folder)
        data = first_document(file) if file and safe_paths.contains(limit, filesystem.realpath(file)) else {}
        here = filesystem.realpath(folder)
        resources[here] = [
            filesystem.realpath(os.path.join(folder, entry.replace("\0", "")))
            for field in ("resources", "bases", "components")
            for _, entry in _entries(data, field)
        ]
        if not _PLAIN.issuperset(data):
            changing.append(here)
    found: set[str] = set()
    pending = changing
    while pending:
        for place in resources.pop(pending.pop(), ()):
            found.add(place)
            pending.append(place)
    return frozenset(found)


def references(root: str, places: frozenset[str]) -> Iterator[tuple[str, str]]:
    """(kustomization, listed path) below a folder for each listed path that leads to one of the places.

    `places`: real paths, which need not exist any more.
    """
    for path in walk(root):
        if os.path.basename(path) not in KUSTOMIZATIONS:
            continue
        here = filesystem.realpath(os.path.dirname(path))
        for field in ("resources", "bases", "components"):
            for _, entry in _entries(first_document(path), field):
                if filesystem.realpath(os.path.join(here, entry.replace("\0", ""))) in places:
                    yield path, entry


def is_plain(tree: Kustomization) -> bool:
    """Whether a kustomization only lists files below its own folder, so that a build does not change them.

    It may set a `namespace`, which replaces that of the objects.
    """
    folder = os.path.dirname(tree.file) + os.sep
    stated = False
    for each in tree.every():
        data = first_document(each.file)
        stated = stated or "namespace" in data
        if not _PLAIN.issuperset(data) or not each.file.startswith(folder):
            return False
    files = [*tree.looked_at()]
    below = all(file.startswith(folder) for file in files) and len(files) == len(set(files))
    return below and not (stated and any("namespace" in text_of(file) for file in files))


def namespace_of(tree: Kustomization) -> str:
    """The namespace that a kustomization gives its objects: the outermost takes precedence; empty: none."""
    for each in tree.every():
        namespace = first_document(each.file).get("namespace")
        if isinstance(namespace, str) and namespace:
            return namespace
    return ""


def components_of(tree: Kustomization) -> dict[str, tuple[str, ...]]:
    """Files with objects to the workload kinds whose generated components are applied to them, sorted.

    Without files to which a kustomization or a patch below may add the label that components select by.
    """
    found: dict[str, set[str]] = {}
    for each in tree.every():
        kinds = frozenset[str]().union(
            *(selected_kinds(first_document(one.tree.file)) for one in each.components)
        )
        if kinds:
            labelled = [base.tree for base in each.bases if _adds_label(base.tree)]
            below = [base.tree for base in each.bases if base.tree not in labelled]
            parts = (each, *(part for base in below for part in base.every()))
            for file in (listed.file for part in parts for listed in part.resources if listed.file):
                found.setdefault(file, set()).update(kinds)
    return {file: tuple(sorted(kinds)) for file, kinds in found.items()}


def _adds_label(tree: Kustomization) -> bool:
    """Whether a kustomization, or a patch of it, names the label that components select by."""
    files = (file for each in tree.every() for file in (each.file, *(listed.file for listed in each.patches)))
    return any(WORKLOAD_KEY in text_of(file) for file in files if file)


def files_of(tree: Kustomization) -> list[str]:
    """All files that a build reads, sorted."""
    found: set[str] = set()
    for each in tree.every():
        found.add(each.file)
        found.update(
            listed.file
            for listed in (*each.resources, *each.patches, *each.generated, *each.beside)
            if listed.file
        )
        found.update(file for chart in each.charts for file in chart.files.values())
    return sorted(found)


def _limit(folder: str) -> str:
    """The boundary for the entries of a folder's kustomization."""
    return safe_paths.root_of(os.path.join(folder, KUSTOMIZATIONS[0]))


class _Reader:
    """Reads kustomizations within a boundary, each once."""

    def __init__(self, limit: str) -> None:
        self._limit = limit
        self._known: dict[str, Kustomization] = {}
        self._heights: dict[str, int] = {}
        """How many kustomizations of each one use one another."""

    def tree(self, folder: str, above: tuple[str, ...], entry: Entry | None = None) -> Kustomization:
        """The kustomization of a folder, listed by `entry`. Raises NotHereError."""
        if len(above) + self._heights.get(folder, 0) > _DEEPEST:
            raise NotHereError(f"more than {_DEEPEST} kustomizations use one another", OVER_LIMITS)
        if folder in above:
            raise NotHereError(f"{relative(folder)} lists itself", BUILD_FAILED, entry)
        if folder not in self._known:
            found = self._known[folder] = self._read(folder, (*above, folder), entry)
            below = (os.path.dirname(each.tree.file) for each in (*found.bases, *found.components))
            self._heights[folder] = 1 + max((self._heights.get(each, 0) for each in below), default=-1)
        return self._known[folder]

    def _read(self, folder: str, above: tuple[str, ...], entry: Entry | None) -> Kustomization:
        file = filesystem.realpath(kustomization(folder))
        if not safe_paths.contains(self._limit, file):
            raise NotHereError(
                f"{relative(folder)} has a kustomization that is outside of the repository", OUTSIDE
            )
        data = first_document(file)
        if not data:
            why, reason = absence("kustomization.yaml", folder, self._limit)
            if reason != BUILD_FAILED:
                raise NotHereError(f"{relative(folder)} has a kustomization that {why}", reason)
            raise NotHereError(f"{relative(folder)} has no kustomization", BUILD_FAILED, entry)
        for field in _CHARTS:
            if data.get(field):
                raise NotHereError(f"{relative(file)} has {field}", CHART)
        resources: list[FileEntry] = []
        bases: list[KustomizationEntry] = []
        components: list[KustomizationEntry] = []
        for field, below in (("resources", bases), ("bases", bases), ("components", components)):
            for at, written in _entries(data, field):
                place = self._here(folder, at, written, file)
                if filesystem.isdir(place):
                    here = Entry(file, at, written)
                    below.append(KustomizationEntry(at, self.tree(place, above, here)))
                else:
                    resources.append(FileEntry(at, place))
        beside = [
            listed
            for at, written in _other_files(data)
            for listed in self._how(folder, at, written, file, above)
        ]
        return Kustomization(
            file,
            tuple(resources),
            tuple(self._patches(folder, data, file)),
            tuple(self._generated(folder, data, file)),
            tuple(bases),
            tuple(components),
            tuple(beside),
            data.get("sortOptions"),
            self._charts(data, file),
        )

    def _charts(self, data: dict[str, Any], file: str) -> tuple[Chart, ...]:
        if not data.get("helmCharts"):
            return ()
        from policykit.workspace.charts import kustomize_charts

        return tuple(kustomize_charts(file, data, self._limit))

    def _patches(self, folder: str, data: dict[str, Any], file: str) -> Iterator[FileEntry]:
        for at, entry in _entries(data, "patchesStrategicMerge"):
            yield FileEntry(at) if "\n" in entry else self._file(folder, at, entry, file)
        for field in ("patches", "patchesJson6902"):
            for number, each in enumerate(_list(data, field)):
                if not isinstance(each, dict):
                    continue
                target = each.get("target")
                words = (
                    {k: v for k, v in target.items() if isinstance(v, str)}
                    if isinstance(target, dict)
                    else None
                )
                if isinstance(each.get("path"), str):
                    listed = self._file(folder, (field, number, "path"), each["path"], file)
                    yield listed._replace(target=words)
                elif isinstance(each.get("patch"), str):
                    yield FileEntry((field, number, "patch"), "", words)

    def _generated(self, folder: str, data: dict[str, Any], file: str) -> Iterator[FileEntry]:
        for field in _GENERATORS:
            for number, each in enumerate(_list(data, field)):
                if not isinstance(each, dict):
                    continue
                for at, entry in _entries(each, "files"):
                    key, equals, path = entry.partition("=")
                    path = path if equals else entry
                    listed = self._file(folder, (field, number, *at), path, file)
                    yield listed._replace(key=key if equals else os.path.basename(path))
                envs = [*_entries(each, "envs")]
                envs += [(("env",), each["env"])] if isinstance(each.get("env"), str) else []
                for at, entry in envs:
                    yield self._file(folder, (field, number, *at), entry, file)

    def _file(self, folder: str, at: Path, entry: str, file: str) -> FileEntry:
        return FileEntry(at, self._here(folder, at, entry, file))

    def _here(self, folder: str, at: Path, entry: str, file: str) -> str:
        """The real path of an entry. Raises NotHereError."""
        place = filesystem.realpath(os.path.join(folder, entry.replace("\0", "")))
        why, reason = self.obstacle(place), OUTSIDE
        wrong: Entry | None = None
        if not filesystem.lexists(place) and (is_remote(entry) or not why):
            why, reason = absence(entry, folder, self._limit)
            wrong = Entry(file, at, entry) if reason == BUILD_FAILED else None
        if why:
            raise NotHereError(f"{relative(file)} lists {entry}, which {why}", reason, wrong)
        return place

    def obstacle(self, place: str) -> str:
        """Why a real path must not be passed to kustomize; empty: it may be."""
        if not safe_paths.contains(self._limit, place):
            return "is in .git" if safe_paths.in_git(place) else "is outside of the repository"
        if filesystem.lexists(place) and not filesystem.isfile(place) and not filesystem.isdir(place):
            return "is neither file nor folder"
        return ""

    def _how(
        self, folder: str, at: Path, entry: str, file: str, above: tuple[str, ...]
    ) -> Iterator[FileEntry]:
        """The files of an entry that configures the build: a file, or those of a kustomization."""
        if "\n" in entry:
            texts = [(file, entry)]
        else:
            place = self._here(folder, at, entry, file)
            is_folder = filesystem.isdir(place)
            files = files_of(self.tree(place, above, Entry(file, at, entry))) if is_folder else [place]
            yield from (FileEntry(at, each) for each in files)
            texts = [(each, text_of(each)) for each in files]
        for each, text in texts:
            if _FUNCTION in text:
                raise NotHereError(f"{relative(each)} runs a program", PROGRAM)
            if _INFLATION in text:
                raise NotHereError(f"{relative(each)} has a {_INFLATION}", CHART)
            if at[0] in _PLUGINS:
                self._check_plugin(folder, text, each, at)

    def _check_plugin(self, folder: str, text: str, file: str, at: Path) -> None:
        """Raises NotHereError if a plugin is a program, as ksops is, or may read forbidden files: any of its
        texts may be a path."""
        kind, strings = about_plugins(text)
        if kind:
            raise NotHereError(f"{relative(file)} lists {kind} under {at[0]}, which is a program", PROGRAM)
        paths = {path for each in strings for path in (each, each.partition("=")[2]) if len(path) < _LONGEST}
        for path in sorted(paths):
            place = filesystem.realpath(os.path.join(folder, path.replace("\0", "")))
            within = safe_paths.is_within(place, folder)
            why = self.obstacle(place)
            # Text that is not an existing path is never read.
            if why and (within or (filesystem.lexists(place) and not filesystem.isdir(place))):
                raise NotHereError(f"{relative(file)} lists {path}, which {why}", OUTSIDE)


def _other_files(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if data.get("helmCharts"):
        from policykit.workspace.charts import kustomize_values

        yield from kustomize_values(data)
    for field in _FILES:
        yield from _entries(data, field)
    for number, each in enumerate(_list(data, "replacements")):
        if isinstance(each, dict) and isinstance(each.get("path"), str):
            yield ("replacements", number, "path"), each["path"]
    openapi = data.get("openapi")
    if isinstance(openapi, dict) and isinstance(openapi.get("path"), str):
        yield ("openapi", "path"), openapi["path"]


def _entries(data: dict[str, Any], field: str) -> Iterator[tuple[Path, str]]:
    for number, each in enumerate(_list(data, field)):
        if isinstance(each, str):
            yield (field, number), each


def _list(data: dict[str, Any], field: str) -> Sequence[Any]:
    value = data.get(field)
    return value if isinstance(value, list) else ()
