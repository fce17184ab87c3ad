"""A suppression does not suppress any finding.

Its finding was fixed, or the suppression is in the wrong place. It would silently suppress the next
mistake of that rule. Only rules that this run could apply are considered: without a policy,
suppressions of rules that need one are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from policykit.errors import UsageError
from policykit.linter.registry import resolve
from policykit.linter.rule import Context, Fix, MakeFix, Rule, Violation
from policykit.linter.suppressions import (
    ANNOTATION,
    Annotation,
    Comment,
    Suppression,
    SuppressionUse,
    without,
)
from policykit.manifests.extents import Edit
from policykit.manifests.patch import Patch
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  containers:
  - name: main
    image: registry.example.com/infer:1.0
    resources:
      limits:
        nvidia.com/gpu: 1  # policykit: ignore[PK201] -- the webhook adds the request
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  containers:
  - name: main
    image: registry.example.com/infer:1.0
    resources:
      limits:
        nvidia.com/gpu: 1
"""
_FORM = "`# policykit: ignore[RULES] -- why` with rule codes or names"


def check(use: SuppressionUse, context: Context) -> Iterator[Violation]:
    suppression = use.suppression
    if suppression.expired:
        return
    if not suppression.directive.rules:
        yield Violation(suppression.span, *_unreadable(suppression))
        return
    unused = []
    for word in suppression.directive.rules:
        codes, hint = _codes(word)
        if not codes:
            yield Violation(suppression.span, f"unknown rule {word!r}: the suppression has no effect", hint)
        elif word not in use.matched and suppression.judged and codes <= use.checked:
            unused.append(word)
    if unused:
        have = "has" if len(unused) == 1 else "have"
        yield Violation(
            suppression.span,
            f"{' and '.join(unused)} {have} no finding {_where(suppression)}: the suppression has no effect",
            "remove it, so that it cannot suppress a future mistake",
            fix=_fix(suppression, unused),
        )


def _unreadable(suppression: Suppression) -> tuple[str, str]:
    if isinstance(suppression.place, Annotation):
        return (
            f"the annotation {ANNOTATION} names no rule, so it has no effect",
            "write rule codes or names, separated by commas",
        )
    return "this suppression names no valid rule, so it has no effect", f"write {_FORM}"


def _codes(word: str) -> tuple[set[str], str]:
    """Codes for a word, or a suggestion for a misspelt one."""
    from policykit.rules import CATALOGUE

    try:
        return resolve(CATALOGUE, [word]) if word != "ALL" else set(), ""
    except UsageError as error:
        if word == "until" or re.fullmatch(r"\d{4}-\d\d-\d\d", word):
            return set(), "write the date after the bracket: ignore[RULES] until 2030-12-31 -- why"
        return set(), error.hint


def _where(suppression: Suppression) -> str:
    if isinstance(suppression.place, Annotation):
        return "in this object"
    if suppression.whole:
        return "in this document"
    first, last = suppression.first, suppression.last
    return f"on line {first}" if first == last else f"on lines {first} to {last}"


def _fix(suppression: Suppression, unused: Collection[str]) -> MakeFix:
    whole = set(suppression.directive.rules) <= set(unused)
    what = "remove the suppression" if whole else f"remove {' and '.join(unused)} from the suppression"
    place = suppression.place

    def make() -> Fix:
        if isinstance(place, Annotation):
            return Fix(what, _patches(place, unused, whole), Applicability.SAFE)
        return Fix(what, (), Applicability.SAFE, (_edit(place, unused, whole),))

    return make


def _edit(comment: Comment, unused: Collection[str], whole: bool) -> Edit:
    if whole:
        return Edit(comment.start, comment.end, "")
    end = comment.names_start + len(comment.names)
    return Edit(comment.names_start, end, without(comment.names, unused))


def _patches(annotation: Annotation, unused: Collection[str], whole: bool) -> tuple[Patch, ...]:
    path = ("metadata", "annotations", ANNOTATION)
    if whole:
        return (Patch("remove", path[:2] if annotation.alone else path),)
    return (Patch("replace", path, without(annotation.text, unused)),)


RULE = Rule(
    code="PK903",
    name="unused-suppression",
    severity=Severity.WARNING,
    subject=SuppressionUse,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.SAFE,
)
