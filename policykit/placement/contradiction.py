"""Conditions on a node label that no single value can satisfy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policykit.kube.selectors import Requirement, int64, matches


def contradiction(
    selector: Mapping[str, str], expressions: Sequence[Requirement]
) -> tuple[int, Requirement] | None:
    """(position, earlier condition) of the first expression that contradicts the ones before it.

    The pairs of a nodeSelector apply to every term, so they come first. Invalid expressions are not
    checked here.
    """
    conditions = {key: [Requirement(key, "In", (value,))] for key, value in selector.items()}
    for at, expression in enumerate(expressions):
        earlier = conditions.setdefault(expression.key, [])
        if not _possible([*earlier, expression]) and earlier:
            alone = (one for one in earlier if not _possible([one, expression]))
            return at, next(alone, earlier[-1])
        earlier.append(expression)
    return None


def _possible(conditions: Sequence[Requirement]) -> bool:
    """Whether a node can satisfy all these conditions on one key."""
    absent = [one for one in conditions if one.operator == "DoesNotExist"]
    if absent:
        return all(one.operator in ("DoesNotExist", "NotIn") for one in conditions)
    for one in conditions:
        if one.operator == "In":
            return any(all(matches(c, {one.key: value}) for c in conditions) for value in one.values)
    above = [n for one in conditions if one.operator == "Gt" for n in _operand(one)]
    below = [n for one in conditions if one.operator == "Lt" for n in _operand(one)]
    return not above or not below or min(below) - max(above) > 1


def _operand(condition: Requirement) -> list[int]:
    number = int64(condition.values[0]) if condition.values else None
    return [] if number is None else [number]
