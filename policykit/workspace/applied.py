"""What the cluster of a policy applies, according to `applies` in the policy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import SourceError
from policykit.manifests.path import Path
from policykit.policy.tree import SourcedValue, find, location, plain
from policykit.workspace import boundary
from policykit.workspace.disk import cached
from policykit.workspace.policies import applied_folders, policy_tree
from policykit.workspace.scopes import kustomization
from policykit.workspace.sources import Form, HelmOptions, Source, Statement, Variables
from policykit.workspace.variables import joined, variables_of_file

_APPLIES = "applies"


@cached
def stated_sources(policy: str) -> tuple[Source, ...] | None:
    """The sources in `applies` of a policy or of one it extends; None: it has none. Paths are relative to the
    file that contains them. Compiling the policy reports entries that cannot be read.

    Raises SourceError for a path that is not a folder, or outside the boundary of that file.
    """
    tree, _ = policy_tree(policy)
    base: Path = applied_folders(tree)
    stated = find(tree, base) if tree else None
    if tree is None or stated is None or not isinstance(stated.value, list):
        return () if stated is not None else None
    return tuple(
        _source(tree, (*base, number))
        for number, each in enumerate(stated.value)
        if isinstance(each.value, dict) and isinstance(_plain(each, "path"), str)
    )


def _source(tree: SourcedValue, here: Path) -> Source:
    each = find(tree, here)
    assert each is not None
    said = _plain(each, "path")
    folder = _place(tree, (*here, "path"), said)
    file, span = location(tree, here)
    if not os.path.isdir(folder):
        raise _fault(tree, (*here, "path"), f"{said} is not a folder", "check the path")
    helm = _plain(each, "helm")
    return Source(
        folder,
        _form(folder, chart=isinstance(helm, Mapping)),
        Statement(os.path.realpath(file), span.line, 0, (*here, "path")),
        variables=_variables(tree, here),
        helm=_helm(tree, here, helm) if isinstance(helm, Mapping) else None,
    )


def _form(folder: str, *, chart: bool) -> Form:
    if kustomization(folder) and not chart:
        return Form.KUSTOMIZATION
    is_chart = chart or os.path.isfile(os.path.join(folder, "Chart.yaml"))
    return Form.CHART if is_chart else Form.FLUX_FOLDER


def _variables(tree: SourcedValue, here: Path) -> Variables | None:
    each = find(tree, here)
    assert each is not None
    found = [
        variables_of_file(_place(tree, path, said), each.source.name)
        for path, said in _texts(each, here, "substituteFrom")
    ]
    own = _plain(each, "substitute")
    if isinstance(own, Mapping):
        found.append(Variables({name: str(value) for name, value in own.items()}))
    return joined(found) if found else None


def _helm(tree: SourcedValue, entry: Path, said: Mapping[str, Any]) -> HelmOptions:
    here: Path = (*entry, "helm")
    each = find(tree, here)
    assert each is not None
    files = tuple(_place(tree, path, name) for path, name in _texts(each, here, "values"))
    return HelmOptions(_text(said, "release"), _text(said, "namespace"), files)


def _place(tree: SourcedValue, path: Path, said: str) -> str:
    """The real path of a path in a policy. Raises SourceError."""
    file, _ = location(tree, path)
    place = os.path.realpath(os.path.join(os.path.dirname(file), said.replace("\0", "")))
    if not os.path.lexists(place):
        raise _fault(tree, path, f"{said} does not exist", "check the path")
    if not boundary.contains(boundary.root_of(file), place):
        raise _fault(tree, path, f"{said} is outside of the repository of the policy", "name one inside it")
    return place


def _fault(tree: SourcedValue, path: Path, message: str, hint: str) -> SourceError:
    file, span = location(tree, path)
    return SourceError(f"{_APPLIES} names a path that cannot be used: {message}", hint, f"{file}:{span.line}")


def _texts(tree: SourcedValue, base: Path, field: str) -> Iterator[tuple[Path, str]]:
    found = find(tree, (field,))
    for number, each in enumerate(found.value if found and isinstance(found.value, list) else ()):
        if isinstance(each.value, str):
            yield (*base, field, number), each.value


def _plain(tree: SourcedValue, field: str) -> Any:
    found = find(tree, (field,))
    return None if found is None else plain(found)


def _text(data: Mapping[str, Any], field: str) -> str:
    value = data.get(field)
    return value if isinstance(value, str) else ""
