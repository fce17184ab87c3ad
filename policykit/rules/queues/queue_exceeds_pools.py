"""A queue may use more cards than all pools have.

Its limit never takes effect: jobs stay pending for lack of cards while the queue seems to have room. That may
be intended, since a queue may grow into nodes that are still to come. In a tree of queues of Volcano before
1.15 the root has what the nodes have, and no queue may have more, cpu and memory included.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.facts.queue_trees import queue_semantics
from policykit.targets.pool_capacity import offered_resources, total_capacity

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  capability:
    nvidia.com/gpu: 4096
"""

GOOD = BAD.replace("4096", "8")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each card of each queue, where the policy lists every pool and their numbers are known."""
    cluster = context.cluster
    queues = scope.of(DeclaredQueue)
    if cluster is None or not cluster.complete or not queues:
        return
    held, offered = total_capacity(cluster), offered_resources(cluster)
    named = {queue.name for queue in cluster.queues}
    for queue in queues:
        value = queue.value
        semantics = queue_semantics(value.target_name, cluster)
        within = semantics.root_has_nodes if value.parent and "parent" in queue.fields else ""
        for resource, limit in sorted(value.limit.items()):
            known = resource in offered and resource in held and ("/" in resource or within)
            if known and value.measured and limit > held[resource] and value.name not in named:
                yield Violation(
                    queue.at(f"limit.{resource}" if f"limit.{resource}" in queue.fields else "name"),
                    f"{value.noun or semantics.noun} {value.name} may use "
                    f"{amount_text(resource, limit)} {resource}, "
                    f"but all pools together have {amount_text(resource, held[resource])}",
                    "lower the limit, or correct the pools in the policy if they have more"
                    + (f": {within} allows no queue of a tree more than the nodes have" if within else ""),
                    Severity.WARNING if within and cluster.complete else None,
                )


RULE = Rule(
    code="PK412",
    name="queue-exceeds-pools",
    severity=Severity.INFO,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQueue,),
    needs_policy=True,
)
