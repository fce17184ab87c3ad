"""Pods that still use former names of labels and taints, read as if they used the present ones."""

from __future__ import annotations

from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.selectors import Requirement
from policykit.model.formerly import Formerly
from policykit.model.taint import Toleration


def present_tolerations(tolerations: tuple[Toleration, ...], formerly: Formerly) -> tuple[Toleration, ...]:
    """One for each, in the same order."""
    return tuple(_toleration(each, formerly) for each in tolerations)


def _toleration(toleration: Toleration, formerly: Formerly) -> Toleration:
    key, value = formerly.present(toleration.key, toleration.value)
    return toleration._replace(key=key, value=value)


def present_affinity(affinity: NodeAffinity, formerly: Formerly) -> NodeAffinity:
    """Selector, terms and preferences with one entry for each."""
    return NodeAffinity(
        dict(formerly.present(key, value) for key, value in affinity.selector.items()),
        None if affinity.required is None else tuple(_term(term, formerly) for term in affinity.required),
        tuple(each._replace(term=_term(each.term, formerly)) for each in affinity.preferred),
    )


def _term(term: Term, formerly: Formerly) -> Term:
    return term._replace(expressions=tuple(_requirement(each, formerly) for each in term.expressions))


def _requirement(one: Requirement, formerly: Formerly) -> Requirement:
    key = formerly.keys.get(one.key, one.key)
    values = tuple(dict.fromkeys(formerly.present(key, value)[1] for value in one.values))
    return one._replace(key=key, values=values)
