"""A workload names a queue that takes no workloads.

A queue with queues below it only shares out: Volcano refuses jobs there, or with a PodGroup in it
gives nothing to any queue; YuniKorn passes over it; Koordinator refuses the pods. The root and
closed queues take nothing either.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.severity import Severity
from policykit.model.sharing import QueueUse
from policykit.targets import destinations
from policykit.targets.destinations import Destination, Directory

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: vision
spec:
  weight: 1
  parent: research
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  queue: research
  minAvailable: 1
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            requests: {cpu: "4", memory: 16Gi}
"""

GOOD = BAD.replace("queue: research", "queue: vision")


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Each name of a queue that is declared, in the policy or in the files here."""
    directories: dict[str, Directory] = {}
    for use in scope.of(QueueUse):
        system = use.value.system
        known = directories.get(system)
        if known is None:
            known = directories[system] = destinations.directory(system, scope, context.cluster)
        found = None if is_placeholder(use.value.queue) else destinations.destination(use.value, known)
        if found and found.verdict in (destinations.HOLDS, destinations.CLOSED):
            severity = Severity.WARNING if found.elsewhere else None
            yield ScopeViolation(use, "queue", _message(found, known), _advice(found, known), severity)


def _message(found: Destination, known: Directory) -> str:
    noun, name = known.ways.noun, found.queue
    if found.verdict == destinations.CLOSED:
        return f"{noun} {name} is closed: {known.ways.closed_fault}"
    if name in known.ways.roots:
        return f"{noun} {name} is the root of the tree: {known.ways.submit_fault}"
    return f"{noun} {name} holds other {known.ways.noun}s: {known.ways.submit_fault}"


def _advice(found: Destination, known: Directory) -> str:
    if found.verdict == destinations.CLOSED:
        return "open the queue, or name another"
    below = destinations.takers_below(found.queue, known)
    return f"name one below it: {', '.join(below)}" if below else f"name one that holds no {known.ways.noun}s"


RULE = Rule(
    code="PK402",
    name="queue-not-leaf",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
