"""Requirements on labels and fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.placeholders import is_placeholder
from policykit.manifests.shape import pairs
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.colocation import Requirements

_INT = re.compile(r"([+-]?)0*([0-9]{1,19})\Z")
_INT64 = 1 << 63


class Requirement(NamedTuple):
    """One expression: In, NotIn, Exists, DoesNotExist, and on nodes Gt and Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(filter(None, (self.key, self.operator, ", ".join(self.values))))


MALFORMED = Requirement("", "")
"""An item that is not a requirement: never valid, never matches."""


def read(raw: object) -> Requirement:
    """One item of a matchExpressions or matchFields list; MALFORMED for another shape.

    A number or boolean that should be in quotes is read as its text: the API server refuses it,
    and what else is wrong with the expression does not follow from that.
    """
    if not isinstance(raw, dict):
        return MALFORMED
    key, operator, values = raw.get("key") or "", raw.get("operator") or "", raw.get("values") or ()
    if not (isinstance(key, str) and isinstance(operator, str) and isinstance(values, (list, tuple))):
        return MALFORMED
    if not all(isinstance(value, (str, int)) for value in values):
        return MALFORMED
    return Requirement(key, operator, tuple(_text(value) for value in values))


def _text(value: str | int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def read_all(raw: object) -> tuple[Requirement, ...]:
    """A list of expressions, one Requirement per item; another shape has none."""
    return tuple(read(item) for item in raw) if isinstance(raw, list) else ()


def of_labels(selector: object) -> Requirements:
    """The valid requirements of a LabelSelector, as facts have them."""
    if not isinstance(selector, dict):
        return ()
    labels = [Requirement(key, "In", (value,)) for key, value in pairs(selector.get("matchLabels")).items()]
    valid = (each for each in read_all(selector.get("matchExpressions")) if not problem(each))
    return tuple((each.key, each.operator, each.values) for each in (*labels, *valid))


def problem(requirement: Requirement) -> str:
    """Why a requirement is invalid for the scheduler, as a predicate; empty: it is valid.

    A requirement that cannot be built drops its whole term, silently. Source: apimachinery
    `labels.NewRequirement` (v1.36).
    """
    if requirement.operator in ("Gt", "Lt") and len(requirement.values) == 1:
        operand = requirement.values[0]
        if int64(operand) is None:
            return f"compares with {operand!r}, which is not a whole number"
    return (
        operands_problem(requirement) or _key_problem(requirement.key) or values_problem(requirement.values)
    )


def operands_problem(requirement: Requirement) -> str:
    """Whether the operator is known and has the right number of values."""
    operator, values = requirement.operator, requirement.values
    if operator in ("In", "NotIn"):
        return "" if values else f"has operator {operator} without values"
    if operator in ("Exists", "DoesNotExist"):
        return f"has operator {operator}, which takes no values, and values" if values else ""
    if operator in ("Gt", "Lt"):
        return "" if len(values) == 1 else f"has operator {operator} with {len(values)} values, it takes one"
    return f"has operator {operator!r}, known are In, NotIn, Exists, DoesNotExist, Gt, Lt"


def values_problem(values: tuple[str, ...]) -> str:
    """The first value that is not a valid label value."""
    for value in values:
        if trouble := label_value_problem(value):
            return f"has the value {value!r}, which {trouble}"
    return ""


def _key_problem(key: str) -> str:
    trouble = label_key_problem(key)
    return f"has the key {key!r}, which {trouble}" if trouble else ""


def matches(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Whether labels meet a valid requirement; see `problem` for invalid ones."""
    operator, there = requirement.operator, labels.get(requirement.key)
    if operator == "In":
        return there in requirement.values
    if operator == "NotIn":
        return there not in requirement.values
    if operator == "Exists":
        return there is not None
    if operator == "DoesNotExist":
        return there is None
    if operator in ("Gt", "Lt") and there is not None and len(requirement.values) == 1:
        return _compares(operator, int64(there), int64(requirement.values[0]))
    return False


def _compares(operator: str, left: int | None, right: int | None) -> bool:
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


def int64(text: str) -> int | None:
    """Base-10 number as Go's ParseInt(text, 10, 64) reads it: sign and leading zeros allowed."""
    match = _INT.match(text)
    if match is None:
        return None
    number = int(match[1] + match[2])
    return number if -_INT64 <= number < _INT64 else None


def may_meet(wanted: Requirements, labels: Mapping[str, str]) -> bool:
    """Whether labels meet all requirements, once what is to be filled in is filled in."""
    return not unmet((Requirement(*each) for each in wanted), (labels,))


def unmet(wanted: Iterable[Requirement], labels: Sequence[Mapping[str, str]]) -> str:
    """The first requirement that none of several objects of one name meets; empty: there is none. What is to
    be filled in may be met."""
    for each in wanted:
        written = [each.key, *each.values, *(own.get(each.key, "") for own in labels)]
        if any(map(is_placeholder, written)) or any(matches(each, own) for own in labels):
            continue
        single = each.operator == "In" and len(each.values) == 1
        return f"{each.key}={each.values[0]}" if single else str(each)
    return ""
