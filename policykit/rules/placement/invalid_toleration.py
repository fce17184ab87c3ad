"""A toleration is invalid.

An empty key needs operator Exists, Exists takes no value, tolerationSeconds needs effect
NoExecute, and the operators Gt and Lt need a feature gate that is off by default. The API server
refuses every pod of the workload because of one invalid toleration.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.schema import Shape, shape_of
from policykit.kube.structure.values import label_problem
from policykit.kube.tolerations import ADVICE, COMPARISON, EFFECTS, problems
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
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

_OPERATORS = ("", "Equal", "Exists", "Gt", "Lt")
_SECONDS = "write effect: NoExecute, or delete tolerationSeconds"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports every invalid field of every toleration except placeholders."""
    written = review.pod_set.spec.get("tolerations")
    items = written if isinstance(written, list) else []
    shape = shape_of(review.manifest.api_version, review.manifest.kind)
    compared = context.cluster is not None and context.cluster.feature_gates.get(COMPARISON, False)
    for position, (toleration, item) in enumerate(zip(review.tolerations, items, strict=False)):
        if isinstance(item, dict) and "$patch" not in item:
            # One problem per field: the first is the one to fix.
            for field, message in dict(reversed(problems(toleration, comparison=compared))).items():
                path = review.pod_set.place("tolerations", position, field)
                text = getattr(toleration, field)
                if not is_placeholder(text) and not (shape and _is_schema_problem(shape, path, field, text)):
                    advice = _SECONDS if field == "effect" and not toleration.effect else ADVICE[field]
                    yield Violation(path, f"invalid toleration: {message}", advice)


def _is_schema_problem(shape: Shape, path: Path, field: str, text: str) -> bool:
    """Whether the check of the object's schema reports it: not an allowed value, or not a valid label."""
    if field == "effect":
        return bool(text) and text not in EFFECTS
    if field == "operator":
        return text not in _OPERATORS
    return label_problem(text, "key" if field == "key" else "value") is not None and _is_label(shape, path)


def _is_label(shape: Shape, path: Path) -> bool:
    """Whether the schema of the kind has a label key or value at this path."""
    found: Shape | None = shape
    for step in path:
        found = found and (found.field(step) if isinstance(step, str) else found.item())
    return found is not None and "x-kubernetes-label" in found.schema


RULE = Rule(
    code="PK116",
    name="invalid-toleration",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("toleration",),
)
