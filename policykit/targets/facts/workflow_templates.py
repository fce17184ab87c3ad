"""Facts about templates that objects of Argo Workflows lend each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, text
from policykit.model.references import BorrowedTemplate, LentTemplate, NamedParts, PartReference

_LENDERS = ("ClusterWorkflowTemplate", "WorkflowTemplate")
_SPEC: Mapping[str, Path] = {
    "ClusterWorkflowTemplate": ("spec",),
    "CronWorkflow": ("spec", "workflowSpec"),
    "Workflow": ("spec",),
    "WorkflowTemplate": ("spec",),
}
_MORE = ("podSpecPatch", "templateDefaults", "workflowTemplateRef")
"""Parts of a workflow from which volumes may come as well."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `workflow_types.go`, and `addVolumeReferences` of the workflow controller (v3.7)."""
    base = _SPEC.get(manifest.kind)
    if manifest.partial or base is None or manifest.group != "argoproj.io":
        return
    spec, namespace = mapping(lookup(manifest.data, base)), manifest.namespace or context.namespace
    if manifest.kind in _LENDERS:
        yield from _lent(manifest, spec, "" if manifest.kind == _LENDERS[0] else namespace)
    ends = manifest.kind not in _LENDERS and not any(field in spec for field in _MORE)
    volumes = _volumes(spec) if ends else None
    for path, reference in _references(spec, base):
        owner, template = text(reference.get("name")), text(reference.get("template"))
        if not owner or not template or is_filled_in(owner) or is_filled_in(template):
            continue
        cluster = reference.get("clusterScope") is True
        where = "" if cluster else namespace
        named = f"{_LENDERS[0 if cluster else 1]} {owner}"
        yield Fact(PartReference(named, where, "template", template), {"name": (*path, "template")})
        if volumes is not None:
            yield Fact(BorrowedTemplate(named, where, template, volumes), {"name": (*path, "template")})


def _lent(manifest: Manifest, spec: Mapping[str, Any], namespace: str) -> Iterator[Fact]:
    templates = [each for _, each in numbered(spec.get("templates"))]
    names = frozenset(text(each.get("name")) for each in templates)
    owner = f"{manifest.kind} {manifest.name}"
    if names and not any(not name or is_filled_in(name) for name in names):
        yield Fact(NamedParts(owner, namespace, "template", names), {}, answers=True)
    for each in templates:
        own = _names(each.get("volumes"))
        mounts = _names(lookup(each, ("container", "volumeMounts")))
        mounts |= _names(lookup(each, ("script", "volumeMounts")))
        unknown = None in own or "podSpecPatch" in each
        wanted = frozenset(name for name in mounts - own if name is not None and not unknown)
        yield Fact(LentTemplate(owner, namespace, text(each.get("name")), wanted), {}, answers=True)


def _volumes(spec: Mapping[str, Any]) -> frozenset[str] | None:
    """Those of a workflow; None: some are not known."""
    found = _names(spec.get("volumes")) | _names(spec.get("volumeClaimTemplates"), "metadata", "name")
    known = frozenset(name for name in found if name is not None)
    return known if len(known) == len(found) else None


def _names(listed: object, *path: str) -> frozenset[str | None]:
    """None: one that is not known."""
    names = [lookup(each, path or ("name",)) for _, each in numbered(listed)]
    return frozenset(
        name if isinstance(name, str) and name and not is_filled_in(name) else None for name in names
    )


def _references(spec: Mapping[str, Any], base: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for position, template in numbered(spec.get("templates")):
        at: Path = (*base, "templates", position)
        steps = template.get("steps")
        for number, group in enumerate(steps if isinstance(steps, list) else ()):
            for place, step in numbered(group):
                if isinstance(reference := step.get("templateRef"), dict):
                    yield (*at, "steps", number, place, "templateRef"), reference
        for place, task in numbered(lookup(template, ("dag", "tasks"))):
            if isinstance(reference := task.get("templateRef"), dict):
                yield (*at, "dag", "tasks", place, "templateRef"), reference
