"""A pod requests cards at pod level, where only cpu, memory and huge pages are allowed.

All containers share `spec.resources`, but a device belongs to one container. The API server refuses
the pod, so a controller with such a template creates none.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import is_extended
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  resources:
    limits:
      cpu: 8
      memory: 64Gi
      nvidia.com/gpu: 1
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  resources:
    limits:
      cpu: 8
      memory: 64Gi
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      limits:
        nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports each name once. Source: `validatePodResourceRequirements` (v1.36)."""
    resources = review.pod_set.spec.get("resources")
    seen: set[str] = set()
    for side in ("limits", "requests"):
        amounts = resources.get(side) if isinstance(resources, dict) else None
        for name in amounts if isinstance(amounts, dict) else ():
            if isinstance(name, str) and is_extended(name) and name not in seen:
                seen.add(name)
                yield Violation(
                    review.pod_set.place("resources", side, name),
                    f"the pod-level resources contain {name}, but allow only cpu, memory and hugepages",
                    "write it under the resources of the container that uses it",
                    key=True,
                )


RULE = Rule(
    code="PK212",
    name="card-under-pod-resources",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    silences=frozenset({"PK124"}),
)
