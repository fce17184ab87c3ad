"""A YuniKorn queue has an amount with no effect, or with a different effect than it seems.

YuniKorn accepts any resource name. It counts pods by vcore, memory, pods, and the Kubernetes names
of whatever else they request: an amount of `cpu` or `gpu` limits nothing. A max of only zeros is
no max, a maxapplications of 0 is no limit, and plain numbers written before release 1.0 now mean bytes
and whole cores.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.resources import is_card
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import whole
from policykit.model.severity import Severity
from policykit.rules.yunikorn.queue_config import settled, violations
from policykit.targets.yunikorn import NAME
from policykit.targets.yunikorn.configuration.queues_yaml import QueueNode
from policykit.targets.yunikorn.configuration.values import CORES, counted
from policykit.targets.yunikorn.default_partition import DefaultPartition, read_partial
from policykit.targets.yunikorn.validation import failures
from policykit.targets.yunikorn.validation.failures import stated_amounts
from policykit.targets.yunikorn.validation.problem import Dependence
from policykit.targets.yunikorn.validation.queues import shown

BAD = """\
partitions:
- name: default
  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: research
      resources:
        max: {cpu: 64, memory: 256Gi}
"""

GOOD = BAD.replace("cpu: 64", "vcore: 64")


_FEW_BYTES = 10**6
_MANY_CORES = 1000 * 1000


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Amounts of queues, limits, child templates, and weights of nodes."""
    found = read_partial(manifest, context.cluster)
    if found is None:
        return
    names = failures.resource_names(found.partition, found.tree, found.path)
    errors = (each._replace(severity=Severity.ERROR) for each in names)
    yield from violations(errors, manifest, found)
    yield from violations(failures.zeros(found.tree), manifest, found)
    yield from settled(_no_applications(found.tree, manifest), manifest, found, Dependence.VALUE)
    yield from settled(_old_units(found.tree), manifest, found, Dependence.VALUE)
    if context.cluster is None or "yunikorn" not in context.cluster.targets:
        # With such a policy PK712 compares the weights.
        yield from settled(_unweighted_cards(found), manifest, found)


def _no_applications(tree: QueueNode, manifest: Manifest) -> Iterator[Violation]:
    """Zero is the value of a field that is not set. Below a queue with a number it is refused: PK701.

    Source: `canRunApp` in `pkg/scheduler/objects/queue.go` of yunikorn-core (1.3 to 1.9).
    """
    for each in tree.walk():
        for child in each.children if not each.queue.applications else ():
            path = (*child.path, "maxapplications")
            if whole(lookup(manifest.data, path)) == 0:
                yield Violation(
                    path,
                    f"maxapplications of queue {child.queue.name} is 0, which YuniKorn treats as no limit",
                    "delete it, or write 1 or more: submitacl is what keeps applications out",
                )


def _old_units(tree: QueueNode) -> Iterator[Violation]:
    """Amounts in the units of before release 1.0: megabytes, and thousandths of a core."""
    for where, stated in stated_amounts(tree):
        amounts = counted(stated)
        memory, cores = amounts.get("memory", 0), amounts.get(CORES, 0)
        if 0 < memory < _FEW_BYTES and cores > _MANY_CORES:
            yield Violation(
                (*where, "memory"),
                f"memory {stated['memory']} is {memory} bytes, next to {shown(CORES, cores)} cores",
                "before release 1.0, memory was in megabytes and vcore in thousandths: for that, write "
                f"{stated['memory']}M and {stated[CORES]}m",
            )


def _unweighted_cards(found: DefaultPartition) -> Iterator[Violation]:
    """Queues with cards while nodes are packed by cores and memory only."""
    sort = found.partition.node_sort
    weighed = {name for name, weight in sort.weights.items() if weight}
    bounded = {name for _, stated in stated_amounts(found.tree) for name, n in counted(stated).items() if n}
    cards = sorted(name for name in bounded if is_card(name))
    if sort.type == "binpacking" and cards and not weighed & set(cards):
        yield Violation(
            (*found.path, "nodesortpolicy"),
            f"binpacking sorts nodes by {', '.join(sorted(weighed)) or 'vcore and memory'} only, but queues "
            f"have {cards[0]}: free cards end up scattered over many nodes",
            f"add {cards[0]} to resourceweights, for example 4; vcore and memory then need weights too",
            Severity.INFO,
        )


RULE = Rule(
    code="PK704",
    name="ineffective-limit",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({NAME}),
)
