"""Tekton: the parameters and workspaces that a task or a pipeline uses and has to declare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.structure.admission.checks import Data, name_of, refused, texts
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity
from policykit.nearest import nearest, some

_WHO = "Tekton's webhook refuses it"
_NAME = r"(?:\.([A-Za-z0-9_-]+)|\[[\"']([A-Za-z0-9_.-]+)[\"']\])"
_PARAMETER = re.compile(rf"\$\(params{_NAME}")
_WORKSPACE = re.compile(r"\$\(workspaces\.([A-Za-z0-9_-]+)\.(?:path|bound|claim|volume)\)")
_PARTS = ("steps", "sidecars", "stepTemplate", "volumes")
_TASKS = ("tasks", "finally")


def task(data: Data) -> Iterator[Problem]:
    """Sources: `ValidateUsageOfDeclaredParameters` for steps, and the substitution of workspaces, which
    leaves what it does not know as it is (Tekton Pipelines v1.15)."""
    spec = mapping(data.get("spec"))
    if not isinstance(spec.get("steps"), list):
        return
    yield from _undeclared(spec, {"steps": spec["steps"]}, ("spec",))
    there = _names(spec.get("workspaces"))
    if there is None:
        return
    for path, text in texts({part: spec[part] for part in _PARTS if part in spec}, ("spec",)):
        for found in _WORKSPACE.finditer(text) if "$(" in text else ():
            if found.group(1) not in there:
                what = f"uses workspace {found.group(1)}, which the task does not declare"
                advice = f"{_known(found.group(1), there, 'workspaces')}: it stays as it is written"
                yield refused(path, what, advice, Severity.WARNING)
                break


def pipeline(data: Data) -> Iterator[Problem]:
    """Sources: `validatePipelineTaskParameterUsage` and `validateWorkspaces` (Tekton Pipelines v1.15)."""
    spec = mapping(data.get("spec"))
    there = _names(spec.get("workspaces"))
    for field in _TASKS:
        for position, one in numbered(spec.get(field)):
            at: Path = ("spec", field, position)
            yield from _undeclared(spec, {"params": one.get("params")}, at)
            for number, given in numbered(one.get("workspaces")):
                key = "workspace" if given.get("workspace") not in (None, "") else "name"
                name = name_of(given, key)
                if there is not None and name and name not in there:
                    what = f"is {name}, which is not a workspace of the pipeline"
                    advice = f"{_known(name, there, 'workspaces')}: {_WHO}"
                    yield refused((*at, "workspaces", number, key), what, advice)


def _undeclared(spec: Data, parts: Data, base: Path) -> Iterator[Problem]:
    there = _names(spec.get("params"))
    if there is None:
        return
    for path, text in texts(parts, base):
        for found in _PARAMETER.finditer(text) if "$(params" in text else ():
            name = found.group(1) or found.group(2)
            if not _declared(name, there):
                what = f"uses parameter {name}, which is not declared"
                yield refused(path, what, f"{_known(name, there, 'params')}: {_WHO}")
                break


def _declared(name: str, there: frozenset[str]) -> bool:
    """Dots are in names, and before the keys of objects."""
    return name in there or name.partition(".")[0] in {each.partition(".")[0] for each in there}


def _known(name: str, there: frozenset[str], field: str) -> str:
    near = nearest(name, tuple(sorted(there)))
    known = f", which has {some(sorted(there))}" if there else ""
    return f"did you mean {near}?" if near else f"add it to spec.{field}{known}"


def _names(listed: object) -> frozenset[str] | None:
    """None: some are not known."""
    if listed is None:
        return frozenset()
    names = [name_of(each) for _, each in numbered(listed)]
    return frozenset(names) if isinstance(listed, list) and len(names) == len(listed) and all(names) else None
