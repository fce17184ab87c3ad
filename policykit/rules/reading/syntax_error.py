"""Text that is not YAML or JSON.

Nothing in such a document is read: kubectl, GitOps tools and policykit stop there. The
place and the likely cause are given; the rest of the file is still looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule
from policykit.linter.subjects import Reading, TextViolation
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


def check(reading: Reading, context: Context) -> Iterator[TextViolation]:
    problem = reading.parsed.problem
    if problem:
        # Only a broken file pays for the search for the cause.
        from policykit.manifests.syntax import explain

        cause = explain(reading.text, problem, reading.parsed.start_line)
        yield TextViolation(cause.span, cause.message, cause.help)


RULE = Rule(
    code="PK001",
    name="syntax-error",
    severity=Severity.ERROR,
    subject=Reading,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
