"""The scope of a file: the files that rules across documents see together."""

from __future__ import annotations

import os
import re

from policykit.errors import SourceError
from policykit.linter.input_file import KUSTOMIZATIONS
from policykit.workspace import filesystem
from policykit.workspace.command_state import cached
from policykit.workspace.files import is_there, read, upwards
from policykit.workspace.safe_paths import SMALL

_RUNS = ".tekton"
"""Folder of a repository that Pipelines-as-Code reads."""


def scope_root(path: str, argument: str, policy_folder: str) -> str:
    """Absolute folder of a file's scope: its kustomization root, else its chart, else the
    policy's folder, else the folder argument it was found under, else its own folder."""
    folder = os.path.dirname(os.path.abspath(path))
    return (
        kustomization_root(folder)
        or _chart_root(folder)
        or os.path.abspath(policy_folder or argument or folder)
    )


def kustomization_root(folder: str) -> str:
    """The nearest folder with a kustomization, or a higher one that lists it; empty: none."""
    return _kustomizations(folder)[-1] if _kustomizations(folder) else ""


@cached
def kustomization_namespace(folder: str) -> str:
    """The namespace that the outermost of a folder's kustomizations gives its objects; empty: none."""
    found = ""
    for here in _kustomizations(folder):
        for data in _documents(kustomization(here)):
            namespace = data.get("namespace")
            found = namespace if isinstance(namespace, str) and namespace else found
    return found


@cached
def _kustomizations(folder: str) -> tuple[str, ...]:
    """The nearest folder with a kustomization, then each higher one that lists the one before."""
    found: list[str] = []
    for here in upwards(folder):
        if kustomization(here) and (not found or _lists(here, found[-1])):
            found.append(here)
    return tuple(found)


@cached
def patch_files(folder: str) -> frozenset[str]:
    """Absolute paths that the folder's kustomization lists as patches, or its test of Chainsaw as parts."""
    path = kustomization(folder)
    found: set[str] = _compared_files(folder)
    for data in _documents(path) if path else ():
        listed = data.get("patches")
        entries = [p.get("path") for p in listed if isinstance(p, dict)] if isinstance(listed, list) else []
        merged = data.get("patchesStrategicMerge")
        entries += merged if isinstance(merged, list) else []
        found |= {
            os.path.abspath(os.path.join(folder, e)) for e in entries if isinstance(e, str) and "\n" not in e
        }
    return frozenset(found)


_ASSERTION = (
    r"(?:\d+-(?:assert|errors?)(?:-[^.]*)?|(?:[^.]*[-_])?assert(?:ions?)?(?:[-_][^.]*)?)(?:\.gotmpl)?\.ya?ml"
)
"""Names of files with a part of what an object must look like, or must not.

Source: `fileNameRegex` of KUTTL, and Chainsaw, which reads its files. Tests of Chainsaw, and steps of KUTTL
that are folders, choose the names themselves: node-assert.yaml, assert.yaml. `error.yaml` is left to
`_compared_files`, since other files have that name, too.
"""
_TEST = "chainsaw-test.yaml"
_COMPARED = ("assert", "error", "patch", "delete")
_APPLIED = ("apply", "create", "update")


def is_patch(path: str, folder: str = "") -> bool:
    """Whether a file has only parts of objects: a kustomization in its folder, or above it, lists it as a
    patch, or its name says that it is an assertion of a test.

    `folder`: that folder, absolute, if it is known.
    """
    if is_assertion(path.rpartition(os.sep)[2]):
        return True
    listed = _patches_above(folder or os.path.dirname(os.path.abspath(path)))
    return bool(listed) and os.path.abspath(path) in listed


def is_of_pipelines_as_code(folder: str) -> bool:
    """Whether Pipelines-as-Code reads the files of a folder, of which the absolute path is given."""
    return _RUNS in folder.split(os.sep)


def is_assertion(name: str) -> bool:
    """Whether a file of a test says by its name that it is compared with objects of a cluster."""
    return (name[:1].isdigit() or "assert" in name) and re.fullmatch(_ASSERTION, name) is not None


def _compared_files(folder: str) -> set[str]:
    """Absolute paths of the files that the folder's test of Chainsaw compares with objects and never applies.

    Source: `Operation` of Chainsaw's `pkg/apis/v1alpha1` (0.2).
    """
    path = os.path.join(folder, _TEST)
    if not is_there(path):
        return set()
    compared: set[str] = set()
    applied: set[str] = set()
    pending: list[object] = list(_documents(path))
    seen: set[int] = set()  # aliases may repeat a part without end
    while pending:
        value = pending.pop()
        if not isinstance(value, dict | list) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, list):
            pending += value
            continue
        for key, inner in value.items():
            file = inner.get("file") if isinstance(inner, dict) else None
            if isinstance(file, str) and key in _COMPARED + _APPLIED:
                (compared if key in _COMPARED else applied).add(os.path.abspath(os.path.join(folder, file)))
            elif isinstance(inner, dict | list):
                pending.append(inner)
    return compared - applied


def has_patches(folder: str) -> bool:
    """Whether a kustomization in a folder, absolute, or above it lists patches."""
    return bool(_patches_above(folder))


@cached
def _patches_above(folder: str) -> frozenset[str]:
    return frozenset(path for here in upwards(folder) for path in patch_files(here))


@cached
def _chart_root(folder: str) -> str:
    charts = (here for here in upwards(folder) if filesystem.isfile(os.path.join(here, "Chart.yaml")))
    return next(charts, "")


def kustomization(folder: str) -> str:
    """The folder's kustomization file; empty: it has none."""
    for name in KUSTOMIZATIONS:
        path = os.path.join(folder, name)
        if is_there(path):
            return path
    return ""


@cached
def _lists(folder: str, below: str) -> bool:
    """Whether the kustomization of `folder` uses the folder `below`."""
    for data in _documents(kustomization(folder)):
        for field in ("resources", "components", "bases"):
            entries = data.get(field)
            if isinstance(entries, list) and any(
                isinstance(e, str) and os.path.abspath(os.path.join(folder, e)) == below for e in entries
            ):
                return True
    return False


def _documents(path: str) -> list[dict[str, object]]:
    try:
        text = read(path, most=SMALL).decode("utf-8", errors="replace")
    except SourceError:
        return []
    from policykit.manifests.document import manifests
    from policykit.manifests.parser import parse

    return [m.data for p in parse(text) if p.root for m in manifests(p.root, 0)]
