"""Findings as types of the Language Server Protocol (3.17)."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

from lsprotocol import types

from policykit.errors import PolicykitError
from policykit.escape import one_line
from policykit.formats.findings import SourceFiles, message_lines
from policykit.linter.finding import Finding
from policykit.linter.rule import AnyRule
from policykit.model.severity import Applicability, Severity

SOURCE = "policykit"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def knows_versions(client: types.ClientCapabilities) -> bool:
    """Whether a client supports versions of texts in diagnostics."""
    documents = client.text_document
    diagnostics = documents.publish_diagnostics if documents else None
    return bool(diagnostics and diagnostics.version_support)


class Text:
    """An open text; clients count its columns in UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._files = SourceFiles(lambda _: text.encode("utf-8", errors="surrogatepass"))

    def position(self, line: int, column: int) -> types.Position:
        """The position of a line and column, from 1 and in code points."""
        line = min(line, len(self._lines))
        before = self._lines[line - 1][: column - 1]
        return types.Position(line - 1, len(before.encode("utf-16-le", errors="surrogatepass")) // 2)

    def range(self, finding: Finding) -> types.Range:
        """The range of a finding."""
        span = finding.span
        return types.Range(
            self.position(span.line, span.column), self.position(span.end_line, span.end_column)
        )

    def at(self, offset: int) -> types.Position:
        """The position of an offset in bytes."""
        return self.position(*self._files.line_and_column("", offset))


def diagnostic(finding: Finding, text: Text) -> types.Diagnostic:
    """A finding as a diagnostic."""
    message = "\n".join(map(one_line, message_lines(finding)))
    return types.Diagnostic(
        text.range(finding), message, _SEVERITIES[finding.severity], finding.code, source=SOURCE
    )


def policy_error(error: PolicykitError, text: Text) -> types.Diagnostic:
    """An error in a policy as a diagnostic of its own text."""
    _, line, column = (*error.place.rsplit(":", 2), "1", "1")[:3]
    start = text.position(int(line), int(column))
    message = "\n".join(map(one_line, filter(None, (error.message, error.hint))))
    end = types.Position(start.line, start.character + 1)
    return types.Diagnostic(types.Range(start, end), message, types.DiagnosticSeverity.Error, source=SOURCE)


def actions(uri: str, findings: Iterable[Finding], text: Text) -> list[types.CodeAction]:
    """A quick fix for each finding that has one; a safe fix is marked as preferred."""
    found = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits:
            continue
        safe = fix.applicability is Applicability.SAFE
        edits = [types.TextEdit(types.Range(text.at(e.start), text.at(e.end)), e.text) for e in fix.edits]
        title = one_line(f"{finding.code}: {fix.description}" + ("" if safe else " (unsafe)"))
        found.append(
            types.CodeAction(
                title,
                types.CodeActionKind.QuickFix,
                [diagnostic(finding, text)],
                is_preferred=safe,
                edit=types.WorkspaceEdit(changes={uri: edits}),
            )
        )
    return found


def documentation(rules: Sequence[AnyRule]) -> str:
    """The documentation of rules as Markdown."""
    parts = []
    for rule in rules:
        parts += [
            f"**{rule.code} {rule.name}**",
            inspect.cleandoc(rule.doc),
            f"Bad:\n```yaml\n{rule.bad}```",
            f"Good:\n```yaml\n{rule.good}```",
        ]
    return "\n\n".join(parts)


def covers(area: types.Range, position: types.Position) -> bool:
    """Whether a range includes a position; its end counts."""
    start, end, at = ((p.line, p.character) for p in (area.start, area.end, position))
    return start <= at <= end


def overlap(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges have a position in common."""
    return covers(one, other.start) or covers(other, one.start)
