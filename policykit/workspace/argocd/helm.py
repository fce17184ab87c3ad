"""How Argo CD renders a chart: the field `helm` of a source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.writer import dump
from policykit.workspace.argocd.globs import expanded, is_pattern
from policykit.workspace.argocd.repository import Repository, UnreadableError
from policykit.workspace.sources import HelmOptions

_READ = frozenset(
    {
        "valueFiles",
        "values",
        "valuesObject",
        "parameters",
        "fileParameters",
        "releaseName",
        "ignoreMissingValueFiles",
        "skipCrds",
        "skipTests",
        "namespace",
        "kubeVersion",
        "apiVersions",
        "version",
        "passCredentials",
        "skipSchemaValidation",
    }
)
"""Fields that are applied, and fields that do not matter here."""
_COMMA = re.compile(r"(?<!\\),")


def helm_options(
    said: Mapping[str, Any],
    name: str,
    namespace: str,
    folder: str,
    repository: Repository,
    references: Mapping[str, bool],
) -> HelmOptions:
    """The options for a chart in a folder. `references`: `$name` of other sources to whether each is this
    repository. Raises UnreadableError.
    """
    unknown = sorted(field for field in said if field not in _READ and said[field])
    if unknown:
        raise UnreadableError(f"its helm has {unknown[0]}, which is not read")
    values = said.get("valuesObject")
    text = dump(values) if isinstance(values, dict) else said.get("values")
    plain, texts = _parameters(said)
    return HelmOptions(
        str(said.get("releaseName") or name),
        str(said.get("namespace") or namespace),
        tuple(_value_files(said, folder, repository, references)),
        (text,) if isinstance(text, str) and text else (),
        plain,
        texts,
        tuple(_file_parameters(said, folder, repository)),
        not said.get("skipCrds"),
        bool(said.get("skipTests")),
        tuple(str(each) for each in _list(said, "apiVersions")),
        str(said.get("kubeVersion") or ""),
    )


def _value_files(
    said: Mapping[str, Any], folder: str, repository: Repository, references: Mapping[str, bool]
) -> list[str]:
    """Absolute paths, in the order in which helm reads them. A pattern stands for the files that are neither
    named outright nor matched by an earlier one.
    """
    paths = [str(each) for each in _list(said, "valueFiles")]
    places = [_place(path, folder, repository, references) for path in paths]
    known = {place for path, place in zip(paths, places, strict=True) if not is_pattern(path)}
    found: list[str] = []
    for path, place in zip(paths, places, strict=True):
        several = is_pattern(path)
        files = _matching(place, repository) if several else [place] if os.path.lexists(place) else []
        if not files and not said.get("ignoreMissingValueFiles"):
            raise UnreadableError(f"its values {path} {'match no file' if several else 'do not exist'}")
        found += [file for file in files if not (several and file in known)]
        known.update(files)
    return found


def _matching(place: str, repository: Repository) -> list[str]:
    """The files that match a pattern."""
    pattern = os.path.relpath(place, repository.root).replace(os.sep, "/")
    return [os.path.join(repository.root, file) for file in expanded(pattern, repository.files())]


def _place(path: str, folder: str, repository: Repository, references: Mapping[str, bool]) -> str:
    if "://" in path:
        raise UnreadableError(f"its values {path} are not in the repository")
    reference, _, rest = path.partition("/")
    if reference.startswith("$"):
        if not references.get(reference):
            raise UnreadableError(f"its values {path} are not in this repository")
        place = os.path.join(repository.root, rest)
    elif path.startswith("/"):
        place = os.path.join(repository.root, path.lstrip("/"))
    else:
        place = os.path.join(folder, path)
    return os.path.abspath(place)


def _parameters(
    said: Mapping[str, Any],
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Parameters for `--set` and for `--set-string`; commas are part of the values."""
    plain: list[tuple[str, str]] = []
    texts: list[tuple[str, str]] = []
    for each in _list(said, "parameters"):
        if not isinstance(each, dict):
            continue
        value = str(each.get("value", ""))
        if not (value.startswith("{") and value.endswith("}")):
            value = _COMMA.sub(r"\\,", value)
        if "$ARGOCD_" in value or "${ARGOCD_" in value:
            raise UnreadableError(f"its parameter {each.get('name')} has a variable of Argo CD")
        (texts if each.get("forceString") else plain).append((str(each.get("name", "")), value))
    return tuple(plain), tuple(texts)


def _file_parameters(
    said: Mapping[str, Any], folder: str, repository: Repository
) -> Iterator[tuple[str, str]]:
    for each in _list(said, "fileParameters"):
        if isinstance(each, dict):
            path = str(each.get("path", ""))
            base = repository.root if path.startswith("/") else folder
            yield str(each.get("name", "")), os.path.abspath(os.path.join(base, path.lstrip("/")))


def _list(said: Mapping[str, Any], field: str) -> list[Any]:
    value = said.get(field)
    return value if isinstance(value, list) else []
