"""What the validator lets pass: rules that never place, access lists that fail, names that never match."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.targets.yunikorn.checks.amounts import unreadable
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.checks.structure import NAME
from policykit.targets.yunikorn.configuration import acl
from policykit.targets.yunikorn.configuration.partition import Partition
from policykit.targets.yunikorn.configuration.placement_rules import FIXED, KNOWN, TAG, Rule
from policykit.targets.yunikorn.configuration.queues import ROOT
from policykit.targets.yunikorn.configuration.resources import counted

_NOT_RESOURCES = {"cpu": "vcore", "vcores": "vcore", "mem": "memory"}
"""Names that no pod is counted under, and what is meant."""


def problems(partition: Partition, tree: Located, path: Path) -> Iterator[Problem]:
    for number, rule in enumerate(partition.rules):
        yield from _rule(rule, (*path, "placementrules", number))
    for each in tree.walk():
        yield from _queue(each)
    for name in partition.node_sort.weights:
        if name in _NOT_RESOURCES:
            where = (*path, "nodesortpolicy", "resourceweights", name)
            yield Problem(where, "resource-name", f"nodes have no {name}: write {_NOT_RESOURCES[name]}")


def _rule(rule: Rule, path: Path) -> Iterator[Problem]:
    name = rule.name.lower()
    if name not in KNOWN:
        message = f"there is no placement rule {rule.name}: provided, user, tag or fixed"
        yield Problem((*path, "name"), "rule-unknown", message)
    elif name in (FIXED, TAG) and not rule.value:
        yield Problem(path, "rule-value", f"rule {name} needs a value")
    elif name == FIXED:
        yield from _fixed(rule, path)
    if rule.filter.type not in ("", "allow", "deny"):
        message = f"filter type {rule.filter.type} counts as allow: write it in small letters"
        yield Problem((*path, "filter", "type"), "filter-case", message)
    if rule.parent:
        yield from _rule(rule.parent, (*path, "parent"))


def _fixed(rule: Rule, path: Path) -> Iterator[Problem]:
    value, where = rule.value, (*path, "value")
    wrong = [part for part in value.split(".") if not NAME.match(part)]
    if wrong:
        yield Problem(where, "rule-value", f"{value!r} is no path of queues")
    elif value == ROOT:
        yield Problem(where, "rule-root", "value root stands for root.root: leave the parent rule out")
    elif value.startswith(ROOT) and not value.startswith(f"{ROOT}."):
        yield Problem(where, "rule-root", f"{value} is taken for a whole path: write root.{value}")
    elif value.startswith(ROOT) and rule.parent:
        yield Problem(where, "rule-root", f"{value} is a whole path and takes no parent rule")


def _queue(each: Located) -> Iterator[Problem]:
    queue = each.queue
    for key, text in (("submitacl", queue.submit), ("adminacl", queue.admin)):
        people = acl.read(text)
        where = (*each.path, key)
        if people is None or "\t" in text:
            message = f"{key} {text!r}: write users and groups with commas and exactly one space between them"
            yield Problem(where, "acl-spaces", message)
        elif acl.strangers(people):
            named = ", ".join(acl.strangers(people))
            yield Problem(where, "acl-name", f"{key} of queue {queue.name} cannot name {named}")
    template = queue.template.resources
    for key, stated in (("guaranteed", template.guaranteed), ("max", template.maximum)):
        yield from unreadable(stated, (*each.path, "childtemplate", "resources", key))
    for key, stated in (("guaranteed", queue.resources.guaranteed), ("max", queue.resources.maximum)):
        for name in stated or {}:
            if name in _NOT_RESOURCES:
                message = f"no pod counts as {name}: write {_NOT_RESOURCES[name]}"
                yield Problem((*each.path, "resources", key, name), "resource-name", message)
    most = counted(queue.resources.maximum)
    if most and not any(most.values()):
        message = f"max of queue {queue.name} is all zero, which YuniKorn takes for no max at all"
        yield Problem((*each.path, "resources", "max"), "max-zero", message)
    if queue.name != queue.name.lower():
        message = f"queue {queue.name} runs as {queue.name.lower()}: write it in small letters"
        yield Problem((*each.path, "name"), "queue-case", message)
