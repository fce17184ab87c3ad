"""a value of the wrong type, outside what is allowed, or missing

The API server refuses the object: text where a number belongs, a word no enum has, a
container without an image. null is as good as absent; a placeholder that another tool
fills in is never accused, and nothing is missing from a partial document.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.problem import BAD_VALUE, MISSING_FIELD, WRONG_TYPE
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Structure
from policykit.model.severity import Severity

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: infer
spec:
  replicas: "2"
  selector:
    matchLabels: {app: infer}
  template:
    metadata:
      labels: {app: infer}
    spec:
      containers:
      - name: main
        image: registry.example.com/infer:1.0
"""
GOOD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: infer
spec:
  replicas: 2
  selector:
    matchLabels: {app: infer}
  template:
    metadata:
      labels: {app: infer}
    spec:
      containers:
      - name: main
        image: registry.example.com/infer:1.0
"""

_KINDS = frozenset({BAD_VALUE, MISSING_FIELD, WRONG_TYPE})


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    partial = structure.manifest.partial
    for problem in structure.problems:
        if problem.kind in _KINDS and not (partial and problem.kind == MISSING_FIELD):
            yield Violation(problem.path, problem.message, problem.help, key=problem.key)


RULE = Rule(
    code="PK004",
    name="invalid-field",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
