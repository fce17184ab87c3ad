"""A suppression that hides nothing.

What it was written for has gone, or never stood where it stands. It stays behind and hides the
next mistake of that rule before anybody has seen it. Only what this run could have found counts: a
rule that needs a policy says nothing without one, so neither does this one about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from policykit.errors import UsageError
from policykit.linter.asked import without
from policykit.linter.rule import Context, Fix, MakeFix, Rule
from policykit.linter.selection import resolve
from policykit.linter.subjects import SuppressionViolation
from policykit.linter.suppression import ANNOTATION, Annotation, Comment, Suppressed, Suppression
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
_FORM = "`# policykit: ignore[RULES] -- why`, with codes or names of rules"


def check(asked: Suppressed, context: Context) -> Iterator[SuppressionViolation]:
    suppression = asked.suppression
    if suppression.expired:
        return
    if not suppression.asked.rules:
        yield SuppressionViolation(*_unreadable(suppression))
        return
    unused = []
    for word in suppression.asked.rules:
        codes, hint = _meant(word)
        if not codes:
            yield SuppressionViolation(f"no rule is called {word!r}: its suppression hides nothing", hint)
        elif word not in asked.hid and suppression.judged and codes <= asked.able:
            unused.append(word)
    if unused:
        have = "has" if len(unused) == 1 else "have"
        yield SuppressionViolation(
            f"{' and '.join(unused)} {have} no finding {_where(suppression)}, so there is nothing to hide",
            "remove it, or it hides the next such mistake before anybody sees it",
            _fix(suppression, unused),
        )


def _unreadable(suppression: Suppression) -> tuple[str, str]:
    if isinstance(suppression.place, Annotation):
        return (
            f"the annotation {ANNOTATION} names no rule, so it hides nothing",
            "write codes or names of rules, separated by commas",
        )
    return "this names no rule that can be read, so it hides nothing", f"write {_FORM}"


def _meant(word: str) -> tuple[set[str], str]:
    """Codes that a word names, or what comes nearest to it."""
    from policykit.rules import CATALOGUE

    try:
        return resolve(CATALOGUE, [word]) if word != "ALL" else set(), ""
    except UsageError as error:
        return set(), error.hint


def _where(suppression: Suppression) -> str:
    if isinstance(suppression.place, Annotation):
        return "in this object"
    if suppression.whole:
        return "in this document"
    first, last = suppression.first, suppression.last
    return f"on line {first}" if first == last else f"on lines {first} to {last}"


def _fix(suppression: Suppression, unused: Collection[str]) -> MakeFix:
    whole = set(suppression.asked.rules) <= set(unused)
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
    subject=Suppressed,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.SAFE,
)
