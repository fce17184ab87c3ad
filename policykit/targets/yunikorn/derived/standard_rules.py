"""The placement rules of a policy: the queue of the pod, then of its namespace, then the fallback."""

from __future__ import annotations

from policykit.targets.yunikorn.configuration.placement_rules import FIXED, PROVIDED, TAG, Rule
from policykit.targets.yunikorn.configuration.queues import ROOT

NAMESPACE = "namespace"
PARENT_QUEUE = "namespace.parentqueue"
"""Tag with the queue that annotation `parentqueue` of the namespace names."""

_OF_NAMESPACE = Rule(TAG, PARENT_QUEUE)
_BELOW_ANNOTATED = Rule(TAG, NAMESPACE, create=True, parent=_OF_NAMESPACE)
BY_POD_AND_NAMESPACE = (Rule(PROVIDED), _OF_NAMESPACE, _BELOW_ANNOTATED)
"""A leaf that the pod or the namespace names; below a parent queue, a queue for the namespace."""


def rules(namespace_queues: str, fallback: str) -> tuple[Rule, ...]:
    """All of them. Both are whole paths, or empty for none."""
    parent = Rule(FIXED, namespace_queues) if namespace_queues not in ("", ROOT) else None
    every = (Rule(TAG, NAMESPACE, create=True, parent=parent),) if namespace_queues else ()
    last = (Rule(FIXED, fallback),) if fallback else ()
    return (*BY_POD_AND_NAMESPACE, *every, *last)


def recognised(listed: tuple[Rule, ...]) -> tuple[str, str] | None:
    """(namespace_queues, fallback) of rules that `rules` gives; None for any others."""
    rest = listed[len(BY_POD_AND_NAMESPACE) :]
    fallback = rest[-1].value if rest and rest[-1].name == FIXED else ""
    every = next((rule for rule in rest if rule.name == TAG), None)
    below = "" if every is None else every.parent.value if every.parent else ROOT
    return (below, fallback) if rules(below, fallback) == listed else None
