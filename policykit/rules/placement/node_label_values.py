"""Node label values that no node can have, given what cards, discovery and clouds write."""

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
_UNPARTITIONED = "-MIG-INVALID"
_NEAR = 20
"""A nominal size differs from the reported size by at most a twentieth."""


def impossible_values(review: Review) -> Iterator[Violation]:
    """In the node selector and every required expression. Values of the pools are always accepted."""
    terms = review.affinity.required or ()
    for key, value in review.affinity.selector.items():
        requirement = Requirement(key, "In", (value,))
        yield from _impossible(review, requirement, review.pod_set.place("nodeSelector", key), alone=True)
    for term_at, term in enumerate(terms):
        for at, requirement in enumerate(term.expressions):
            path = review.pod_set.place("affinity", *REQUIRED_TERMS, term_at, "matchExpressions", at)
            yield from _impossible(review, requirement, path, alone=len(terms) == 1)


def _impossible(review: Review, requirement: Requirement, path: Path, *, alone: bool) -> Iterator[Violation]:
    if (
        any(is_placeholder(value) for value in requirement.values)
        or problem(requirement)
        or _in_policy(review, requirement)
    ):
        return
    for find in (_text, _number, _foreign_form, _chip, _unpartitioned, _nominal, _clique):
        found = find(review, requirement)
        if found is not None:
            message, advice, certain = found
            # It is only probably wrong if another term may match or other vendors may have such nodes.
            yield Violation(path, message, advice, None if certain and alone else Severity.WARNING)
            return


_Problem = tuple[str, str, bool] | None


def _in_policy(review: Review, requirement: Requirement) -> bool:
    """Whether a pool has one of the values: labels can be set by hand."""
    cluster = review.cluster
    return cluster is not None and bool(
        known_values(cluster, requirement.key).intersection(requirement.values)
    )


def _text(review: Review, requirement: Requirement) -> _Problem:
    if requirement.operator not in ("Gt", "Lt") or labels.label_format(requirement.key) != "text":
        return None
    message = (
        f"{requirement.operator} compares integers, but {requirement.key} contains text: no node matches"
    )
    return message, "select the values with operator In", True


def _number(review: Review, requirement: Requirement) -> _Problem:
    if requirement.operator != "In" or labels.label_format(requirement.key) != "integer":
        return None
    if any(int64(value) is not None for value in requirement.values):
        return None
    message = f"{requirement.key} contains integers (memory in MiB), never {requirement.values[0]!r}"
    return message, f"copy the value from a node: kubectl get nodes -L {requirement.key}", True


def _foreign_form(review: Review, requirement: Requirement) -> _Problem:
    """The device name for a label to which the cloud writes names of its own."""
    there = labels.provider_values(requirement.key)
    if requirement.operator != "In" or not there or any(value in there for value in requirement.values):
        return None
    from policykit.catalogue.cards import product

    if any(product(value) is None for value in requirement.values):
        return None
    message = f"{requirement.key} is set by the cloud, which has no value {requirement.values[0]!r}"
    return message, f"its values: {', '.join(there)}", True


def _chip(review: Review, requirement: Requirement) -> _Problem:
    if requirement.key != _CHIP or requirement.operator != "In":
        return None
    from policykit.catalogue.cards import product

    for value in requirement.values:
        card = product(value)
        chip = card.facts.get("chip_label") if card is not None else None
        if chip:
            message = f"{_CHIP} names the chip ({chip}), not the card {value}"
            return message, f"select enflame.com/gcu.model: {value}, or the chip {chip}", True
    return None


def _unpartitioned(review: Review, requirement: Requirement) -> _Problem:
    """Only without a policy: with one, another rule checks the value."""
    if review.cluster is not None or requirement.key != _PRODUCT or requirement.operator != "In":
        return None
    if not review.card_resources or not all(value.endswith(_UNPARTITIONED) for value in requirement.values):
        return None
    message = f"{requirement.values[0]} marks nodes whose cards could not be partitioned: they offer no cards"
    return message, "select the value of nodes with the intended partitions", True


def _nominal(review: Review, requirement: Requirement) -> _Problem:
    if requirement.key != _MEMORY or requirement.operator != "In":
        return None
    numbers = [number for value in requirement.values if (number := int64(value)) is not None]
    sizes = _readings(review.products or _selected(review))
    if any(number in sizes for number in numbers) or len(numbers) != 1:
        return None
    near = [size for size in sizes if abs(size - numbers[0]) * _NEAR <= size]
    if not near:
        return None
    closest = min(near, key=lambda size: (abs(size - numbers[0]), size))
    message = f"no card reports {numbers[0]} MiB: {sizes[closest]} reports {closest}"
    return (
        message,
        f"compare with operator Gt, or select {_PRODUCT}: the value depends on the driver version",
        False,
    )


def _readings(chosen: tuple[str, ...]) -> dict[int, str]:
    """Reported memory in MiB and a product label that reports it, of the chosen cards or else of all."""
    from policykit.catalogue.cards import products, variant

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


def _clique(review: Review, requirement: Requirement) -> _Problem:
    if requirement.key != _CLIQUE or requirement.operator not in ("In", "Exists"):
        return None
    from policykit.catalogue.cards import variant

    for value in review.products or _selected(review):
        card = variant(value)
        if card is not None and not card.product.clique:
            message = f"nodes with {value} have no {_CLIQUE}, which identifies NVLink domains across nodes"
            return message, "delete the expression, or select a card with NVLink between nodes", False
    return None


def _selected(review: Review) -> tuple[str, ...]:
    from policykit.placement.recognition import selected_values

    return selected_values(review.affinity, _PRODUCT)
