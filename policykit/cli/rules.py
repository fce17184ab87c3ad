"""`policykit rules` lists all rules; `policykit explain` prints the documentation of one."""

from __future__ import annotations

import inspect
import json
import textwrap

from policykit.cli import click, completion
from policykit.cli.options import format_option
from policykit.cli.output import write_output
from policykit.errors import UsageError
from policykit.linter.registry import resolve
from policykit.linter.rule import AnyRule, DeclaredPolicy, GeneratedFile, StaleEntry
from policykit.linter.suppressions import SuppressionUse
from policykit.model.severity import Applicability
from policykit.rules import rules


@click.command("rules")
@format_option
def list_rules(format_: str) -> int:
    """List all rules."""
    write_output(_json() if format_ == "json" else _table())
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


@click.command("explain")
@click.argument("rule", shell_complete=completion.rule_names)
def explain(rule: str) -> int:
    """Print a rule's documentation: what it finds, why it matters, a bad and a good example."""
    codes = resolve(rules(), [rule])
    named = [known for known in rules() if known.code in codes]
    if len({known.name for known in named}) != 1:
        raise UsageError(f"{rule} matches {len(codes)} rules", "give the code or the name of one rule")
    write_output("\n".join(page(known) for known in named))
    return 0


_FIX = {
    None: "no fix",
    Applicability.SAFE: "fixed by --fix where the fix is proven safe",
    Applicability.UNSAFE: "fixed by --unsafe-fixes",
}


def page(rule: AnyRule) -> str:
    """A rule's documentation as plain text."""
    fix = _FIX[rule.fix]
    policy = "needs a policy" if rule.needs_policy else "works without a policy"
    policy = (
        "about the policy and what it generates"
        if rule.subject in (DeclaredPolicy, GeneratedFile)
        else policy
    )
    off = ", off unless selected by code or name, or by preset strict" if rule.on_request else ""
    parts = [
        f"{rule.code} {rule.name}",
        f"{rule.severity.value}, {policy}, {fix}, since {rule.since}{off}",
        "",
        inspect.cleandoc(rule.doc),
        "",
        "Bad:",
        "",
        textwrap.indent(rule.bad.strip("\n"), "    "),
        "",
        "Good:",
        "",
        textwrap.indent(rule.good.strip("\n"), "    "),
        "",
        "Options:",
        "",
        *(f"    {option}" for option in _options(rule)),
        "",
        *_silencing(rule),
        "",
    ]
    return "\n".join(parts)


def _options(rule: AnyRule) -> list[str]:
    return [*rule.options, f"lint: {{severity: {{{rule.code}: info}}}} changes its severity"]


def _silencing(rule: AnyRule) -> list[str]:
    everywhere = f"everywhere with `lint: {{ignore: [{rule.code}]}}` in the policy."
    if rule.subject in (SuppressionUse, StaleEntry, GeneratedFile):
        return [f"Silence it {everywhere}"]
    if rule.subject is DeclaredPolicy:
        return [
            f"Silence it on one line of the policy with `# policykit: ignore[{rule.name}] -- why`,",
            everywhere,
        ]
    return [
        f"Silence it on one line with `# policykit: ignore[{rule.name}] -- why`,",
        f"for one object with the annotation `policykit.io/ignore: {rule.code} -- why`,",
        everywhere,
    ]
