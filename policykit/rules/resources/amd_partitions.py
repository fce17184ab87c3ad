"""What AMD's device config manager makes of its profiles, which say how the cards of a node are divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_filled_in
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.nearest import nearest

_WHO = "AMD's device config manager"
_COMPUTE = ("SPX", "DPX", "TPX", "QPX", "CPX")
_MEMORY = ("NPS1", "NPS2", "NPS4", "NPS8")
_WHOLE = _MEMORY[0]
_SKIPPED: Path = ("skippedGPUs", "ids")
_AMD = "amd"


def violations(written: Mapping[str, Any], cluster: Cluster | None) -> Iterator[Violation]:
    """Sources: the documentation of the manager (ROCm's gpu-operator 1.3 to 1.5)."""
    per_node = _cards_per_node(cluster)
    for name, profile in mapping(written.get("gpu-config-profiles")).items():
        if isinstance(profile, dict) and not is_filled_in(str(name)):
            yield from _profile(profile, ("gpu-config-profiles", name), str(name), per_node)


def _cards_per_node(cluster: Cluster | None) -> frozenset[int]:
    """Of the pools with cards of AMD, if the policy lists all pools and each says how many it has."""
    counts: set[int] = set()
    for pool in cluster.pools if cluster is not None and cluster.complete else ():
        card = cluster.card_of(pool) if cluster is not None else None
        if card is not None and card.vendor == _AMD:
            counts.update(shape.allocatable.get(card.resource, 0) for shape in pool.shapes)
    return frozenset() if 0 in counts else frozenset(counts)


def _profile(
    profile: Mapping[str, Any], path: Path, name: str, per_node: frozenset[int]
) -> Iterator[Violation]:
    entries = [*numbered(profile.get("profiles"))]
    memory = {str(each.get("memoryPartition")) for _, each in entries if each.get("memoryPartition")}
    for position, each in entries:
        at: Path = (*path, "profiles", position)
        for field, known in (("computePartition", _COMPUTE), ("memoryPartition", _MEMORY)):
            yield from _word(each.get(field), (*at, field), known)
        compute, divided = each.get("computePartition"), each.get("memoryPartition")
        if divided == "NPS4" and compute in ("SPX", "DPX"):
            what = f"memoryPartition NPS4 does not go with computePartition {compute}: {_WHO} changes nothing"
            yield _warning((*at, "memoryPartition"), what, "write CPX for it, or NPS1")
    if len(memory) > 1:
        what = (
            f"{name} has the memory partitions {', '.join(sorted(memory))}, but a node has one for all cards"
        )
        yield _warning((*path, "profiles"), what, "write the same memoryPartition in all of them")
    skipped = lookup(profile, _SKIPPED)
    listed = skipped if isinstance(skipped, list) else []
    other = next(iter(memory - {_WHOLE}), "")
    if listed and len(memory) == 1 and other in _MEMORY:
        yield _warning(
            (*path, *_SKIPPED),
            f"{name} skips cards by skippedGPUs, but its memoryPartition is {other}: a node changes that of "
            "all its cards",
            f"skip none, or write memoryPartition: {_WHOLE}",
        )
    assigned = [whole(each.get("numGPUsAssigned")) for _, each in entries]
    total = sum(number or 0 for number in assigned) + len(listed)
    if entries and None not in assigned and per_node and total not in per_node:
        has = " or ".join(map(str, sorted(per_node)))
        what = (
            f"{name} is for {total} cards with those that it skips, but a node has {has}: {_WHO} refuses it"
        )
        yield _warning((*path, "profiles"), what, f"let numGPUsAssigned and skippedGPUs be {has} together")


def _word(value: object, path: Path, known: tuple[str, ...]) -> Iterator[Violation]:
    if isinstance(value, str) and value.upper() not in known and not is_filled_in(value):
        near = nearest(value.upper(), known)
        advice = f"did you mean {near}?" if near else f"write {', '.join(known[:-1])} or {known[-1]}"
        yield _warning(path, f"{path[-1]} is {value}, which {_WHO} does not know", advice)


def _warning(path: Path, message: str, advice: str) -> Violation:
    return Violation(path, message, advice, Severity.WARNING)
