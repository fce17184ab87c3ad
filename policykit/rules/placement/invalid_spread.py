"""A topology spread constraint that is refused, or that counts no pods.

Two constraints of one key and one whenUnsatisfiable are refused, and so is minDomains without
DoNotSchedule. A labelSelector that is missing or empty is accepted and selects no pod: the
constraint then asks for the topology label on the node and spreads nothing.
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
                f"minDomains is refused with whenUnsatisfiable {_SOFT}: it takes {_HARD}",
                f"delete minDomains, or write whenUnsatisfiable: {_HARD}",
                key=True,
            )
        if not review.manifest.partial and _counts_nothing(one.get("labelSelector")):
            written = "labelSelector" in one
            yield Violation(
                review.pod_set.place(FIELD, at, *(("labelSelector",) if written else ())),
                f"the labelSelector is {'empty' if written else 'missing'}: the constraint counts no pods"
                " and spreads nothing",
                "select the pods that are to be spread, by a label of this template",
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
            f"an earlier constraint spreads by {key} with {when} already: a pod takes one of them only",
            "delete one of the two constraints, or put them together",
        )
    seen.add((key, when))


def _counts_nothing(selector: object) -> bool:
    """Null, or without any label; another shape is PK004's."""
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
)
