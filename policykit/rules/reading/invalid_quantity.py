"""An amount is not a valid Kubernetes quantity, less than a byte, or a million processors.

Suffixes are case-sensitive and follow the number directly: k, M, G, T and Ki, Mi, Gi, Ti, but not GB
or gi. The API server refuses anything else. `m` is a thousandth: of memory or storage that is a
warning, since 64m is less than a byte; so is Mi or M of cpu, since 100Mi is a hundred million processors,
and memory without a suffix, since 256 is so many bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.problem import INVALID_QUANTITY
from policykit.linter.rule import Context, Rule, Structure, Violation, violation_of
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: main
    image: registry.example.com/train:1.0
    resources:
      requests:
        memory: 16GB
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: main
    image: registry.example.com/train:1.0
    resources:
      requests:
        memory: 16Gi
"""


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    for problem in structure.problems:
        if problem.kind == INVALID_QUANTITY:
            yield violation_of(problem)


RULE = Rule(
    code="PK005",
    name="invalid-quantity",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
