"""Taints and tolerations: reading, matching, validation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.selectors import int64
from policykit.model.pool import Taint, Toleration

FIELDS = frozenset({"key", "operator", "value", "effect", "tolerationSeconds"})
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
ADVICE = {
    "key": "write the key of the taint, as `kubectl describe node` shows it",
    "operator": "write operator: Exists to match any value, or Equal with the taint's value",
    "value": "delete the value, or write operator: Equal to compare it",
    "effect": "write NoSchedule, PreferNoSchedule or NoExecute; tolerationSeconds requires NoExecute",
}
"""What to do about a field that `problems` names."""
MALFORMED = Toleration(operator="(malformed)")
"""A list item that is not a toleration: it tolerates nothing."""
COMPARISON = "TaintTolerationComparisonOperators"
_CANONICAL = re.compile(r"(?:0|-?[1-9][0-9]*)\Z")


def read(raw: object) -> tuple[Toleration, ...]:
    """A tolerations list, one Toleration per item; another shape has none."""
    return tuple(_toleration(item) for item in raw) if isinstance(raw, list) else ()


def _toleration(raw: object) -> Toleration:
    fields = _texts(raw, ("key", "operator", "value", "effect"))
    if fields is None or not isinstance(raw, dict):
        return MALFORMED
    key, operator, value, effect = fields
    seconds = raw.get("tolerationSeconds")
    counted = isinstance(seconds, int) and not isinstance(seconds, bool)
    return Toleration(key, operator, value, effect, seconds if counted else None)


def of_resources(names: Iterable[str]) -> tuple[Toleration, ...]:
    """What the admission plugin ExtendedResourceToleration adds to pods that request these resources."""
    return tuple(Toleration(name, "Exists", "", "NoSchedule") for name in sorted(names) if "/" in name)


def read_taints(raw: object) -> tuple[Taint, ...]:
    """A Node's spec.taints, one Taint per item; malformed items have neither key nor effect."""
    if not isinstance(raw, list):
        return ()
    return tuple(Taint(*(_texts(item, ("key", "value", "effect")) or ("", "", ""))) for item in raw)


def _texts(raw: object, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Text fields, with null and absent as empty; None: one has another type."""
    if not isinstance(raw, dict):
        return None
    values = tuple(["" if (value := raw.get(name)) is None else value for name in names])
    return values if {*map(type, values)} == {str} else None


def to_dict(toleration: Toleration) -> dict[str, Any]:
    """The form in a manifest, without empty fields."""
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
    }
    written: dict[str, Any] = {name: text for name, text in fields.items() if text}
    if toleration.seconds is not None:
        written["tolerationSeconds"] = toleration.seconds
    return written


def tolerates(toleration: Toleration, taint: Taint, *, comparison: bool = False) -> bool:
    """Whether a toleration tolerates a taint, including invalid ones.

    `comparison` is the feature gate TaintTolerationComparisonOperators (alpha, off since
    1.35). Source: `Toleration.ToleratesTaint` in api `core/v1` (v0.36).
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    operator = toleration.operator
    if operator == "Exists":
        return True
    if operator in ("", "Equal"):
        return toleration.value == taint.value
    if operator in ("Gt", "Lt") and comparison:
        asked, there = _number(toleration.value), _number(taint.value)
        if asked is not None and there is not None:
            return there > asked if operator == "Gt" else there < asked
    return False


def _number(text: str) -> int | None:
    return int64(text) if _CANONICAL.match(text) else None


def untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], *, comparison: bool = False
) -> Taint | None:
    """The first NoSchedule or NoExecute taint that is not tolerated: the TaintToleration filter."""
    for taint in taints:
        if taint.hard and not any(tolerates(t, taint, comparison=comparison) for t in tolerations):
            return taint
    return None


def covers(a: Toleration, b: Toleration) -> bool:
    """Whether `a` makes `b` redundant: it tolerates everything `b` does, for at least as long.

    As upstream, an Equal `a` covers only tolerations with an explicit Equal. Source:
    kubernetes `pkg/util/tolerations` isSuperset (v1.36).
    """
    if a == b:
        return True
    if a.key != b.key and (a.key or a.operator != "Exists"):
        return False
    if a.effect not in ("", b.effect):
        return False
    if a.effect == "NoExecute" and a.seconds is not None and (b.seconds is None or b.seconds > a.seconds):
        return False
    if a.operator == "Exists":
        return True
    return a.operator in ("", "Equal") and b.operator == "Equal" and a.value == b.value


def problems(toleration: Toleration, *, comparison: bool = False) -> tuple[tuple[str, str], ...]:
    """Why the API server rejects a toleration: (field, message). Empty for MALFORMED.

    Source: `ValidateTolerations` in kubernetes `pkg/apis/core/validation` (v1.36).
    """
    if toleration is MALFORMED:
        return ()
    found: list[tuple[str, str]] = []
    key, operator, effect = toleration.key, toleration.operator, toleration.effect
    if key and (problem := label_key_problem(key)):
        found.append(("key", f"key {key!r} {problem}"))
    if not key and operator != "Exists":
        found.append(("operator", f"operator is {operator or 'Equal'!r}, an empty key needs 'Exists'"))
    if toleration.seconds is not None and effect != "NoExecute":
        written = repr(effect) if effect else "empty"
        found.append(("effect", f"effect is {written}, tolerationSeconds needs 'NoExecute'"))
    found.extend(_value_problems(toleration, comparison))
    if effect and effect not in EFFECTS:
        found.append(("effect", f"effect {effect!r} is not one of {', '.join(EFFECTS)}"))
    return tuple(found)


def _value_problems(toleration: Toleration, comparison: bool) -> Iterable[tuple[str, str]]:
    operator, value = toleration.operator, toleration.value
    if operator in ("", "Equal"):
        if problem := label_value_problem(value):
            yield "value", f"value {value!r} {problem}"
    elif operator == "Exists":
        if value:
            yield "value", f"value is {value!r}, operator 'Exists' takes no value"
    elif operator not in ("Gt", "Lt"):
        yield "operator", f"operator {operator!r} is neither 'Exists' nor 'Equal'"
    elif not comparison:
        yield "operator", f"operator {operator!r} needs the feature gate {COMPARISON}, off by default"
    elif _number(value) is None:
        yield (
            "value",
            f"value {value!r} is not a 64-bit whole number without leading zeros, as {operator} needs",
        )
