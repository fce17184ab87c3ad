"""Placement rules: those that the validator refuses, and those it accepts that never place anything.

Source: core configvalidator.go and scheduler/placement/*.go, release 1.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.placement_rules import (
    FIXED,
    KNOWN,
    PARENT_QUEUE_TAG,
    PROVIDED,
    TAG,
    Filter,
    Rule,
)
from policykit.targets.yunikorn.configuration.queues_yaml import Queue, QueueNode
from policykit.targets.yunikorn.configuration.values import is_regular_expression
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.validation.problem import problem
from policykit.targets.yunikorn.validation.queues import QUEUE_NAME, name_patterns
from policykit.targets.yunikorn.versions import PLACEMENT_CHECKED

_RULE_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*\Z")
_PATTERN = re.compile(r"[\^$*+?()\[{}|]")
"""Characters that distinguish a regular expression from a name."""


def refused(listed: tuple[Rule, ...], tree: QueueNode, path: Path, version: Version) -> Iterator[Problem]:
    for number, rule in enumerate(listed):
        here = (*path, number)
        yield from _names(rule, here, version)
        static = _static if version >= PLACEMENT_CHECKED else _parents_only
        yield from static(rule, tree.queue, here)


def _names(rule: Rule, path: Path, version: Version) -> Iterator[Problem]:
    if not _RULE_NAME.match(rule.name):
        yield problem((*path, "name"), "rule-name", f"{rule.name!r} is not a valid placement rule name")
    if rule.parent:
        yield from _names(rule.parent, (*path, "parent"), version)
    yield from _filter(rule.filter, (*path, "filter"), version)


def _filter(chosen: Filter, path: Path, version: Version) -> Iterator[Problem]:
    patterns = name_patterns(version)
    if chosen.type.lower() not in ("", "allow", "deny"):
        yield problem((*path, "type"), "filter-type", f"{chosen.type!r} is neither allow nor deny")
    for key, names in (("users", chosen.users), ("groups", chosen.groups)):
        if len(names) == 1 and not patterns[key].match(names[0]) and not _is_pattern(names[0]):
            message = f"{names[0]!r} is neither a name nor a regular expression"
            yield problem((*path, key, 0), "filter-name", message)


def _is_pattern(text: str) -> bool:
    return bool(_PATTERN.search(text)) and is_regular_expression(text)


def _static(rule: Rule, root: Queue, path: Path) -> Iterator[Problem]:
    """The queue of the leading `fixed` rules of the chain must exist, unless it is created."""
    static = ""
    dynamic = False
    for each in rule.chain:
        if each.name != FIXED:
            dynamic = True
            break
        if each.value.startswith(ROOT) and static:
            message = f"{each.value!r} starts with root, which only the outermost rule of a chain may do"
            yield problem(path, "rule-qualified", message)
            return
        static = each.value if each.value.startswith(ROOT) else f"{static or ROOT}.{each.value}"
    if static:
        fault = _walk(static.lower().split("."), rule.create, dynamic, root)
        if fault:
            yield problem(path, "rule-queue", f"placement rule for {static}: {fault}")


def _parents_only(rule: Rule, root: Queue, path: Path) -> Iterator[Problem]:
    """Before 1.4 every queue of the leading `fixed` rules that exists must be a parent, the last one too."""
    steps: list[str] = []
    for each in rule.chain:
        if each.name != FIXED:
            break
        whole = each.value.lower().startswith(ROOT)
        steps = [*([] if whole else steps or [ROOT]), *each.value.lower().split(".")]
    level: tuple[Queue, ...] = (root,)
    for step in steps:
        here = next((queue for queue in level if queue.name == step), None)
        if here is None:
            if not rule.create:
                message = (
                    f"placement rule for {'.'.join(steps)}: queue {step} does not exist and create is not"
                )
                yield problem(path, "rule-queue", f"{message} true")
            return
        if here is not root and not here.parent:
            message = f"placement rule for {'.'.join(steps)}: queue {here.name} must have `parent: true` in"
            yield problem(path, "rule-queue", f"{message} YuniKorn before {PLACEMENT_CHECKED}")
            return
        level = here.queues


def _walk(steps: list[str], create: bool, dynamic: bool, root: Queue) -> str:
    level: tuple[Queue, ...] = (root,)
    above = root
    for number, step in enumerate(steps):
        if number and not level and not above.parent:
            return f"queue {above.name} has no queues below it"
        here = next((queue for queue in level if queue.name == step), None)
        if here is None:
            return "" if create else f"queue {step} does not exist and create is not true"
        above, level = here, here.queues
    if above.parent == dynamic:
        return ""
    return f"queue {above.name} must have `parent: true`" if dynamic else f"queue {above.name} is not a leaf"


_NOT_ACTIVE = "correct it: the scheduler does not load the configuration, or starts and rejects everything"


def dead_rules(rules: tuple[Rule, ...], root: Queue, path: Path) -> Iterator[Problem]:
    """Rules that fail or never place anything. `path` is that of the list."""
    others = _created_queues(rules)
    for number, rule in enumerate(rules):
        here = (*path, number)
        yield from _rule(rule, here)
        yield from _unreachable(rule, root, here, others)
        yield from _not_a_leaf(rule, root, here)


def _rule(rule: Rule, path: Path) -> Iterator[Problem]:
    name = rule.name.lower()
    if name == "test":
        message = "placement rule test stops the scheduler at the first application it places"
        yield problem((*path, "name"), "rule-unknown", message)
    elif name not in KNOWN:
        message = f"unknown placement rule {rule.name}: use provided, user, tag or fixed"
        yield problem((*path, "name"), "rule-unknown", message, _NOT_ACTIVE)
    elif name in (FIXED, TAG) and not rule.value:
        what = "the queue" if name == FIXED else "the tag: namespace, namespace.parentqueue"
        yield problem(path, "rule-value", f"rule {name} needs a value", f"set it to {what}")
    elif name == FIXED:
        yield from _fixed(rule, path)
    if rule.filter.type != "deny" and rule.filter.type.lower() == "deny":
        message = f"filter type {rule.filter.type} is treated as allow: only lower-case deny denies"
        where = (*path, "filter", "type")
        yield problem(where, "filter-case", message)
    if rule.parent:
        yield from _parent(rule.parent, (*path, "parent"))


def _parent(rule: Rule, path: Path) -> Iterator[Problem]:
    if rule.name.lower() == FIXED and rule.value.lower() == ROOT:
        message = "parent rule fixed with value root puts everything below root.root"
        advice = "delete the parent rule: without one, queues are children of root"
        yield problem((*path, "value"), "rule-root", message, advice, Severity.WARNING)
        return
    yield from _rule(rule, path)


def _fixed(rule: Rule, path: Path) -> Iterator[Problem]:
    value, where = rule.value, (*path, "value")
    wrong = [part for part in value.split(".") if not QUEUE_NAME.match(part)]
    if wrong:
        message = f"{value!r} is not a queue path: {wrong[0]!r} is not a valid name"
        yield problem(where, "rule-value", message, _NOT_ACTIVE)
    elif value.startswith(ROOT) and value != ROOT and not value.startswith(f"{ROOT}."):
        message = f"{value} starts with root, so it is read as a full path, but it is not one"
        yield problem(where, "rule-root", message, f"write root.{value}")
    elif value.startswith(ROOT) and rule.parent:
        message = f"{value} is a full path, so the rule cannot have a parent rule"
        advice = f"delete the parent rule, or write {value.removeprefix(f'{ROOT}.')}"
        yield problem(where, "rule-root", message, advice)


def _unreachable(rule: Rule, root: Queue, path: Path, others: _CreatedQueues) -> Iterator[Problem]:
    """A parent rule whose queue is missing and not created: the rule below it never places anything.

    Only if the rule below may create queues: the validator refuses the others.
    """
    for place, inner in _fixed_prefixes(rule):
        if rule.create and not inner.create and place not in others.made and not _find(place, root):
            depth = len(rule.chain) - 1 - rule.chain.index(inner)
            message = f"queue {place} of the parent rule does not exist and its create is not true"
            then = "places nothing until pods have named it" if others.free else "never places anything"
            yield problem(
                (*path, *("parent",) * depth, "value"),
                "rule-parent",
                f"{message}: the rule {then}",
                severity=Severity.WARNING if others.free else None,
            )
            return


def _not_a_leaf(rule: Rule, root: Queue, path: Path) -> Iterator[Problem]:
    """A queue with queues below it: no application runs there. Source: `partition.go` (1.0 to 1.9)."""
    places = [place for place, _ in _fixed_places(rule.chain)]
    queue = _find(places[-1], root) if len(places) == len(rule.chain) else None
    if queue and queue.queues:
        below = f"{places[-1]}.{queue.queues[0].name}"
        message = f"queue {places[-1]} has queues below it, and applications run only in leaf queues"
        yield problem((*path, "value"), "rule-leaf", message, f"write a leaf, such as {below}")


class _CreatedQueues(NamedTuple):
    """Queues that the rules of a partition create at run time."""

    made: frozenset[str]
    """Queues that parent rules create."""
    free: bool
    """A rule creates any queue that a pod or namespace names, with its parents."""


def _created_queues(rules: tuple[Rule, ...]) -> _CreatedQueues:
    made = {place for rule in rules for place, inner in _fixed_prefixes(rule) if inner.create}
    named = (rule for rule in rules if rule.create and not rule.parent)
    free = any(rule.name.lower() == PROVIDED or rule.value.lower() == PARENT_QUEUE_TAG for rule in named)
    return _CreatedQueues(frozenset(made), free)


def _fixed_prefixes(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """Full paths of the parent rules, as long as they are fixed."""
    return _fixed_places(rule.chain[:-1])


def _fixed_places(rules: tuple[Rule, ...]) -> Iterator[tuple[str, Rule]]:
    """Full paths of the queues, as long as the rules are fixed."""
    static = ROOT
    for inner in rules:
        if inner.name.lower() != FIXED or not inner.value:
            return
        value = inner.value.lower()
        static = value if value.startswith(f"{ROOT}.") or value == ROOT else f"{static}.{value}"
        yield static, inner


def _find(place: str, root: Queue) -> Queue | None:
    level: tuple[Queue, ...] = (root,)
    found = None
    for step in place.split("."):
        found = next((queue for queue in level if queue.name.lower() == step), None)
        if found is None:
            return None
        level = found.queues
    return found
