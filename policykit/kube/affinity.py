"""Node selectors and node affinity: reading and matching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.kube import selectors
from policykit.kube.names import dns_subdomain_problem, label_key_problem, label_value_problem
from policykit.kube.selectors import Requirement
from policykit.manifests.path import Path

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = ("affinity", "nodeAffinity")
_NODE_NAME = "metadata.name"


class Term(NamedTuple):
    """A node selector term: all its parts must match. An empty term matches nothing."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


class Preference(NamedTuple):
    """A term that adds its weight (1..100) to a node's score."""

    weight: int
    term: Term


class NodeAffinity(NamedTuple):
    """What a pod requires and prefers of node labels and names."""

    selector: Mapping[str, str] = {}
    required: tuple[Term, ...] | None = None
    """ORed; None: nothing required; (): required without terms, which no node satisfies."""
    preferred: tuple[Preference, ...] = ()


def read(spec: Mapping[str, Any]) -> NodeAffinity:
    """The affinity of a PodSpec. Tuples have one entry per list item; a malformed item never matches.

    A malformed nodeSelector value or list counts as absent.
    """
    affinity = _mapping(_mapping(spec.get("affinity")).get("nodeAffinity"))
    return NodeAffinity(
        {k: v for k, v in _mapping(spec.get("nodeSelector")).items() if isinstance(v, str)},
        _required(affinity.get(REQUIRED)),
        tuple(_preference(item) for item in _list(affinity.get(PREFERRED))),
    )


def _required(raw: object) -> tuple[Term, ...] | None:
    if not isinstance(raw, Mapping):
        return None
    terms = raw.get("nodeSelectorTerms")
    if terms is None:
        return ()
    return tuple(_term(item) for item in terms) if isinstance(terms, list) else None


def _term(raw: object) -> Term:
    if raw is not None and not isinstance(raw, Mapping):
        return Term((selectors.MALFORMED,))
    term = _mapping(raw)
    return Term(_requirements(term.get("matchExpressions")), _requirements(term.get("matchFields")))


def _requirements(raw: object) -> tuple[Requirement, ...]:
    if raw is not None and not isinstance(raw, list):
        return (selectors.MALFORMED,)
    return selectors.read_all(raw)


def _preference(raw: object) -> Preference:
    if not isinstance(raw, Mapping):
        return Preference(0, Term())
    weight = raw.get("weight")
    if isinstance(weight, bool) or not isinstance(weight, int):
        weight = 0
    return Preference(weight, _term(raw.get("preference")))


def term_matches(term: Term, labels: Mapping[str, str], node_name: str) -> bool:
    """Whether a node matches a term; with an invalid requirement a term matches nothing.

    Source: component-helpers `scheduling/corev1/nodeaffinity` (v0.36).
    """
    if not term.expressions and not term.fields:
        return False
    return all(
        not selectors.problem(requirement) and selectors.matches(requirement, labels)
        for requirement in term.expressions
    ) and all(_field_matches(requirement, node_name) for requirement in term.fields)


def _field_matches(field: Requirement, node_name: str) -> bool:
    # Fields other than the node's name are empty text.
    there = node_name if field.key == _NODE_NAME else ""
    if len(field.values) != 1 or field.operator not in ("In", "NotIn"):
        return False
    return (there in field.values) == (field.operator == "In")


def matches(affinity: NodeAffinity, labels: Mapping[str, str], node_name: str) -> bool:
    """The NodeAffinity filter: nodeSelector and required affinity together."""
    if any(labels.get(key) != value for key, value in affinity.selector.items()):
        return False
    if affinity.required is None:
        return True
    return any(term_matches(term, labels, node_name) for term in affinity.required)


def preference(affinity: NodeAffinity, labels: Mapping[str, str], node_name: str) -> int:
    """Sum of the weights of the preferred terms that match a node: NodeAffinity's raw score."""
    return sum(p.weight for p in affinity.preferred if term_matches(p.term, labels, node_name))


def problems(spec: Mapping[str, Any]) -> tuple[tuple[Path, str], ...]:
    """Why the API server rejects a PodSpec's nodeSelector or node affinity: (path in it, message).

    Malformed items are passed over. Source: `ValidateNodeSelector`,
    `ValidatePreferredSchedulingTerms` in kubernetes `pkg/apis/core/validation` (v1.36).
    """
    return tuple(_problems(read(spec)))


def _problems(affinity: NodeAffinity) -> Iterator[tuple[Path, str]]:
    for key, value in affinity.selector.items():
        if problem := label_key_problem(key):
            yield ("nodeSelector", key), f"key {key!r} {problem}"
        if problem := label_value_problem(value):
            yield ("nodeSelector", key), f"value {value!r} {problem}"
    terms = (*_AFFINITY, REQUIRED, "nodeSelectorTerms")
    if affinity.required == ():
        yield terms, "required node affinity needs at least one term"
    for position, term in enumerate(affinity.required or ()):
        yield from _term_problems((*terms, position), term, judge_values=True)
    for position, (weight, term) in enumerate(affinity.preferred):
        path = (*_AFFINITY, PREFERRED, position)
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
    if field.key != _NODE_NAME:
        yield (*path, "key"), f"field {field.key!r} is not known, only {_NODE_NAME} is"
        return
    for value in field.values:
        if problem := dns_subdomain_problem(value):
            yield (*path, "values"), f"node name {value!r} {problem}"


def _mapping(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


def _list(raw: object) -> list[Any]:
    return raw if isinstance(raw, list) else []
