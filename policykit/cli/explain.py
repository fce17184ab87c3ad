"""`policykit explain RULE`: the rule's page."""

from __future__ import annotations

import inspect
import textwrap

import click

from policykit.cli.output import emit
from policykit.errors import UsageError
from policykit.linter.rule import AnyRule
from policykit.linter.selection import resolve
from policykit.linter.subjects import StaleEntry
from policykit.linter.suppression import Suppressed
from policykit.model.severity import Applicability
from policykit.rules import rules


@click.command("explain")
@click.argument("rule")
def command(rule: str) -> int:
    """Print a rule's page: what it finds, why that hurts, an example and the same mended."""
    codes = resolve(rules(), [rule])
    if len(codes) != 1:
        raise UsageError(f"{rule} names {len(codes)} rules", "name one, by its code or its name")
    emit(page(next(r for r in rules() if r.code in codes)))
    return 0


_FIX = {
    None: "no fix",
    Applicability.SAFE: "fixed by --fix where that is proven safe",
    Applicability.UNSAFE: "fixed by --unsafe-fixes",
}


def page(rule: AnyRule) -> str:
    """The page as plain text."""
    fix = _FIX[rule.fix]
    policy = "needs a policy" if rule.needs_policy else "works without a policy"
    off = ", off unless its code or name is selected" if rule.on_request else ""
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
        *_silencing(rule),
        "",
    ]
    return "\n".join(parts)


def _silencing(rule: AnyRule) -> list[str]:
    everywhere = f"everywhere with `lint: {{ignore: [{rule.code}]}}` in the policy."
    if rule.subject in (Suppressed, StaleEntry):
        return [f"Silence it {everywhere}"]
    return [
        f"Silence it on one line with `# policykit: ignore[{rule.name}] -- why`,",
        f"for one object with the annotation `policykit.io/ignore: {rule.code} -- why`,",
        everywhere,
    ]
