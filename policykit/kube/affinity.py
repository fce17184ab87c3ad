"""Node selectors and node affinity: reading and matching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube import selectors
from policykit.kube.selectors import Requirement
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
KINDS = frozenset({"nodeAffinity", "podAffinity", "podAntiAffinity"})
"""Parts of affinity, each of which may have the two lists."""
NODE_NAME = "metadata.name"
"""The only field of a node that a term can select."""


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
    affinity = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    return NodeAffinity(
        {k: v for k, v in mapping(spec.get("nodeSelector")).items() if isinstance(v, str)},
        _required(affinity.get(REQUIRED)),
        tuple(_preference(item) for item in _list(affinity.get(PREFERRED))),
    )


def _required(raw: object) -> tuple[Term, ...] | None:
    if not isinstance(raw, dict):
        return None
    terms = raw.get("nodeSelectorTerms")
    if terms is None:
        return ()
    return tuple(_term(item) for item in terms) if isinstance(terms, list) else None


def _term(raw: object) -> Term:
    if raw is not None and not isinstance(raw, dict):
        return Term((selectors.MALFORMED,))
    term = mapping(raw)
    return Term(_requirements(term.get("matchExpressions")), _requirements(term.get("matchFields")))


def _requirements(raw: object) -> tuple[Requirement, ...]:
    if raw is not None and not isinstance(raw, list):
        return (selectors.MALFORMED,)
    return selectors.read_all(raw)


def _preference(raw: object) -> Preference:
    if not isinstance(raw, dict):
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
    there = node_name if field.key == NODE_NAME else ""
    if len(field.values) != 1 or field.operator not in ("In", "NotIn"):
        return False
    return (there in field.values) == (field.operator == "In")


def preference(affinity: NodeAffinity, labels: Mapping[str, str], node_name: str) -> int:
    """Sum of the weights of the preferred terms that match a node: NodeAffinity's raw score."""
    return sum(p.weight for p in affinity.preferred if term_matches(p.term, labels, node_name))


def _list(raw: object) -> list[Any]:
    return raw if isinstance(raw, list) else []
