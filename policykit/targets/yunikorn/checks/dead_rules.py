"""Placement rules that the validator lets pass and that then place nothing, or stop the scheduler.

Source: core scheduler/placement/*.go, release 1.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks.problem import Problem
from policykit.targets.yunikorn.checks.structure import NAME
from policykit.targets.yunikorn.configuration.placement_rules import FIXED, KNOWN, PROVIDED, TAG, Rule
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue
from policykit.targets.yunikorn.derived.standard_rules import PARENT_QUEUE

_NAMES = "write provided, user, tag or fixed"
_NOT_ACTIVE = "correct it: the scheduler does not take up the configuration, or starts and rejects everything"


def problems(rules: tuple[Rule, ...], root: Queue, path: Path) -> Iterator[Problem]:
    """`path` is the list's."""
    others = _others(rules)
    for number, rule in enumerate(rules):
        here = (*path, number)
        yield from _rule(rule, here)
        yield from _unreachable(rule, root, here, others)


def _rule(rule: Rule, path: Path) -> Iterator[Problem]:
    name = rule.name.lower()
    if name == "test":
        message = "placement rule test stops the scheduler with the first application that it places"
        yield Problem((*path, "name"), "rule-unknown", message, _NAMES)
    elif name not in KNOWN:
        message = f"there is no placement rule {rule.name}: provided, user, tag or fixed"
        yield Problem((*path, "name"), "rule-unknown", message, _NOT_ACTIVE)
    elif name in (FIXED, TAG) and not rule.value:
        what = "the queue that is meant" if name == FIXED else "the tag: namespace, namespace.parentqueue"
        yield Problem(path, "rule-value", f"rule {name} needs a value", f"state {what}")
    elif name == FIXED:
        yield from _fixed(rule, path)
    if rule.filter.type != "deny" and rule.filter.type.lower() == "deny":
        message = f"filter type {rule.filter.type} counts as allow: only deny in small letters denies"
        where = (*path, "filter", "type")
        yield Problem(where, "filter-case", message, "write deny; as it is, exactly these people are let in")
    if rule.parent:
        yield from _parent(rule.parent, (*path, "parent"))


def _parent(rule: Rule, path: Path) -> Iterator[Problem]:
    if rule.name.lower() == FIXED and rule.value.lower() == ROOT:
        message = "parent rule fixed with value root puts everything below root.root"
        advice = "delete the parent rule: without one, queues are children of root"
        yield Problem((*path, "value"), "rule-root", message, advice, Severity.WARNING)
        return
    yield from _rule(rule, path)


def _fixed(rule: Rule, path: Path) -> Iterator[Problem]:
    value, where = rule.value, (*path, "value")
    wrong = [part for part in value.split(".") if not NAME.match(part)]
    if wrong:
        message = f"{value!r} is no path of queues: {wrong[0]!r} is no name"
        yield Problem(where, "rule-value", message, _NOT_ACTIVE)
    elif value.startswith(ROOT) and value != ROOT and not value.startswith(f"{ROOT}."):
        message = f"{value} begins with root and is taken for a whole path, but is none"
        yield Problem(where, "rule-root", message, f"write root.{value}")
    elif value.startswith(ROOT) and rule.parent:
        message = f"{value} is a whole path and takes no parent rule"
        advice = f"delete the parent rule, or write {value.removeprefix(f'{ROOT}.')}"
        yield Problem(where, "rule-root", message, advice)


def _unreachable(rule: Rule, root: Queue, path: Path, others: _Others) -> Iterator[Problem]:
    """A parent rule whose queue is missing and may not be made: then the rule below it never places.

    Only where the rule below may make its own: the validator refuses the others.
    """
    for place, inner in _fixed_prefixes(rule):
        if rule.create and not inner.create and place not in others.made and not _exists(place, root):
            depth = len(rule.chain) - 1 - rule.chain.index(inner)
            message = f"the parent rule's queue {place} is not there and its create is not true"
            then = "places nothing until pods have named it" if others.free else "never places anything"
            yield Problem(
                (*path, *("parent",) * depth, "value"),
                "rule-parent",
                f"{message}: the rule {then}",
                "add the queue with `parent: true`, or state `create: true` on the parent rule too",
                Severity.WARNING if others.free else None,
            )
            return


class _Others(NamedTuple):
    """What the rules of a partition make at run time."""

    made: frozenset[str]
    """Queues that parent rules make."""
    free: bool
    """Some rule makes whatever queue a pod or a namespace names, with those above it."""


def _others(rules: tuple[Rule, ...]) -> _Others:
    made = {place for rule in rules for place, inner in _fixed_prefixes(rule) if inner.create}
    named = (rule for rule in rules if rule.create and not rule.parent)
    free = any(rule.name.lower() == PROVIDED or rule.value.lower() == PARENT_QUEUE for rule in named)
    return _Others(frozenset(made), free)


def _fixed_prefixes(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Whole paths that the parent rules give, as long as they are fixed."""
    static = ROOT
    for inner in rule.chain[:-1]:
        if inner.name.lower() != FIXED or not inner.value:
            return
        value = inner.value.lower()
        static = value if value.startswith(f"{ROOT}.") or value == ROOT else f"{static}.{value}"
        yield static, inner


def _exists(place: str, root: Queue) -> bool:
    level: tuple[Queue, ...] = (root,)
    for step in place.split("."):
        found = next((queue for queue in level if queue.name.lower() == step), None)
        if found is None:
            return False
        level = found.queues
    return True
