"""Facts about templates that objects of Argo Workflows lend each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.admission.argo import MORE, names, volumes
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


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `workflow_types.go`, and `addVolumeReferences` of the workflow controller (v3.7)."""
    base = _SPEC.get(manifest.kind)
    if manifest.partial or base is None or manifest.group != "argoproj.io":
        return
    spec, namespace = mapping(lookup(manifest.data, base)), manifest.namespace or context.namespace
    if manifest.kind in _LENDERS:
        yield from _lent(manifest, spec, "" if manifest.kind == _LENDERS[0] else namespace)
    ends = manifest.kind not in _LENDERS and not any(field in spec for field in MORE)
    known = volumes(spec) if ends else frozenset({None})
    whole = mapping(spec.get("workflowTemplateRef"))
    named = text(whole.get("name"))
    if named and not is_filled_in(named) and spec.get("entrypoint") in (None, ""):
        cluster = whole.get("clusterScope") is True
        owner = f"{_LENDERS[0 if cluster else 1]} {named}"
        yield Fact(
            PartReference(
                owner,
                "" if cluster else namespace,
                "field",
                "entrypoint",
                "write entrypoint here or there: unless `argo submit` is told one, the workflow fails",
                f"neither this workflow nor {owner} has an entrypoint",
            ),
            {"name": (*base, "workflowTemplateRef", "name")},
        )
    for path, reference in _references(spec, base):
        owner, template = text(reference.get("name")), text(reference.get("template"))
        if not owner or not template or is_filled_in(owner) or is_filled_in(template):
            continue
        cluster = reference.get("clusterScope") is True
        where = "" if cluster else namespace
        named = f"{_LENDERS[0 if cluster else 1]} {owner}"
        yield Fact(PartReference(named, where, "template", template), {"name": (*path, "template")})
        if all(known):
            there = frozenset(filter(None, known))
            yield Fact(BorrowedTemplate(named, where, template, there), {"name": (*path, "template")})


def _lent(manifest: Manifest, spec: Mapping[str, Any], namespace: str) -> Iterator[Fact]:
    templates = [each for _, each in numbered(spec.get("templates"))]
    called = frozenset(text(each.get("name")) for each in templates)
    owner = f"{manifest.kind} {manifest.name}"
    fields = frozenset({"entrypoint"} if spec.get("entrypoint") else ())
    yield Fact(NamedParts(owner, namespace, "field", fields), {}, answers=True)
    if called and not any(not name or is_filled_in(name) for name in called):
        yield Fact(NamedParts(owner, namespace, "template", called), {}, answers=True)
    for each in templates:
        own = {*names(each.get("volumes"))}
        mounts = {*names(lookup(each, ("container", "volumeMounts")))}
        mounts |= {*names(lookup(each, ("script", "volumeMounts")))}
        known = all(own) and "podSpecPatch" not in each
        wanted = frozenset(name for name in mounts - own if name and known)
        yield Fact(LentTemplate(owner, namespace, text(each.get("name")), wanted), {}, answers=True)


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
