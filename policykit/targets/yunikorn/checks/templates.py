"""childtemplate, which the validator does not read: what making a queue fails on, or nobody uses."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks.amounts import shown, unreadable
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.queues import ChildTemplate
from policykit.targets.yunikorn.configuration.resources import Counted, counted, least, too_much


def amounts(tree: Located) -> Iterator[Problem]:
    """Amounts that are none: creating the queue fails."""
    for each in tree.walk():
        stated = each.queue.template.resources
        for key, texts in (("guaranteed", stated.guaranteed), ("max", stated.maximum)):
            for problem in unreadable(texts, (*each.path, "childtemplate", "resources", key)):
                advice = f"correct it: making queue {each.queue.name} fails, and with it the configuration"
                yield problem._replace(help=advice)


def unused(tree: Located) -> Iterator[Problem]:
    """Templates of leaves, and amounts that the queue above cuts down."""
    yield from _unused(tree, {})


def _unused(here: Located, above: Counted) -> Iterator[Problem]:
    queue, path = here.queue, (*here.path, "childtemplate")
    most = least(counted(queue.resources.maximum), above)
    if queue.leaf and queue.template != ChildTemplate():
        message = f"queue {queue.name} is a leaf, where childtemplate is ignored"
        advice = "move it to the queue that rules make queues below, or state `parent: true`"
        yield Problem(path, "template-leaf", message, advice, Severity.WARNING)
    wanted = counted(queue.template.resources.maximum)
    name = too_much(most, wanted)
    if name:
        message = f"childtemplate allows {shown(name, wanted[name])} of {name}, queue {queue.name} only"
        where = (*path, "resources", "max", name)
        advice = "lower it: the smaller amount counts"
        yield Problem(where, "template-max", f"{message} {shown(name, most[name])}", advice, Severity.WARNING)
    for child in here.children:
        yield from _unused(child, most)
