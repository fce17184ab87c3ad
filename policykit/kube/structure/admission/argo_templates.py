"""Argo Workflows: the names by which its templates and tasks refer to each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission import argo_variables
from policykit.kube.structure.admission.checks import Data, name_of, one_of, refused, words
from policykit.kube.structure.problem import MISSING_FIELD, MISSING_REFERENCE
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity
from policykit.nearest import nearest, some

_WHO = "the workflow fails before its first step"
_STRATEGIES = ("OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess")
_RESULTS = frozenset(
    {"Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed"}
)
"""What may follow the name of a task and a dot in `depends`."""
_TASK = re.compile(r"(?<![\w.-])[\w-]+(?:\.([A-Za-z]+))?")


_PATCH = "podSpecPatch"
_MAIN = ("main", "wait")
"""Containers of every pod: that of the template, and Argo's own."""
_MORE: tuple[Path, ...] = (("containerSet", "containers"), ("sidecars",))


def patches(spec: object, base: Path) -> Iterator[Problem]:
    """Containers of a patch that no pod has. Source: `ApplyPodSpecPatch` of `workflow/util` (v3.7)."""
    if not isinstance(spec, dict) or spec.get("workflowTemplateRef") is not None:
        return
    shared = mapping(spec.get("templateDefaults"))
    templates = [*numbered(spec.get("templates"))]
    for position, template in templates:
        if template.get("container") or template.get("script"):
            yield from _patched(template.get(_PATCH), [template, shared], (*base, "templates", position))
    every = [shared, *(template for _, template in templates)]
    yield from _patched(spec.get(_PATCH), every, base) if templates else ()


def _patched(patch: object, templates: Sequence[Data], base: Path) -> Iterator[Problem]:
    if not isinstance(patch, str):
        return
    document = next(parse(patch), None)
    stated = mapping(document.root.data if document and document.root else None)
    listed = [each for one in templates for path in _MORE for _, each in numbered(lookup(one, path))]
    there = {*_MAIN, *filter(None, map(name_of, listed))}
    for _, each in numbered(stated.get("containers")):
        name = name_of(each)
        if name and name not in there and not each.keys() & {"image", "$patch"} and not is_filled_in(name):
            what = f"adds container {name}, without an image, to {some(there)}"
            yield refused((*base, _PATCH), what, "write main: the API server refuses the pods")


def references(spec: object, base: Path) -> Iterator[Problem]:
    """Source: `ValidateWorkflow` of `workflow/validate` (Argo Workflows v3.7)."""
    if not isinstance(spec, dict):
        return
    yield from one_of(spec, ("podGC", "strategy"), _STRATEGIES, f"no strategy, {_WHO}", base)
    for position, template in numbered(spec.get("templates")):
        at: Path = (*base, "templates", position)
        yield from argo_variables.misnamed(template, at)
        for path, step in _steps(template):
            yield from argo_variables.of_step(step, (*at, *path))
    listed = [template for _, template in numbered(spec.get("templates"))]
    there = [name_of(template) for template in listed]
    if spec.get("workflowTemplateRef") is not None or not there or not all(there):
        return
    for field in ("entrypoint", "onExit"):
        yield from _template(name_of(spec, field), there, (*base, field))
    for position, template in numbered(spec.get("templates")):
        at = (*base, "templates", position)
        for path, step in _steps(template):
            yield from _template(name_of(step, "template"), there, (*at, *path, "template"))
        yield from _tasks(mapping(template.get("dag")), (*at, "dag"))


def begins(spec: object, base: Path) -> Iterator[Problem]:
    """Of what runs, unlike a template that lends parts. Source: `ValidateWorkflow` (v3.7)."""
    if not isinstance(spec, dict) or not isinstance(spec.get("templates"), list):
        return
    if spec.get("workflowTemplateRef") is None and spec.get("entrypoint") in (None, ""):
        where = (*base, "entrypoint")
        what = "is empty" if "entrypoint" in spec else "is missing"
        advice = f"name the template that runs first: unless `argo submit` is told one, {_WHO}"
        yield refused(where, what, advice, Severity.WARNING, key=True, kind=MISSING_FIELD)


def _steps(template: Data) -> Iterator[tuple[Path, Data]]:
    for number, task in numbered(lookup(template, ("dag", "tasks"))):
        yield ("dag", "tasks", number), task
    rows = template.get("steps")
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        for place, step in numbered(row):
            yield ("steps", number, place), step


def _template(name: str, there: Sequence[str], path: Path) -> Iterator[Problem]:
    if name and name not in there and "$" not in name:
        near = nearest(name, tuple(there))
        advice = f"did you mean {near}?" if near else f"the templates are {some(sorted(there))}"
        yield refused(path, f"is {name}, which no template is called: {_WHO}", advice, kind=MISSING_REFERENCE)


def _tasks(dag: Data, base: Path) -> Iterator[Problem]:
    """Tasks wait for tasks of the same dag."""
    listed = [(number, task) for number, task in numbered(dag.get("tasks"))]
    there = [name_of(task) for _, task in listed]
    if not all(there):
        return
    for number, task in listed:
        at: Path = (*base, "tasks", number)
        waits = [((*at, "dependencies", place), name) for place, name in words(task.get("dependencies"))]
        depends = name_of(task, "depends")
        waits += [((*at, "depends"), name) for name in _named(depends)] if "{" not in depends else []
        for path, name in waits:
            if name not in there and not is_filled_in(name):
                advice = f"the tasks are {some(sorted(there))}"
                what = f"has {name}, which no task of the dag is called: {_WHO}"
                yield refused(path, what, advice, kind=MISSING_REFERENCE)


def _named(depends: str) -> Iterator[str]:
    """Tasks in `a.Succeeded && (b || c)`; none of what is not so simple."""
    for found in _TASK.finditer(depends):
        if found.group(1) is None or found.group(1) in _RESULTS:
            yield found.group().partition(".")[0]
