"""A YuniKorn childtemplate makes its queue fail, or nothing uses it.

The validator does not check child templates: an invalid amount makes the configuration fail only
when the queue is created. On a leaf a template is ignored, and an amount above that of the queue
itself is reduced to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import settled, violations
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.configuration.queues_yaml import ChildTemplate, QueueNode
from policykit.targets.yunikorn.configuration.values import (
    CountedAmounts,
    contains_placeholder,
    counted,
    first_excess,
    minimum,
)
from policykit.targets.yunikorn.default_partition import read
from policykit.targets.yunikorn.validation import failures
from policykit.targets.yunikorn.validation.queues import shown

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      parent: true
      childtemplate:
        resources:
          max: {vcore: 1.5, memory: 4Gi}
"""

GOOD = BAD.replace("vcore: 1.5", "vcore: 1500m")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Amounts of templates, and whether anything uses them."""
    found = read(manifest, context.cluster)
    if found is None:
        return
    yield from violations(failures.template_amounts(found.tree), manifest)
    yield from settled(_of_leaves(found.tree), manifest)
    if not contains_placeholder(lookup(manifest.data, found.path)):
        yield from _above_max(found.tree, {})


def _of_leaves(tree: QueueNode) -> Iterator[Violation]:
    for each in tree.walk():
        queue = each.queue
        if queue.leaf and queue.template != ChildTemplate():
            message = f"childtemplate has no effect: queue {queue.name} is a leaf"
            advice = "move it to the queue below which placement rules create queues, or set `parent: true`"
            yield Violation((*each.path, "childtemplate"), message, advice, Severity.WARNING)


def _above_max(here: QueueNode, above: CountedAmounts) -> Iterator[Violation]:
    """Amounts above those of the queue itself or of one above it."""
    queue = here.queue
    most = minimum(counted(queue.resources.maximum), above)
    wanted = counted(queue.template.resources.maximum)
    name = first_excess(most, wanted)
    if name:
        message = f"childtemplate allows {shown(name, wanted[name])} {name}, but queue {queue.name} only"
        yield Violation(
            (*here.path, "childtemplate", "resources", "max", name),
            f"{message} {shown(name, most[name])}",
            "lower it: the smaller amount applies",
            Severity.WARNING,
        )
    for child in here.children:
        yield from _above_max(child, most)


RULE = Rule(
    code="PK706",
    name="invalid-childtemplate",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
