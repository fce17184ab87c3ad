"""Settings of linting and generation."""

from __future__ import annotations

import posixpath
import re

from policykit.manifests.path import Path
from policykit.model.cluster import LintSettings
from policykit.policy.compile.draft import Draft

_RULE = re.compile(r"(PK[0-9]{1,3}|[a-z][a-z0-9]*(-[a-z0-9]+)*)\Z")


def compile_lint(draft: Draft) -> LintSettings:
    """The lint settings as written; the linter checks whether a rule exists."""
    lint = draft.policy.lint
    for part in ("select", "ignore"):
        for number, rule in enumerate(getattr(lint, part)):
            _check_rule(draft, ("lint", part, number), rule)
    for rule in lint.severity:
        _check_rule(draft, ("lint", "severity", rule), rule)
    for glob, rules in lint.per_path.items():
        for number, rule in enumerate(rules):
            _check_rule(draft, ("lint", "perPath", glob, number), rule)
    return LintSettings(
        lint.select,
        lint.ignore,
        dict(lint.severity),
        tuple(lint.per_path.items()),
        lint.exclude,
        lint.extra_plugins,
        lint.preset,
        lint.crds,
    )


def compile_output(draft: Draft) -> str:
    """The output folder, which must be the policy's own or one below it."""
    out = draft.policy.generate.out
    if posixpath.isabs(out):
        draft.problems.error(
            ("generate", "out"), f"out {out!r} is not relative to the policy", "use a relative path"
        )
    return posixpath.normpath(out) if out else ""


def _check_rule(draft: Draft, path: Path, rule: str) -> None:
    if not _RULE.match(rule):
        hint = "use PK101, missing-toleration, or a family such as PK1"
        key = isinstance(path[-1], str)
        draft.problems.error(path, f"{rule!r} is not a rule name", hint, key=key)
