"""How Argo CD renders a source: its fields `helm` and `kustomize`."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from policykit.manifests.writer import dump
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.gitops.sources import HelmOptions, Repository, UnreadableError

_DEEP = "**"


def is_pattern(path: str) -> bool:
    """Whether it stands for several files."""
    return any(mark in path for mark in "*?[")


def expanded(pattern: str, files: Iterable[str]) -> list[str]:
    """The files that match, in the order of helm's options: those of a folder, then of folders in it."""
    parts = posixpath.normpath(pattern).split("/")
    return sorted((path for path in files if _matches(path.split("/"), parts)), key=_order)


def _order(path: str) -> tuple[tuple[bool, str], ...]:
    *folders, name = path.split("/")
    return (*((True, folder) for folder in folders), (False, name))


def _matches(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Row by row: how many names the parts so far may stand for."""
    reached = {0}
    for part in parts:
        if part == _DEEP:
            reached = set(range(min(reached), len(names) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
    return len(names) in reached


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
    fields: Mapping[str, Any],
    name: str,
    namespace: str,
    folder: str,
    repository: Repository,
    references: Mapping[str, bool],
) -> HelmOptions:
    """The options for a chart in a folder. `references`: `$name` of other sources to whether each is this
    repository. Raises UnreadableError.
    """
    unknown = sorted(field for field in fields if field not in _READ and fields[field])
    if unknown:
        raise UnreadableError(f"its helm has {unknown[0]}, which is not read")
    values = fields.get("valuesObject")
    text = dump(values) if isinstance(values, dict) else fields.get("values")
    plain, texts = _parameters(fields)
    return HelmOptions(
        str(fields.get("releaseName") or name),
        str(fields.get("namespace") or namespace),
        tuple(_value_files(fields, folder, repository, references)),
        (text,) if isinstance(text, str) and text else (),
        plain,
        texts,
        tuple(_file_parameters(fields, folder, repository)),
        not fields.get("skipCrds"),
        bool(fields.get("skipTests")),
        tuple(str(each) for each in _list(fields, "apiVersions")),
        str(fields.get("kubeVersion") or ""),
    )


def _value_files(
    fields: Mapping[str, Any], folder: str, repository: Repository, references: Mapping[str, bool]
) -> list[str]:
    """Absolute paths, in the order in which helm reads them. A pattern stands for the files that are neither
    named outright nor matched by an earlier one.
    """
    paths = [str(each) for each in _list(fields, "valueFiles")]
    places = [_place(path, folder, repository, references) for path in paths]
    known = {place for path, place in zip(paths, places, strict=True) if not is_pattern(path)}
    found: list[str] = []
    for path, place in zip(paths, places, strict=True):
        several = is_pattern(path)
        files = _matching(place, repository) if several else [place] if filesystem.lexists(place) else []
        if not files and not fields.get("ignoreMissingValueFiles"):
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
    fields: Mapping[str, Any],
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Parameters for `--set` and for `--set-string`; commas are part of the values."""
    plain: list[tuple[str, str]] = []
    texts: list[tuple[str, str]] = []
    for each in _list(fields, "parameters"):
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
    fields: Mapping[str, Any], folder: str, repository: Repository
) -> Iterator[tuple[str, str]]:
    for each in _list(fields, "fileParameters"):
        if isinstance(each, dict):
            path = str(each.get("path", ""))
            base = repository.root if path.startswith("/") else folder
            yield str(each.get("name", "")), os.path.abspath(os.path.join(base, path.lstrip("/")))


def _list(fields: Mapping[str, Any], field: str) -> list[Any]:
    value = fields.get(field)
    return value if isinstance(value, list) else []


_SAME = ("namePrefix", "nameSuffix", "namespace", "commonAnnotations", "replicas", "patches")
"""Fields with the same name in a kustomization."""
_NOTHING = frozenset({"version", "forceCommonLabels", "forceCommonAnnotations", "kubeVersion", "apiVersions"})
"""Fields that do not matter here."""
_LABELS = ("commonLabels", "labelWithoutSelector", "labelIncludeTemplates")
_IMAGE = re.compile(
    r"(?:(?P<name>[^=\s]+)=)?(?P<new>[^=@\s]+?)(?::(?P<tag>[\w.-]{1,128}))?(?:@(?P<digest>\S+))?"
)


def added_fields(fields: Mapping[str, Any], folder: str, root: str) -> dict[str, Any]:
    """The fields of a kustomization that wraps the one in a folder. Raises UnreadableError."""
    known = {*_SAME, *_NOTHING, *_LABELS, "images", "components", "ignoreMissingComponents"}
    unknown = sorted(field for field in fields if field not in known and fields[field])
    if unknown:
        raise UnreadableError(f"its kustomize has {unknown[0]}, which is not read")
    patches = fields.get("patches")
    if any(
        isinstance(each, dict) and each.get("path") for each in (patches if isinstance(patches, list) else ())
    ):
        raise UnreadableError("its kustomize has a patch in a file, which is not read")
    if _has_variables(fields):
        raise UnreadableError("its kustomize has a variable of Argo CD")
    added: dict[str, Any] = {field: fields[field] for field in _SAME if fields.get(field)}
    if isinstance(fields.get("replicas"), list):
        added["replicas"] = [_replicas(each) for each in fields["replicas"]]
    if isinstance(fields.get("images"), list):
        added["images"] = [_image(str(each)) for each in fields["images"]]
    if fields.get("commonLabels"):
        added["labels"] = [
            {
                "pairs": fields["commonLabels"],
                "includeSelectors": not fields.get("labelWithoutSelector"),
                "includeTemplates": bool(fields.get("labelIncludeTemplates")),
            }
        ]
    if isinstance(fields.get("components"), list):
        named = [str(each).replace("\0", "") for each in fields["components"]]
        places = [filesystem.realpath(os.path.join(folder, each)) for each in named]
        if not all(safe_paths.contains(root, place) for place in places):
            raise UnreadableError("one of its components is outside of the repository")
        missing = [place for place in places if not filesystem.isdir(place)]
        if missing and not fields.get("ignoreMissingComponents"):
            raise UnreadableError(f"its component {os.path.basename(missing[0])} does not exist")
        added["components"] = [place for place in places if place not in missing]
    return added


def _has_variables(fields: Mapping[str, Any]) -> bool:
    """Whether Argo CD replaces `$NAME` in images or labels; in annotations it does so only if told to."""
    labels = fields.get("commonLabels")
    stated = [*_list(fields, "images"), *(labels.values() if isinstance(labels, dict) else ())]
    return any(isinstance(each, str) and "$" in each for each in stated)


def _replicas(stated: object) -> object:
    """An item of `replicas`: Argo CD takes the count as text too, kustomize does not."""
    count = stated.get("count") if isinstance(stated, dict) else None
    if isinstance(stated, dict) and isinstance(count, str) and count.isascii() and count.isdigit():
        return {**stated, "count": int(count)}
    return stated


def _image(fields: str) -> dict[str, str]:
    """An item of `images` from `name=new:tag@digest`, where all but one name is optional."""
    match = _IMAGE.fullmatch(fields)
    if match is None:
        raise UnreadableError(f"its image {fields} is not a valid image")
    found = {"name": match["name"] or match["new"]}
    if match["name"]:
        found["newName"] = match["new"]
    if match["tag"]:
        found["newTag"] = match["tag"]
    if match["digest"]:
        found["digest"] = match["digest"]
    return found
