"""A YuniKorn queue name has capitals, so limits or placement rules do not find it.

Queues run under their names in lower case. Limits of users and groups are stored under the name as
written and never match; a fixed rule looks for lower case; and a top queue `Root` is not the root
that the scheduler needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import settled
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.configuration.placement_rules import FIXED
from policykit.targets.yunikorn.configuration.queues_yaml import QueueNode
from policykit.targets.yunikorn.default_partition import DefaultPartition, read
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.validation.problem import KINDS

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: Research
      limits:
      - limit: everybody
        users: ['*']
        maxapplications: 10
"""

GOOD = BAD.replace("Research", "research")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Only names that do harm; a queue with capitals that nothing refers to runs well."""
    found = read(manifest, context.cluster)
    if found is not None:
        yield from settled(_name_violations(found), manifest)


def _name_violations(found: DefaultPartition) -> Iterator[Violation]:
    """A root that is not found; limits that never match; a queue that a fixed rule creates again."""
    top = found.tree.queue.name
    if top != ROOT:
        message = f"the top queue is named {top}, not root: the scheduler does not start"
        yield _violation(found.tree, message)._replace(severity=Severity.ERROR)
    named = {
        rule.value.lower().removeprefix(f"{ROOT}.")
        for listed in found.partition.rules
        for rule in listed.chain
        if rule.name.lower() == FIXED and rule.create
    }
    yield from _below(found.tree, "", False, named)


def _below(here: QueueNode, path: str, capitals: bool, named: set[str]) -> Iterator[Violation]:
    for child in here.children:
        queue = child.queue
        lower = f"{path}.{queue.name.lower()}" if path else queue.name.lower()
        own = queue.name != queue.name.lower()
        if (own or capitals) and queue.limits:
            message = (
                f"queue {queue.name} runs as {lower}, but its limits are stored under the name as written"
            )
            yield _violation(child, f"{message}: they never apply")
        elif own and any(name == lower or name.startswith(f"{lower}.") for name in named):
            yield _violation(child, f"a fixed rule looks for {lower}, but the queue is named {queue.name}")
        yield from _below(child, lower, capitals or own, named)


def _violation(here: QueueNode, message: str) -> Violation:
    return Violation((*here.path, "name"), message, KINDS["queue-case"].help)


RULE = Rule(
    code="PK707",
    name="queue-name-case",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
