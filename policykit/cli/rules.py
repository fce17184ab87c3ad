"""`policykit rules`: every rule, as a table or as JSON."""

from __future__ import annotations

import json

import click

from policykit.cli.output import emit
from policykit.linter.rule import AnyRule
from policykit.rules import rules


@click.command("rules")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(format_: str) -> int:
    """List all rules."""
    emit(_json() if format_ == "json" else _table())
    return 0


def _table() -> str:
    width = max(len(rule.name) for rule in rules())
    lines = [
        f"{rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {_marks(rule)}  {first_line(rule)}"
        for rule in rules()
    ]
    return "\n".join([*lines, "", *_LEGEND, ""])


_LEGEND = (
    "P: needs a policy; S, U: has a safe, an unsafe fix; O: off unless selected by code or name",
    "Presets: minimal: errors; recommended: errors, warnings and info; strict: also rules marked O and"
    " preview rules",
    "`policykit explain RULE` shows a rule's documentation",
)


def _json() -> str:
    entries = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity.value,
            "needs_policy": rule.needs_policy,
            "fix": rule.fix.value if rule.fix else None,
            "summary": first_line(rule),
            "since": rule.since,
            "preview": rule.preview,
            "on_request": rule.on_request,
        }
        for rule in rules()
    ]
    return json.dumps({"schema_version": 1, "rules": entries}, indent=2) + "\n"


def first_line(rule: AnyRule) -> str:
    """The rule in one line: the mistake it finds."""
    return rule.doc.strip().split("\n", 1)[0]


def _marks(rule: AnyRule) -> str:
    fix = {"safe": "S", "unsafe": "U"}[rule.fix.value] if rule.fix else "-"
    return f"{'P' if rule.needs_policy else '-'}{fix}{'O' if rule.on_request else '-'}"
