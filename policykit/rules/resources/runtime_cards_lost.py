"""A TrainJob states the resources of its nodes without the cards of its runtime.

Up to Kubeflow Trainer 2.2 resourcesPerNode replaces all that the container of the runtime asks for, so its
cards are lost with what was to be changed. Later releases add the two, but count the processes of a node by
resourcesPerNode alone: the node has its cards and starts processes as if it had none.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import resources
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.severity import Severity
from policykit.model.training import NodeResources, RuntimeCards

BAD = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch-eight
  labels: {trainer.kubeflow.org/framework: torch}
spec:
  mlPolicy:
    numNodes: 1
    torch: {}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: registry.example/train:1
                  resources:
                    requests: {cpu: 8, memory: 64Gi}
                    limits: {nvidia.com/gpu: 8}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: more-memory
spec:
  runtimeRef: {name: torch-eight}
  trainer:
    resourcesPerNode:
      requests: {cpu: 8, memory: 512Gi}
"""

GOOD = BAD + "      limits: {nvidia.com/gpu: 8}\n"


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where all runtimes here of the name have the cards.

    Sources: `newRuntimeInfo` of Trainer and `EnforceMLPolicy` of its plugins (2.0 to 2.3).
    """
    stated = scope.of(NodeResources)
    runtimes: dict[str, list[RuntimeCards]] = {}
    for each in scope.of(RuntimeCards) if stated else ():
        runtimes.setdefault(each.value.runtime, []).append(each.value)
    for job in stated:
        there = runtimes.get(job.value.runtime, [])
        cards = there[0].cards if there else ()
        if not cards or any(map(resources.is_card, job.value.names)) or any(not each.cards for each in there):
            continue
        name, amount = cards[0]
        yield Violation(
            job.at("resources"),
            f"{job.value.runtime} asks for {amount} {name} per node, but resourcesPerNode, which has none, "
            "replaces that: the nodes get no card, or start processes as if they had none",
            f"add {name}: {amount} to its limits",
            key=True,
        )


RULE = Rule(
    code="PK231",
    name="runtime-cards-lost",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(NodeResources,),
)
