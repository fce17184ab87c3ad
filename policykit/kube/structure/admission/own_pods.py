"""The labels that a controller of apps/v1 selects, and those that its pods have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem

_SELECTOR: Path = ("spec", "selector", "matchLabels")
_LABELS: Path = ("spec", "template", "metadata", "labels")


def selected(data: dict[str, Any]) -> Iterator[Problem]:
    """What the selector asks for and the template lacks."""
    yield from _labelled(data)
    yield from _expressed(data)


def _labelled(data: dict[str, Any]) -> Iterator[Problem]:
    wanted, labels = lookup(data, _SELECTOR), lookup(data, _LABELS)
    if not isinstance(wanted, dict) or not isinstance(labels, dict) or not labels:
        return  # a kustomization may give the pods all their labels
    if any(is_placeholder(key) for key in labels):
        return
    for key, value in wanted.items():
        there = labels.get(key)
        if not isinstance(value, str) or is_placeholder(value) or is_placeholder(key) or there == value:
            continue
        if key in labels and (not isinstance(there, str) or is_placeholder(there)):
            continue
        from policykit.manifests.writer import scalar

        place = (*_SELECTOR, key)
        pods = f'"{there}"' if key in labels else "no such label"
        yield Problem(
            place,
            f'{dotted(place)} is "{value}", but its own pods have {pods}',
            f"write {key}: {scalar(value)} in {dotted(_LABELS)}, or select the existing label",
            kind=INCONSISTENT,
        )


def _expressed(data: dict[str, Any]) -> Iterator[Problem]:
    """matchExpressions of a controller's selector must match its own pods."""
    listed, labels = lookup(data, (*_SELECTOR[:-1], "matchExpressions")), lookup(data, _LABELS)
    if not isinstance(listed, list) or not isinstance(labels, dict) or not labels:
        return
    if any(is_placeholder(each) or not isinstance(each, str) for pair in labels.items() for each in pair):
        return
    for position, wanted in enumerate(listed):
        if isinstance(wanted, dict) and not _meets(labels, wanted):
            place = (*_SELECTOR[:-1], "matchExpressions", position)
            key = wanted["key"]
            pods = f'"{labels[key]}"' if key in labels else "no such label"
            message = f"{dotted(place)} requires {key} {wanted['operator']}, but its own pods have {pods}"
            yield Problem(
                place, message, f"give the pods such a label in {dotted(_LABELS)}", kind=INCONSISTENT
            )


def _meets(labels: dict[str, str], wanted: dict[str, Any]) -> bool:
    """True also if it cannot be decided: other problems of an expression are reported elsewhere."""
    key, operator, values = wanted.get("key"), wanted.get("operator"), wanted.get("values") or []
    if not isinstance(key, str) or is_placeholder(key) or not isinstance(values, list):
        return True
    if not all(isinstance(value, str) and not is_placeholder(value) for value in values):
        return True
    if operator == "In":
        return not values or labels.get(key) in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) is (operator == "Exists") if operator in ("Exists", "DoesNotExist") else True
