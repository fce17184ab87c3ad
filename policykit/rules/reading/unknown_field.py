"""A field that its API kind does not have.

The API server refuses it under strict validation and drops it otherwise: what it says never
takes effect. The usual cause is indentation: a block that stands beside the field it belongs
under leaves that field empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.problem import UNKNOWN_FIELD
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.subjects import Structure
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: app
  labels:
  queue: root.research
spec:
  containers:
  - name: main
    image: registry.example.com/app:1.0
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: app
  labels:
    queue: root.research
spec:
  containers:
  - name: main
    image: registry.example.com/app:1.0
"""


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    for problem in structure.problems:
        if problem.kind == UNKNOWN_FIELD:
            yield Violation(problem.path, problem.message, problem.help, key=problem.key)


RULE = Rule(
    code="PK003",
    name="unknown-field",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
)
