"""Argo Workflows: the parts of its templates that become parts of pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission import argo_templates
from policykit.kube.structure.admission.checks import Data, refused
from policykit.kube.structure.problem import MISSING_REFERENCE
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import numbered

_FIELDS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "schedulerName",
    "priorityClassName",
    "volumes",
    "hostAliases",
    "securityContext",
)
"""Fields of a template, and of the workflow, that a PodSpec has too."""
_ALONE = ("container", "script")
_LISTS: tuple[Path, ...] = (("containerSet", "containers"), ("initContainers",), ("sidecars",))
_TOLERATION = ("operator", "effect")
"""Fields of a toleration that invalid-toleration checks in kinds without a schema."""
_IGNORED = "delete it, or move it to where Argo Workflows reads it"
_OWN = frozenset({"dependencies", "mirrorVolumeMounts", "source"})
"""Fields of containers that only Argo Workflows has."""


def workflow(data: Data) -> Iterator[Problem]:
    """Source: `workflow_types.go` of Argo Workflows (v3.7), which takes these parts from the API of pods."""
    yield from _spec(lookup(data, ("spec",)), ("spec",))
    yield from argo_templates.references(lookup(data, ("spec",)), ("spec",))
    yield from argo_templates.patches(lookup(data, ("spec",)), ("spec",))
    if data.get("kind") == "Workflow":
        yield from argo_templates.begins(lookup(data, ("spec",)), ("spec",))
        yield from _mounts(lookup(data, ("spec",)), ("spec",))


def cron_workflow(data: Data) -> Iterator[Problem]:
    """As of the workflows that it makes."""
    path: Path = ("spec", "workflowSpec")
    yield from _spec(lookup(data, path), path)
    yield from argo_templates.references(lookup(data, path), path)
    yield from argo_templates.patches(lookup(data, path), path)
    yield from argo_templates.begins(lookup(data, path), path)
    yield from _mounts(lookup(data, path), path)


def _spec(spec: object, base: Path) -> Iterator[Problem]:
    if not isinstance(spec, dict):
        return
    yield from _fields(spec, base)
    yield from _template(spec.get("templateDefaults"), (*base, "templateDefaults"))
    for position, template in numbered(spec.get("templates")):
        yield from _template(template, (*base, "templates", position))


def _mounts(spec: object, base: Path) -> Iterator[Problem]:
    """Source: `addVolumeReferences` of the workflow controller (v3.7)."""
    if not isinstance(spec, dict) or any(field in spec for field in MORE):
        return
    known = volumes(spec)
    for position, template in numbered(spec.get("templates")):
        there = {*known, *names(template.get("volumes"))}
        if None in there or "podSpecPatch" in template:
            continue
        at: Path = (*base, "templates", position)
        places = [(field,) for field in _ALONE] + [
            (*path, number) for path in _LISTS for number, _ in numbered(lookup(template, path))
        ]
        for place in places:
            for number, mount in numbered(lookup(template, (*place, "volumeMounts"))):
                name = mount.get("name")
                if isinstance(name, str) and name and name not in there and not is_filled_in(name):
                    yield refused(
                        (*at, *place, "volumeMounts", number, "name"),
                        f"is {name}, a volume that neither the template nor the workflow has",
                        "add it to volumes or volumeClaimTemplates: the step fails",
                        kind=MISSING_REFERENCE,
                    )


MORE = ("podSpecPatch", "templateDefaults", "workflowTemplateRef")
"""Parts of a workflow from which volumes may come as well."""


def volumes(spec: Data) -> frozenset[str | None]:
    """Names of those that a workflow has for all its templates; None: one that is not known."""
    claims = names(spec.get("volumeClaimTemplates"), "metadata", "name")
    return frozenset({*names(spec.get("volumes")), *claims})


def names(listed: object, *path: str) -> Iterator[str | None]:
    """None: one that is not known."""
    for _, each in numbered(listed):
        name = lookup(each, path or ("name",))
        yield name if isinstance(name, str) and not is_filled_in(name) else None


def _template(template: object, base: Path) -> Iterator[Problem]:
    if not isinstance(template, dict):
        return
    yield from _fields(template, base)
    for field in _ALONE:
        if isinstance(template.get(field), dict):
            yield from _container(template[field], (*base, field))
    for path in _LISTS:
        for position, each in numbered(lookup(template, path)):
            yield from _container(dict(each), (*base, *path, position))


def _fields(data: dict[str, Any], base: Path) -> Iterator[Problem]:
    part = {field: data[field] for field in _FIELDS if field in data}
    for problem in _of_pod({"containers": [], **part}, (), base) if part else ():
        if len(problem.path) > len(base) and problem.path[len(base)] in part:
            yield problem


def _container(data: dict[str, Any], base: Path) -> Iterator[Problem]:
    known = {key: value for key, value in data.items() if key not in _OWN}
    named = {**known, "name": "main"} if not known.get("name") else known
    yield from _of_pod({"containers": [named]}, ("containers", 0), base)


def _of_pod(spec: dict[str, Any], part: Path, base: Path) -> Iterator[Problem]:
    """Problems of a PodSpec below `part`, which is at `base` in the object."""
    from policykit.kube.structure.validator import check_part

    for problem in check_part("PodSpec", spec):
        if problem.path[: len(part)] != part or len(problem.path) == len(part):
            continue
        if problem.path[0] == "tolerations" and problem.path[-1] in _TOLERATION:
            continue
        if problem.intended[: len(part)] != part:
            # Where a pod has the field, a template may not.
            problem = problem._replace(message=problem.message.partition(": ")[0], help=_IGNORED)
        own, there = problem.path, (*base, *problem.path[len(part) :])
        message = problem.message.replace(dotted(own), dotted(there), 1)
        yield problem._replace(path=there, message=message, repair=None, intended=())
