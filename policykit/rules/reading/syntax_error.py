"""A document is not valid YAML or JSON.

kubectl, GitOps tools and policykit cannot read such a document. The finding gives the location and
the likely cause; the other documents of the file are still checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, SourceDocument, Violation
from policykit.model.severity import Severity

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  tasks:
  - name: worker
      replicas: 4
"""
GOOD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  tasks:
  - name: worker
    replicas: 4
"""


def check(reading: SourceDocument, context: Context) -> Iterator[Violation]:
    problem = reading.parsed.problem
    if problem:
        # The search for the cause is loaded only for invalid files.
        from policykit.manifests.syntax import explain

        cause = explain(reading.text, problem, reading.parsed.start_line)
        yield Violation(cause.span, cause.message, cause.help)


RULE = Rule(
    code="PK001",
    name="syntax-error",
    severity=Severity.ERROR,
    subject=SourceDocument,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
