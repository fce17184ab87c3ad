"""A toleration that the API server refuses.

An empty key needs operator Exists, Exists takes no value, seconds need effect NoExecute, and
the comparing operators need a feature gate that is off by default. One such toleration and
no pod of the workload is created.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.tolerations import problems
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    value: present
    effect: NoSchedule
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
  tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    effect: NoSchedule
  containers:
  - name: main
    image: registry.example/train:1
"""

_ADVICE = {
    "key": "Write the key of the taint, as `kubectl describe node` shows it.",
    "operator": "Write operator: Exists to answer any value, or Equal with the taint's value.",
    "value": "Delete the value, or write operator: Equal to compare it.",
    "effect": "Write NoSchedule, PreferNoSchedule or NoExecute; tolerationSeconds go with NoExecute only.",
}


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Every problem of every toleration, at the field that has it."""
    written = review.pod_set.spec.get("tolerations")
    items = written if isinstance(written, list) else []
    for position, (toleration, item) in enumerate(zip(review.tolerations, items, strict=False)):
        if isinstance(item, Mapping) and "$patch" not in item:
            for field, message in problems(toleration):
                path = review.pod_set.place("tolerations", position, field)
                yield Violation(path, f"toleration refused: {message}", _ADVICE[field])


RULE = Rule(
    code="PK116",
    name="invalid-toleration",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
