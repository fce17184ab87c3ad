"""`policykit explain RULE`: the rule's documentation."""

from __future__ import annotations

import inspect
import textwrap

import click

from policykit.cli.output import emit
from policykit.errors import UsageError
from policykit.linter.rule import AnyRule
from policykit.linter.selection import resolve
from policykit.linter.subjects import DeclaredPolicy, GeneratedFile, StaleEntry
from policykit.linter.suppressions import SuppressionUse
from policykit.model.severity import Applicability
from policykit.rules import rules


@click.command("explain")
@click.argument("rule")
def command(rule: str) -> int:
    """Print a rule's documentation: what it finds, why it matters, a bad and a good example."""
    codes = resolve(rules(), [rule])
    named = [known for known in rules() if known.code in codes]
    if len({known.name for known in named}) != 1:
        raise UsageError(f"{rule} matches {len(codes)} rules", "give the code or the name of one rule")
    emit("\n".join(page(known) for known in named))
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
