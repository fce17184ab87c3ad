"""A YuniKorn queue is set up to preempt, but nothing is guaranteed to it.

A queue takes resources back from others only while it uses less than its guaranteed amount, or than
that of a queue above it. Without a guarantee, a preemption delay, fence or priority never preempts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.severity import Severity
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.configuration.properties import OFFSET, PREEMPTION
from policykit.targets.yunikorn.configuration.queues_yaml import QueueNode
from policykit.targets.yunikorn.configuration.values import contains_placeholder, counted
from policykit.targets.yunikorn.default_partition import read

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      properties:
        preemption.delay: 10s
      resources:
        max: {vcore: 64}
"""

GOOD = BAD.replace("        max:", "        guaranteed: {vcore: 16}\n        max:")


_DELAY = "preemption.delay"
_ABOVE_ZERO = re.compile(r"\+?0*[1-9][0-9]*\Z")
_ADVICE = "set resources.guaranteed on the queues that should take resources back"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Queues of a partition that preempts; one guarantee at, above or below is enough.

    Queues of the policy are left out: it decides what they are guaranteed.
    """
    found, cluster = read(manifest, context.cluster), context.cluster
    if found is None or contains_placeholder(lookup(manifest.data, found.path)):
        return
    planned = {queue.name for queue in cluster.queues} if cluster and "yunikorn" in cluster.targets else set()
    enabled = found.partition.preemption.enabled
    for name, violation in _below(found.tree, False, enabled is True) if enabled is not False else ():
        if name not in planned:
            yield violation


def _below(here: QueueNode, above: bool, wanted: bool) -> Iterator[tuple[str, Violation]]:
    guaranteed = above or _own(here)
    if not guaranteed and not any(_own(each) for each in here.walk()):
        yield from ((here.queue.name, problem) for problem in _idle(here, wanted))
    for child in here.children:
        yield from _below(child, guaranteed, wanted)


def _own(here: QueueNode) -> bool:
    """Also in its template, for queues that placement rules create below it."""
    queue = here.queue
    stated = (queue.resources.guaranteed, queue.template.resources.guaranteed)
    return any(any(counted(each).values()) for each in stated)


def _idle(here: QueueNode, wanted: bool) -> Iterator[Violation]:
    queue = here.queue
    for name, text in queue.properties.items():
        says = ""
        if name == _DELAY:
            says = f"preempts after {text}"
        elif name == PREEMPTION and text.lower() == "fence":
            says = "has a preemption fence"
        elif name == OFFSET and wanted and _ABOVE_ZERO.match(text):
            says = f"has priority {text} with preemption enabled"
        if says:
            message = (
                f"queue {queue.name} {says}, but neither it nor a queue above or below it has a guarantee"
            )
            where = (*here.path, "properties", name)
            yield Violation(where, f"{message}: it never preempts", _ADVICE)
            return


RULE = Rule(
    code="PK711",
    name="preemption-without-guarantee",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
