"""A key that stands twice in one mapping.

The API server refuses such a document under strict validation; everything else silently
takes the last of the two, so half of what was written has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule
from policykit.linter.subjects import Reading, TextViolation
from policykit.manifests.node import Node, Span
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
  labels:
    app: infer
spec:
  nodeSelector:
    maip.mxsf.io/node.usage: inference
  containers:
  - name: main
    image: registry.example.com/infer:1.0
  nodeSelector:
    kubernetes.io/arch: amd64
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
  labels:
    app: infer
spec:
  nodeSelector:
    maip.mxsf.io/node.usage: inference
    kubernetes.io/arch: amd64
  containers:
  - name: main
    image: registry.example.com/infer:1.0
"""


def check(reading: Reading, context: Context) -> Iterator[TextViolation]:
    for key, node, first in reading.parsed.duplicates:
        yield TextViolation(
            _span(node),
            f"the key `{key}` stands here and at line {first.start.line + 1} of the same mapping",
            "keep one of the two, or join what stands below them",
        )


def _span(node: Node) -> Span:
    start, end = node.start, node.end
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


RULE = Rule(
    code="PK002",
    name="duplicate-key",
    severity=Severity.ERROR,
    subject=Reading,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
