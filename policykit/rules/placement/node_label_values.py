"""Node label values that no node can have, judged by what cards, discovery and clouds write."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import labels
from policykit.kube.selectors import Requirement, int64, problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.placement.label_values import REQUIRED_TERMS, known_values
from policykit.placement.review import Review

_CLIQUE = "nvidia.com/gpu.clique"
_MEMORY = "nvidia.com/gpu.memory"
_PRODUCT = "nvidia.com/gpu.product"
_CHIP = "enflame.com/gcu.product"
_UNCUT = "-MIG-INVALID"
_NEAR = 20
"""A nominal size is at most a twentieth away from what a card reports."""


def impossible_values(review: Review) -> Iterator[Violation]:
    """Of the node selector and every required expression. Values that a pool of the policy has are right."""
    terms = review.affinity.required or ()
    for key, value in review.affinity.selector.items():
        asked = Requirement(key, "In", (value,))
        yield from _impossible(review, asked, review.pod_set.place("nodeSelector", key), alone=True)
    for term_at, term in enumerate(terms):
        for at, asked in enumerate(term.expressions):
            path = review.pod_set.place("affinity", *REQUIRED_TERMS, term_at, "matchExpressions", at)
            yield from _impossible(review, asked, path, alone=len(terms) == 1)


def _impossible(review: Review, asked: Requirement, path: Path, *, alone: bool) -> Iterator[Violation]:
    if any(is_placeholder(value) for value in asked.values) or problem(asked) or _in_policy(review, asked):
        return
    for find in (_text, _number, _foreign_form, _chip, _uncut, _nominal, _clique):
        found = find(review, asked)
        if found is not None:
            message, advice, certain = found
            # Where another term may match, or nodes of another maker may exist, it is only probably wrong.
            yield Violation(path, message, advice, None if certain and alone else Severity.WARNING)
            return


_Found = tuple[str, str, bool] | None


def _in_policy(review: Review, asked: Requirement) -> bool:
    """Whether a pool has one of the values; a label may be set by hand."""
    cluster = review.cluster
    return cluster is not None and bool(known_values(cluster, asked.key).intersection(asked.values))


def _text(review: Review, asked: Requirement) -> _Found:
    if asked.operator not in ("Gt", "Lt") or labels.label_format(asked.key) != "text":
        return None
    message = f"{asked.operator} compares whole numbers, and {asked.key} holds text: no node matches"
    return message, "select the values with operator In", True


def _number(review: Review, asked: Requirement) -> _Found:
    if asked.operator != "In" or labels.label_format(asked.key) != "integer":
        return None
    if any(int64(value) is not None for value in asked.values):
        return None
    message = f"{asked.key} holds whole numbers (memory in MiB), never {asked.values[0]!r}"
    return message, f"copy the value from a node: kubectl get nodes -L {asked.key}", True


def _foreign_form(review: Review, asked: Requirement) -> _Found:
    """The device's name where a cloud writes its own."""
    there = labels.provider_values(asked.key)
    if asked.operator != "In" or not there or any(value in there for value in asked.values):
        return None
    from policykit.catalogue.products import product

    if any(product(value) is None for value in asked.values):
        return None
    message = f"{asked.key} is written by the cloud, which has no value {asked.values[0]!r}"
    return message, f"its values: {', '.join(there)}", True


def _chip(review: Review, asked: Requirement) -> _Found:
    if asked.key != _CHIP or asked.operator != "In":
        return None
    from policykit.catalogue.products import product

    for value in asked.values:
        card = product(value)
        chip = card.facts.get("chip_label") if card is not None else None
        if chip:
            message = f"{_CHIP} names the chip ({chip}), not the card {value}"
            return message, f"select enflame.com/gcu.model: {value}, or the chip {chip}", True
    return None


def _uncut(review: Review, asked: Requirement) -> _Found:
    """Under a policy the value is another rule's."""
    if review.cluster is not None or asked.key != _PRODUCT or asked.operator != "In":
        return None
    if not review.card_resources or not all(value.endswith(_UNCUT) for value in asked.values):
        return None
    message = f"{asked.values[0]} is what a node shows whose cards could not be cut: it offers none"
    return message, "select the value of nodes that are cut as wanted", True


def _nominal(review: Review, asked: Requirement) -> _Found:
    if asked.key != _MEMORY or asked.operator != "In":
        return None
    numbers = [number for value in asked.values if (number := int64(value)) is not None]
    sizes = _readings(review.products or _selected(review))
    if any(number in sizes for number in numbers) or len(numbers) != 1:
        return None
    near = [size for size in sizes if abs(size - numbers[0]) * _NEAR <= size]
    if not near:
        return None
    closest = min(near, key=lambda size: (abs(size - numbers[0]), size))
    message = f"no card reports {numbers[0]} MiB: {sizes[closest]} reports {closest}"
    return message, f"compare with operator Gt, or select {_PRODUCT}: the number moves with the driver", False


def _readings(chosen: tuple[str, ...]) -> dict[int, str]:
    """What cards report, in MiB, with the value of one that does: the chosen cards, else all."""
    from policykit.catalogue.products import products, variant

    named = [known.product for value in chosen if (known := variant(value)) is not None]
    cards = named or list(products())
    found: dict[int, str] = {}
    for card in cards:
        sizes = [(size, card.product) for size in (card.memory_mib, *card.memory_seen)]
        sizes += [(size, one.product) for one in card.slices for size in (one.memory_mib, *one.memory_seen)]
        for size, name in sizes:
            if size is not None:
                found.setdefault(size, name)
    return found


def _clique(review: Review, asked: Requirement) -> _Found:
    if asked.key != _CLIQUE or asked.operator not in ("In", "Exists"):
        return None
    from policykit.catalogue.products import variant

    for value in review.products or _selected(review):
        card = variant(value)
        if card is not None and not card.product.clique:
            message = f"nodes of {value} have no {_CLIQUE}: it stands for NVLink between nodes"
            return message, "delete the expression, or select a card that has such links", False
    return None


def _selected(review: Review) -> tuple[str, ...]:
    from policykit.placement.recognition import selected_values

    return selected_values(review.affinity, _PRODUCT)
