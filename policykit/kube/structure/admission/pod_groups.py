"""Kubernetes' own gangs: Workloads and PodGroups of scheduling.k8s.io."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import dns_label_problem, dns_subdomain_problem, label_key_problem
from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    name_of,
    named_differently,
    one_of,
    refused,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered

_API = "the API server refuses it"
_FIRST = ("v1alpha1",)
"""Versions whose Workloads hold the groups themselves."""
_MODES = ("Pod", "PodGroup")
_CLAIM = ("resourceClaimName", "resourceClaimTemplateName")
_TEMPLATES = ("podGroupTemplates", "compositePodGroupTemplates")
_CLAIMS = 4


def pod_group(data: Data) -> Iterator[Problem]:
    """Source: the declarative validation of `PodGroup` (Kubernetes 1.36 and 1.37)."""
    name = name_of(mapping(data.get("metadata")))
    if name and (fault := dns_subdomain_problem(name)):
        yield refused(("metadata", "name"), f"is {name}, which {fault}", f"write another name: {_API}")
    base: Path = ("spec",)
    spec = mapping(data.get("spec"))
    yield from _group(spec, base)
    if spec and spec.get("schedulingPolicy") is None:
        what = "has no schedulingPolicy"
        yield refused(base, what, f"write gang with minCount, or basic: {_API}", kind=INCONSISTENT)
    reference = spec.get("podGroupTemplateRef")
    if isinstance(reference, dict):
        path: Path = (*base, "podGroupTemplateRef")
        yield from alternatives(reference, path, ("workload",), _API, needed=True)
        yield from _names(reference.get("workload"), (*path, "workload"))


def _names(reference: object, path: Path) -> Iterator[Problem]:
    if not isinstance(reference, dict):
        return
    for field, problem in (
        ("workloadName", dns_subdomain_problem),
        ("podGroupTemplateName", dns_label_problem),
    ):
        if not reference.get(field):
            yield refused(path, f"has no {field}", f"add it: {_API}", kind=INCONSISTENT)
        elif (name := name_of(reference, field)) and (fault := problem(name)):
            yield refused((*path, field), f"is {name}, which {fault}", f"write the name of the other: {_API}")


def workload(data: Data) -> Iterator[Problem]:
    """Source: the declarative validation of `Workload` (Kubernetes 1.35 to 1.37)."""
    spec = mapping(data.get("spec"))
    if spec and not str(data.get("apiVersion")).endswith(_FIRST):
        yield from alternatives(spec, ("spec",), _TEMPLATES, _API, needed=True)
    for field in _TEMPLATES:
        path: Path = ("spec", field)
        if spec.get(field) == []:
            yield refused(path, "is an empty list", f"write one or more groups: {_API}")
        for position, template in numbered(spec.get(field)):
            if template.get("name") is None and template:
                yield refused((*path, position), "has no name", f"add one: {_API}", kind=INCONSISTENT)
            yield from _group(template, (*path, position))
    controller = spec.get("controllerRef")
    if isinstance(controller, dict):
        path = ("spec", "controllerRef")
        for field in ("kind", "name"):
            if not controller.get(field):
                yield refused(path, f"has no {field}", f"add it: {_API}", kind=INCONSISTENT)
        group = name_of(controller, "apiGroup")
        if group and (fault := dns_subdomain_problem(group)):
            advice = f"write {group.partition('/')[0]}: {_API}"
            yield refused((*path, "apiGroup"), f"is {group}, which {fault}", advice)


def _group(group: Data, path: Path) -> Iterator[Problem]:
    """What a PodGroup and a template of one have in common."""
    levels: Path = ("schedulingConstraints", "topology")
    listed = lookup(group, levels)
    if isinstance(listed, list) and len(listed) > 1:
        what = f"has {len(listed)} entries, more than 1"
        yield refused((*path, *levels), what, f"name one label of nodes: {_API}")
    for position, level in numbered(listed):
        key = name_of(level, "key")
        if key and (fault := label_key_problem(key)):
            where = (*path, *levels, position, "key")
            yield refused(where, f"is {key}, which {fault}", f"write the key of a label: {_API}")
    yield from one_of(group, ("disruptionMode",), _MODES, _API, path)
    name = name_of(group, "priorityClassName")
    if name and (fault := dns_subdomain_problem(name)):
        where = (*path, "priorityClassName")
        yield refused(where, f"is {name}, which {fault}", f"write the name of a class: {_API}")
    claims = group.get("resourceClaims")
    if isinstance(claims, list) and len(claims) > _CLAIMS:
        what = f"has {len(claims)} entries, more than {_CLAIMS}"
        yield refused((*path, "resourceClaims"), what, f"write fewer: {_API}")
    yield from named_differently(claims, (*path, "resourceClaims"), "name", "claim")
    for position, claim in numbered(claims):
        at: Path = (*path, "resourceClaims", position)
        yield from alternatives(claim, at, _CLAIM, _API, needed=True)
        own = name_of(claim)
        if own and (fault := dns_label_problem(own)):
            yield refused((*at, "name"), f"is {own}, which {fault}", f"write another name: {_API}")
