"""Names of queues in capitals: queues run in small letters, and what names them may not find them."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.partition import Partition
from policykit.targets.yunikorn.configuration.placement_rules import FIXED
from policykit.targets.yunikorn.configuration.queues import ROOT


def problems(partition: Partition, tree: Located) -> Iterator[Problem]:
    """Every name with a capital letter; see `harmful` for those that cost something."""
    for each in tree.walk():
        if each.queue.name != each.queue.name.lower():
            yield _problem(each, f"queue {each.queue.name} runs as {each.queue.name.lower()}")


def harmful(partition: Partition, tree: Located) -> Iterator[Problem]:
    """A root that is not found; limits that never match; a queue that a fixed rule makes once more."""
    if tree.queue.name != ROOT:
        message = f"the top queue is {tree.queue.name}, and the scheduler looks for root: it does not start"
        yield _problem(tree, message)._replace(severity=Severity.ERROR)
    named = {
        rule.value.lower().removeprefix(f"{ROOT}.")
        for listed in partition.rules
        for rule in listed.chain
        if rule.name.lower() == FIXED and rule.create
    }
    yield from _below(tree, "", False, named)


def _below(here: Located, path: str, capitals: bool, named: set[str]) -> Iterator[Problem]:
    for child in here.children:
        queue = child.queue
        lower = f"{path}.{queue.name.lower()}" if path else queue.name.lower()
        own = queue.name != queue.name.lower()
        if (own or capitals) and queue.limits:
            message = f"queue {queue.name} runs as {lower}, and its limits are kept under the name as written"
            yield _problem(child, f"{message}: they never apply")
        elif own and any(name == lower or name.startswith(f"{lower}.") for name in named):
            yield _problem(child, f"a fixed rule looks for {lower}, and the queue is written {queue.name}")
        yield from _below(child, lower, capitals or own, named)


def _problem(here: Located, message: str) -> Problem:
    return Problem((*here.path, "name"), "queue-case", message, "write the names of queues in small letters")
