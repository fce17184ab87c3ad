"""Findings as JUnit XML: a suite per file, a failed case per finding, a passed case per clean file."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.escape import xml_text
from policykit.formats import FormatContext
from policykit.formats.findings import Group, grouped, message_lines, relative
from policykit.linter.finding import Finding, Report
from policykit.model.severity import Severity


def junit(report: Report, context: FormatContext) -> str:
    """Info findings are output of a passed case. Times are 0, because rules are not timed per file."""
    by_file: dict[str, list[Group]] = {path: [] for path in context.files}
    groups = grouped(report.findings, context.clusters)
    for group in groups:
        by_file.setdefault(group.finding.path, []).append(group)
    failed = sum(_fails(group.finding) for group in groups)
    cases = sum(max(1, len(found)) for found in by_file.values())
    head = f'<testsuites name="policykit" tests="{cases}" failures="{failed}" errors="0" time="0">'
    suites = [_suite(relative(path, context.root), by_file[path]) for path in sorted(by_file)]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", ""])


def _suite(path: str, groups: Sequence[Group]) -> str:
    failed = sum(_fails(group.finding) for group in groups)
    name = _attribute(path)
    tests = max(1, len(groups))
    lines = [f'  <testsuite name={name} tests="{tests}" failures="{failed}" errors="0" skipped="0" time="0">']
    if not groups:
        lines.append(f'    <testcase name="policykit" classname={name} file={name} time="0"/>')
    for group in groups:
        finding = group.finding
        line = finding.span.line
        case = _attribute(f"{finding.code} {finding.name} {line}:{finding.span.column}")
        body = "\n".join(map(xml_text, [*message_lines(finding), *group.lines()]))
        lines.append(f'    <testcase name={case} classname={name} file={name} line="{line}" time="0">')
        if _fails(finding):
            message, kind = _attribute(finding.message), _attribute(finding.severity.value)
            lines.append(f"      <failure message={message} type={kind}>{body}</failure>")
        else:
            lines.append(f"      <system-out>{body}</system-out>")
        lines.append("    </testcase>")
    return "\n".join([*lines, "  </testsuite>"])


def _fails(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _attribute(text: str) -> str:
    return f'"{xml_text(text)}"'
