"""Reports that format tests print."""

from __future__ import annotations

from policykit.formats import FormatContext
from policykit.linter.finding import Finding, Report, Resource, TextFix
from policykit.manifests.extents import Edit
from policykit.manifests.node import Span
from policykit.model.severity import Applicability, Severity

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

TEXT = "\ufeff名: 节点\r\nkind: Job\r\n"
"""A file with a byte order mark, Chinese and Windows line endings."""
FIX = TextFix(Applicability.SAFE, "write Pod", (Edit(22, 25, "Pod"),))
FIXED = Finding(
    "apps/名.yaml",
    Span(2, 7, 2, 10),
    "PK206",
    "quota-key-never-counted",
    Severity.WARNING,
    "50% of 'Job', it says: never",
    fix=FIX,
)
CONTEXT = FormatContext(
    lambda path: TEXT.encode() if path == FIXED.path else b"", "", ("apps/train.yaml", "b.yaml")
)
MIXED = Report((FINDING, FIXED, NOTE), files=3, documents=4)
