"""Preemption that is asked for where it never starts: only a queue below its guarantee takes back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.partition import Partition
from policykit.targets.yunikorn.configuration.properties import OFFSET, PREEMPTION
from policykit.targets.yunikorn.configuration.resources import counted

_DELAY = "preemption.delay"
_ABOVE_ZERO = re.compile(r"\+?0*[1-9][0-9]*\Z")
_ADVICE = "state resources.guaranteed for the queues that shall take back what is theirs"


def problems(partition: Partition, tree: Located, planned: Collection[str] = ()) -> Iterator[Problem]:
    """A delay, a fence or a priority, and no guarantee above, at or below its queue.

    `planned`: names of queues whose promises a policy states; they are as it wants them.
    """
    if partition.preemption.enabled is not False:
        found = _below(tree, False, partition.preemption.enabled is True)
        yield from (problem for name, problem in found if name not in planned)


def _below(here: Located, above: bool, wanted: bool) -> Iterator[tuple[str, Problem]]:
    guaranteed = above or _own(here)
    if not guaranteed and not any(_own(each) for each in here.walk()):
        yield from ((here.queue.name, problem) for problem in _said(here, wanted))
    for child in here.children:
        yield from _below(child, guaranteed, wanted)


def _own(here: Located) -> bool:
    """Also by its template, which queues that rules make below it have."""
    queue = here.queue
    stated = (queue.resources.guaranteed, queue.template.resources.guaranteed)
    return any(any(counted(each).values()) for each in stated)


def _said(here: Located, wanted: bool) -> Iterator[Problem]:
    queue = here.queue
    for name, text in queue.properties.items():
        says = ""
        if name == _DELAY:
            says = f"waits {text} before it preempts"
        elif name == PREEMPTION and text.lower() == "fence":
            says = "may preempt behind its fence"
        elif name == OFFSET and wanted and _ABOVE_ZERO.match(text):
            says = f"has priority {text} and preemption is enabled"
        if says:
            message = f"queue {queue.name} {says}, but no queue above or below it is guaranteed anything"
            where = (*here.path, "properties", name)
            yield Problem(where, "preemption-idle", f"{message}: it never preempts", _ADVICE)
            return
