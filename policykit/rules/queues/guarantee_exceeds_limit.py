"""A queue is promised more than it may use.

What is guaranteed is at most what is deserved, and that at most the limit. Volcano and Koordinator
refuse a queue where an amount is above the next one; amounts that are missing beside another are
said by PK511 and PK610, everything in a configuration of YuniKorn by PK701.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.model.sharing import DeclaredQueue
from policykit.targets.sharing import Declared, amounts, shown, ways_of
from policykit.targets.ways import Ways

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  deserved: {cpu: "64", nvidia.com/gpu: "16"}
  capability: {cpu: "128", nvidia.com/gpu: "8"}
"""

GOOD = BAD.replace('nvidia.com/gpu: "16"', 'nvidia.com/gpu: "8"')

_ORDER = ("guarantee", "deserved", "limit")


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Each queue by itself, amounts that are stated alone."""
    for queue in scope.of(DeclaredQueue):
        ways = ways_of(queue.value.system, context.cluster)
        if ways.judged and not queue.partial:
            fields = [field for field in _ORDER if field in ways.words]
            for smaller, larger in pairwise(fields):
                yield from _compared(queue, smaller, larger, ways)


def _compared(queue: Declared, smaller: str, larger: str, ways: Ways) -> Iterator[ScopeViolation]:
    least, most = amounts(queue.value, smaller), amounts(queue.value, larger)
    for resource in sorted(least.keys() & most.keys()):
        if least[resource] > most[resource]:
            low, high = ways.words[smaller], ways.words[larger]
            yield ScopeViolation(
                queue,
                f"{smaller}.{resource}",
                f"{low} of {ways.noun} {queue.value.name} is {shown(ways, resource, least[resource])}, "
                f"{high} only {amount_text(resource, most[resource])}",
                f"lower {low}, or raise {high}: {ways.queue_fault}",
                ways.order,
            )


RULE = Rule(
    code="PK406",
    name="guarantee-exceeds-limit",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
