"""Placement rules: names, filters, and the static part of their paths against the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.targets.yunikorn.checks.limits import GROUP, USER
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.pattern import compiles
from policykit.targets.yunikorn.configuration.placement_rules import FIXED, Filter, Rule
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue

NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*\Z")
PATTERN = re.compile(r"[\^$*+?()\[{}|]")
"""Characters that tell a regular expression from a name."""


def rules(listed: tuple[Rule, ...], tree: Located, path: Path) -> Iterator[Problem]:
    for number, rule in enumerate(listed):
        here = (*path, number)
        yield from _names(rule, here)
        yield from _static(rule, tree.queue, here)


def _names(rule: Rule, path: Path) -> Iterator[Problem]:
    if not NAME.match(rule.name):
        yield Problem((*path, "name"), "rule-name", f"{rule.name!r} is no name of a placement rule")
    if rule.parent:
        yield from _names(rule.parent, (*path, "parent"))
    yield from _filter(rule.filter, (*path, "filter"))


def _filter(chosen: Filter, path: Path) -> Iterator[Problem]:
    if chosen.type.lower() not in ("", "allow", "deny"):
        yield Problem((*path, "type"), "filter-type", f"{chosen.type!r} is neither allow nor deny")
    for key, names, known in (("users", chosen.users, USER), ("groups", chosen.groups, GROUP)):
        if len(names) == 1 and not known.match(names[0]) and not _is_pattern(names[0]):
            message = f"{names[0]!r} is neither a name nor a regular expression"
            yield Problem((*path, key, 0), "filter-name", message)


def _is_pattern(text: str) -> bool:
    return bool(PATTERN.search(text)) and compiles(text)


def _static(rule: Rule, root: Queue, path: Path) -> Iterator[Problem]:
    """What the first `fixed` rules of the chain give must be in the tree, as far as it goes."""
    static = ""
    dynamic = False
    for each in rule.chain:
        if each.name != FIXED:
            dynamic = True
            break
        if each.value.startswith(ROOT) and static:
            message = f"{each.value!r} starts with root, which only the outermost rule of a chain may"
            yield Problem(path, "rule-qualified", message)
            return
        static = each.value if each.value.startswith(ROOT) else f"{static or ROOT}.{each.value}"
    if static:
        said = _walk(static.lower().split("."), rule.create, dynamic, root)
        if said:
            yield Problem(path, "rule-queue", f"placement rule for {static}: {said}")


def _walk(steps: list[str], create: bool, dynamic: bool, root: Queue) -> str:
    level: tuple[Queue, ...] = (root,)
    above = root
    for number, step in enumerate(steps):
        if number and not level and not above.parent:
            return f"queue {above.name} has no queues below it"
        here = next((queue for queue in level if queue.name == step), None)
        if here is None:
            return "" if create else f"there is no queue {step}, and create is not true"
        above, level = here, here.queues
    if above.parent == dynamic:
        return ""
    return f"queue {above.name} must have `parent: true`" if dynamic else f"queue {above.name} is no leaf"
