"""A workload names a queue that accepts no workloads.

A queue with queues below it only distributes: Volcano refuses jobs there, or with a PodGroup in it
gives nothing to any queue; YuniKorn skips it; Koordinator refuses the pods. The root and closed
queues accept nothing either, and with KAI-Scheduler before 0.13 neither do queues without a parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import QueueUse
from policykit.model.severity import Severity
from policykit.nearest import some
from policykit.rules.queues.tree_releases import of_trees
from policykit.targets.facts import queue_trees
from policykit.targets.facts.queue_trees import Destination, Directory

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


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each named queue that the policy or the files here define."""
    directories: dict[str, Directory] = {}
    below: dict[str, dict[str, str]] = {}
    """Of each system its queues, and what is below them."""
    for use in scope.of(QueueUse):
        target_name = use.value.target_name
        known = directories.get(target_name)
        if known is None:
            known = directories[target_name] = queue_trees.directory(target_name, scope, context.cluster)
            below[target_name] = {queue: some(names) for queue, names in queue_trees.takers(known).items()}
        found = None if is_placeholder(use.value.queue) else queue_trees.destination(use.value, known)
        if found and found.verdict in (queue_trees.HOLDS, queue_trees.CLOSED):
            severity = Severity.WARNING if found.elsewhere else None
            advice = _advice(found, known, below[target_name])
            violation = Violation(use.at("queue"), _message(found, known), advice, severity)
            of_a_tree = found.verdict == queue_trees.HOLDS
            yield from of_trees([violation], known.semantics) if of_a_tree else [violation]
        elif found and found.verdict == queue_trees.FOUND and _made_below_root(use.value, found, known):
            message = f"{known.semantics.noun} {use.value.queue} is not the root here, but a new one below it"
            yield Violation(
                use.at("queue"),
                f"{message}: {known.semantics.title} makes {found.queue}",
                "name the queue that is meant, or none",
                Severity.WARNING,
            )
        elif found and found.verdict == queue_trees.FOUND and known.semantics.top_fault:
            declared = [each for each in known.declared if each.value.name == found.queue]
            if declared and not any(each.value.parent or each.partial for each in declared):
                yield Violation(
                    use.at("queue"),
                    f"{known.semantics.noun} {found.queue} has no parent {known.semantics.noun}: "
                    f"{known.semantics.top_fault}",
                    f"give {found.queue} a parent, or name a {known.semantics.noun} below it",
                    Severity.WARNING,
                )


def _made_below_root(use: QueueUse, found: Destination, known: Directory) -> bool:
    """Whether rules create a queue for a name that only looks like the root's."""
    return use.queue.lower() in known.semantics.roots and found.queue not in known.semantics.roots


def _message(found: Destination, known: Directory) -> str:
    noun, name = known.semantics.noun, found.queue
    if found.verdict == queue_trees.CLOSED:
        return f"{noun} {name} is closed: {known.semantics.closed_fault}"
    if name in known.semantics.roots:
        return f"{noun} {name} is the root of the tree: {known.semantics.submit_fault}"
    return f"{noun} {name} has child {known.semantics.noun}s: {known.semantics.submit_fault}"


def _advice(found: Destination, known: Directory, below: Mapping[str, str]) -> str:
    if found.verdict == queue_trees.CLOSED:
        return "open the queue, or name another"
    names = below.get(found.queue)
    return f"name one below it: {names}" if names else f"name a leaf {known.semantics.noun}"


RULE = Rule(
    code="PK402",
    name="queue-not-leaf",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(QueueUse,),
)
