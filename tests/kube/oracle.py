"""What kube-scheduler and the API server do with one node: compared with cases taken from the real ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import affinity as affinities
from policykit.kube import nodes, selectors
from policykit.kube.affinity import NODE_NAME, PREFERRED, REQUIRED, NodeAffinity, Term
from policykit.kube.names import dns_subdomain_problem, label_key_problem, label_value_problem
from policykit.kube.selectors import Requirement
from policykit.kube.tolerations import EFFECTS, tolerates, untolerated
from policykit.manifests.path import Path
from policykit.model.pool import Pool, Taint, Toleration

AFFINITY = ("affinity", "nodeAffinity")
CORDON = Taint("node.kubernetes.io/unschedulable")
"""Taint that the scheduler derives from spec.unschedulable."""


def name_of(node: Pool) -> str:
    """Name of the node of a one-node pool."""
    return next(iter(node.shapes[0].node_names), node.name)


def affinity_matches(affinity: NodeAffinity, labels: Mapping[str, str], node_name: str) -> bool:
    """The NodeAffinity filter: nodeSelector and required affinity together."""
    if any(labels.get(key) != value for key, value in affinity.selector.items()):
        return False
    if affinity.required is None:
        return True
    return any(affinities.term_matches(term, labels, node_name) for term in affinity.required)


def filters(
    node: Pool,
    tolerations: Sequence[Toleration],
    affinity: NodeAffinity,
    *,
    comparison: bool = False,
) -> tuple[str, ...]:
    """Every filter that rejects the node of a one-node pool, in the scheduler's order.

    Of NodeUnschedulable, TaintToleration, NodeAffinity; the scheduler itself stops at the
    first. `comparison` as in `tolerations.tolerates`. Source: kubernetes v1.36 plugins.
    """
    failing: list[str] = []
    if node.unschedulable and not any(tolerates(t, CORDON, comparison=comparison) for t in tolerations):
        failing.append("NodeUnschedulable")
    if untolerated(node.taints, tolerations, comparison=comparison) is not None:
        failing.append("TaintToleration")
    if not affinity_matches(affinity, nodes.labels_of(node), name_of(node)):
        failing.append("NodeAffinity")
    return tuple(failing)


def affinity_problems(spec: Mapping[str, Any]) -> tuple[tuple[Path, str], ...]:
    """Why the API server rejects a PodSpec's nodeSelector or node affinity: (path in it, message).

    Malformed items are passed over. Source: `ValidateNodeSelector`,
    `ValidatePreferredSchedulingTerms` in kubernetes `pkg/apis/core/validation` (v1.36).
    """
    return tuple(_affinity_problems(affinities.read(spec)))


def _affinity_problems(affinity: NodeAffinity) -> Iterator[tuple[Path, str]]:
    for key, value in affinity.selector.items():
        if problem := label_key_problem(key):
            yield ("nodeSelector", key), f"key {key!r} {problem}"
        if problem := label_value_problem(value):
            yield ("nodeSelector", key), f"value {value!r} {problem}"
    terms = (*AFFINITY, REQUIRED, "nodeSelectorTerms")
    if affinity.required == ():
        yield terms, "required node affinity needs at least one term"
    for position, term in enumerate(affinity.required or ()):
        yield from _term_problems((*terms, position), term, judge_values=True)
    for position, (weight, term) in enumerate(affinity.preferred):
        path = (*AFFINITY, PREFERRED, position)
        if not 1 <= weight <= 100:
            yield (*path, "weight"), f"weight is {weight}, it must be 1 to 100"
        # The API server does not validate label values here, but the scheduler fails on them.
        yield from _term_problems((*path, "preference"), term, judge_values=False)


def _term_problems(path: Path, term: Term, *, judge_values: bool) -> Iterator[tuple[Path, str]]:
    for position, requirement in enumerate(term.expressions):
        if requirement is selectors.MALFORMED:
            continue
        place = (*path, "matchExpressions", position)
        if problem := selectors.operands_problem(requirement):
            yield place, f"{requirement.key!r} {problem}"
        if problem := label_key_problem(requirement.key):
            yield (*place, "key"), f"key {requirement.key!r} {problem}"
        if judge_values and (problem := selectors.values_problem(requirement.values)):
            yield (*place, "values"), f"{requirement.key!r} {problem}"
    for position, field in enumerate(term.fields):
        if field is not selectors.MALFORMED:
            yield from _field_problems((*path, "matchFields", position), field)


def _field_problems(path: Path, field: Requirement) -> Iterator[tuple[Path, str]]:
    if field.operator not in ("In", "NotIn"):
        yield (*path, "operator"), f"operator is {field.operator!r}, a field takes In or NotIn"
    elif len(field.values) != 1:
        yield (*path, "values"), f"{field.key!r} has {len(field.values)} values, a field takes exactly one"
    if field.key != NODE_NAME:
        yield (*path, "key"), f"field {field.key!r} is not known, only {NODE_NAME} is"
        return
    for value in field.values:
        if problem := dns_subdomain_problem(value):
            yield (*path, "values"), f"node name {value!r} {problem}"


def untolerated_soft(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> int:
    """Number of PreferNoSchedule taints that are not tolerated: TaintToleration's raw score (v1.36)."""
    soft = [t for t in tolerations if t.effect in ("", "PreferNoSchedule")]
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(t, taint) for t in soft) for taint in taints
    )


def taint_problems(taints: Sequence[Taint]) -> tuple[tuple[int, str, str], ...]:
    """Why the API server rejects a node's taints: (position in the list, field, message).

    Source: `validateNodeTaints` in kubernetes `pkg/apis/core/validation` (v1.36).
    """
    found: list[tuple[int, str, str]] = []
    seen: set[tuple[str, str]] = set()
    for position, (key, value, effect) in enumerate(taints):
        if problem := label_key_problem(key):
            found.append((position, "key", f"key {key!r} {problem}"))
        if problem := label_value_problem(value):
            found.append((position, "value", f"value {value!r} {problem}"))
        if effect not in EFFECTS:
            written = f"effect {effect!r}" if effect else "effect is missing, it"
            found.append((position, "effect", f"{written} must be one of {', '.join(EFFECTS)}"))
        if (key, effect) in seen:
            found.append((position, "key", f"key {key!r} has a second taint with effect {effect!r}"))
        seen.add((key, effect))
    return tuple(found)
