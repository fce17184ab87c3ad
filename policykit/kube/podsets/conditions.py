"""Conditions of the kinds table for one match of a template."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policykit.kube.podsets.facts import Condition
from policykit.kube.podsets.walk import Binding


def hold(conditions: Iterable[Condition], data: Any, binding: Binding) -> bool:
    """Whether all conditions hold; true for an empty list."""
    return all(_holds(condition, data, binding) for condition in conditions)


def _holds(condition: Condition, data: Any, binding: Binding) -> bool:
    if condition.any_of:
        return any(binding.value(data, path) is not None for path in condition.any_of)
    if condition.target is not None:
        return bool(binding.value(data, condition.target.place) == condition.target.wanted)
    found = binding.value(data, condition.path)
    if condition.exists is not None:
        return (found is not None) == condition.exists
    if found is None:
        found = condition.default
    return any(type(found) is type(one) and found == one for one in condition.allowed or ())
