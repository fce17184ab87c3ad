"""Charts of the repository, whose files are all regular files in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.input_file import Chart
from policykit.linter.not_judged import CHART, OUTSIDE
from policykit.manifests.path import Path
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.files import relative
from policykit.workspace.kustomization_entries import NotHereError, first_document

_MOST_FILES = 5000
_LARGEST = 64 << 20
"""Most bytes of all files of a chart."""
_DEEPEST = 10
"""Most levels of charts within charts."""
_LOCAL = "file://"


def read_chart(folder: str, limit: str) -> Chart:
    """The chart in a folder within a boundary, with the charts of the repository that it depends on.

    Raises NotHereError if it cannot be rendered from files of the repository.
    """
    return _Reader(limit).chart(filesystem.realpath(folder), ())


class _Reader:
    def __init__(self, limit: str) -> None:
        self._limit = limit
        self._size = 0
        self._count = 0

    def chart(self, folder: str, above: tuple[str, ...]) -> Chart:
        if not safe_paths.contains(self._limit, folder):
            raise NotHereError(f"the chart {relative(folder)} is outside of the repository", OUTSIDE)
        if folder in above or len(above) > _DEEPEST:
            raise NotHereError(f"the chart {relative(folder)} depends on itself", CHART)
        files = dict(self._files(folder, "", (folder,)))
        if "Chart.yaml" not in files:
            raise NotHereError(f"{relative(folder)} has no Chart.yaml", CHART)
        about = first_document(files["Chart.yaml"])
        name = about.get("name")
        for dependency in _dependencies(about, files):
            files.update(self._dependency(folder, dependency, files, (*above, folder)))
        return Chart(name if isinstance(name, str) else os.path.basename(folder), folder, files)

    def _files(self, folder: str, below: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Path and file of everything in a folder. Helm follows links, so they are checked here."""
        try:
            names = sorted(filesystem.names(folder))
        except OSError as error:
            raise NotHereError(f"{relative(folder)} cannot be read: {error.strerror}", CHART) from None
        for name in names:
            place = filesystem.realpath(os.path.join(folder, name))
            path = f"{below}{name}"
            if not safe_paths.contains(self._limit, place):
                raise NotHereError(
                    f"{relative(os.path.join(folder, name))} links to a place outside of the repository",
                    OUTSIDE,
                )
            if filesystem.isdir(place):
                if place in above:
                    raise NotHereError(
                        f"{relative(os.path.join(folder, name))} links to a folder above it", OUTSIDE
                    )
                yield from self._files(place, f"{path}/", (*above, place))
            elif filesystem.isfile(place):
                self._add(place)
                yield path, place
            else:
                raise NotHereError(f"{relative(os.path.join(folder, name))} is not a regular file", CHART)

    def _add(self, file: str) -> None:
        self._count += 1
        self._size += filesystem.size(file)
        if self._count > _MOST_FILES:
            raise NotHereError(f"the chart has more than {_MOST_FILES} files", CHART)
        if self._size > _LARGEST:
            raise NotHereError(f"the files of the chart are larger than {_LARGEST >> 20} MB", CHART)

    def _dependency(
        self, folder: str, dependency: dict[str, Any], files: Mapping[str, str], above: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        """The files of a dependency that is not in `charts/`, as `helm dependency` would add it."""
        name, repository = dependency["name"], dependency.get("repository")
        if not isinstance(repository, str) or not repository.startswith(_LOCAL):
            raise NotHereError(
                f"the chart {relative(folder)} depends on {name}, which is not in its charts folder", CHART
            )
        place = filesystem.realpath(os.path.join(folder, repository.removeprefix(_LOCAL).replace("\0", "")))
        for path, file in self.chart(place, above).files.items():
            yield f"charts/{name}/{path}", file


def _dependencies(about: Mapping[str, Any], files: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Dependencies of a chart that its `charts/` contains neither as a folder nor as an archive."""
    listed = about.get("dependencies")
    for each in listed if isinstance(listed, list) else ():
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str) or "/" in name or name.startswith("."):
            continue
        packed = any(path.startswith(f"charts/{name}-") and path.endswith(".tgz") for path in files)
        if f"charts/{name}/Chart.yaml" not in files and not packed:
            yield each


def kustomize_charts(file: str, data: Mapping[str, Any], limit: str) -> Iterator[Chart]:
    """The charts that a kustomization renders. Raises NotHereError."""
    folder = os.path.dirname(file)
    globals_ = data.get("helmGlobals")
    home = globals_.get("chartHome") if isinstance(globals_, dict) else None
    place = os.path.join(folder, home.replace("\0", "") if isinstance(home, str) and home else "charts")
    listed = data.get("helmCharts")
    for number, entry in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise NotHereError(f"{relative(file)} has a chart without a name", CHART)
        for field, value in entry.items():
            if isinstance(value, str) and value.startswith("-"):
                raise NotHereError(
                    f"helmCharts[{number}] has {field} {value}, which helm would read as an option", CHART
                )
        name, version = entry["name"].replace("\0", ""), entry.get("version")
        packed = isinstance(version, str) and version and entry.get("repo")
        path = os.path.normpath(os.path.join(place, f"{name}-{version}" if packed else "", name))
        if not filesystem.isdir(path):
            raise NotHereError(
                f"{relative(file)} uses the chart {name}, which is not in the repository", CHART
            )
        yield read_chart(path, limit)._replace(at=("helmCharts", number), path=path)


def kustomize_values(data: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Entries of `helmCharts` that name values files."""
    listed = data.get("helmCharts")
    for number, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict):
            if isinstance(entry.get("valuesFile"), str):
                yield ("helmCharts", number, "valuesFile"), entry["valuesFile"]
            more = entry.get("additionalValuesFiles")
            for position, each in enumerate(more if isinstance(more, list) else ()):
                if isinstance(each, str):
                    yield ("helmCharts", number, "additionalValuesFiles", position), each
