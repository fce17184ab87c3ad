"""Reports that format tests print."""

from __future__ import annotations

from policykit.linter.finding import Finding, Report, Resource
from policykit.manifests.node import Span
from policykit.model.severity import Severity

JOB = Resource("batch/v1", "Job", None, "train")
FINDING = Finding(
    "apps/train.yaml",
    Span(24, 9, 24, 40),
    "PK101",
    "missing-toleration",
    Severity.ERROR,
    "nothing tolerates a: 1",
    "Add the toleration,\nor another one.",
    2,
    JOB,
    "/spec/template",
)
NOTE = Finding("b.yaml", Span(1, 1, 1, 2), "PK008", "unknown-api-kind", Severity.INFO, "no kind 节点")
REPORT = Report((FINDING, NOTE), files=3, documents=4, skipped=(("c.yaml", "a template"),), suppressed=1)
EMPTY = Report((), files=0, documents=0)
