"""A topology spread constraint is invalid or counts no pods.

The API server refuses two constraints with the same key and the same whenUnsatisfiable, and
minDomains without DoNotSchedule. It accepts a missing or empty labelSelector, which selects no
pods: the constraint then only requires the topology label on the node and spreads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        minDomains: 2
        labelSelector:
          matchLabels: {app: serve}
      containers:
      - name: main
        image: registry.example/serve:1
"""

GOOD = BAD.replace("ScheduleAnyway", "DoNotSchedule")

FIELD = "topologySpreadConstraints"
_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Source: `validateTopologySpreadConstraints` and the PodTopologySpread plugin (v1.36)."""
    listed = review.pod_set.spec.get(FIELD)
    seen: set[tuple[str, str]] = set()
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(one, Mapping):
            continue
        yield from _repeated(review, at, one, seen)
        when = one.get("whenUnsatisfiable")
        if one.get("minDomains") is not None and when == _SOFT:
            yield Violation(
                review.pod_set.place(FIELD, at, "minDomains"),
                f"whenUnsatisfiable is {_SOFT}, but minDomains requires {_HARD}",
                f"delete minDomains, or write whenUnsatisfiable: {_HARD}",
                key=True,
            )
        if not review.manifest.partial and _counts_nothing(one.get("labelSelector")):
            written = "labelSelector" in one
            yield Violation(
                review.pod_set.place(FIELD, at, *(("labelSelector",) if written else ())),
                f"the labelSelector is {'empty' if written else 'missing'}: the constraint counts no pods"
                " and spreads nothing",
                "select the pods to spread by a label of this template",
                Severity.WARNING,
                key=written,
            )


def _repeated(
    review: Review, at: int, one: Mapping[str, Any], seen: set[tuple[str, str]]
) -> Iterator[Violation]:
    key, when = one.get("topologyKey"), one.get("whenUnsatisfiable")
    if not isinstance(key, str) or not isinstance(when, str) or not key:
        return
    if (key, when) in seen:
        yield Violation(
            review.pod_set.place(FIELD, at, "topologyKey"),
            f"an earlier constraint also spreads by {key} with {when}, but only one is allowed",
            "delete one of the two constraints, or merge them",
        )
    seen.add((key, when))


def _counts_nothing(selector: object) -> bool:
    """Null, or without any label; PK004 reports wrong types."""
    if selector is None:
        return True
    parts = ("matchLabels", "matchExpressions")
    return isinstance(selector, Mapping) and not any(selector.get(part) for part in parts)


RULE = Rule(
    code="PK131",
    name="invalid-spread",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("topologySpreadConstraints",),
)
