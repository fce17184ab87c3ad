"""A label or taint whose key or value has the wrong form.

Values are text of at most 63 characters. YAML reads an unquoted true, yes or 5 as a boolean
or a number, and the API server refuses the whole object.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.problem import INVALID_LABEL
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Structure
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  nodeSelector:
    nvidia.com/gpu.present: true
  containers:
  - name: main
    image: registry.example.com/infer:1.0
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  nodeSelector:
    nvidia.com/gpu.present: "true"
  containers:
  - name: main
    image: registry.example.com/infer:1.0
"""


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    for problem in structure.problems:
        if problem.kind == INVALID_LABEL:
            yield Violation(problem.path, problem.message, problem.help, key=problem.key)


RULE = Rule(
    code="PK006",
    name="invalid-label",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.SAFE,
)
