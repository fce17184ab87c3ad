"""NodeResourcesFitPlus and ScarceResourceAvoidance: nothing checks their args, and much has no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, whole
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.targets.koordinator.checks import whose
from policykit.targets.koordinator.scheduler.config import FIT_PLUS, SCARCE

_TYPES = ("MostAllocated", "LeastAllocated")
_ALL_ALIKE = "it gives every node 100 and so decides nothing"


def apart(profile: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Enabled without args, or args without being enabled (C3)."""
    given = {name: (place, args) for place, name, args in whose.arguments(profile)}
    for plugin in (FIT_PLUS, SCARCE):
        enabled = [
            place
            for point in ("score", "multiPoint")
            for place, name in whose.entries(profile, point)
            if name == plugin
        ]
        place, args = given.get(plugin, ((), {}))
        if enabled and not args.get("resources"):
            where = place if place and lookup(profile, place) else (*(place[:-1] or enabled[0]), "name")
            yield Violation(
                (*path, *where),
                f"{plugin} is enabled, but its args name no resources: {_ALL_ALIKE}",
                f"add an entry for {plugin} with resources to pluginConfig",
            )
        if place and args and not whose.runs_at(profile, "score", plugin):
            yield Violation(
                (*path, *place),
                f"args of {plugin} are given, but it is not enabled at score: they have no effect",
                "enable it at preScore and at score",
                key=True,
            )


def fit_plus(args: Mapping[str, Any], path: Path, cluster: Cluster | None) -> Iterator[Violation]:
    """`resources`: a map by name (C4)."""
    resources = args.get("resources")
    if isinstance(resources, list):
        yield Violation(
            (*path, "resources"),
            "resources of NodeResourcesFitPlus is a list, but it reads a map: koord-scheduler stops at start",
            "write it as a map: nvidia.com/gpu: {type: MostAllocated, weight: 2}",
        )
    offered = _offered(cluster)
    for name, each in mapping(resources).items():
        where = (*path, "resources", name)
        kind, weight = mapping(each).get("type"), mapping(each).get("weight")
        if kind not in _TYPES and not is_placeholder(kind):
            shown = f"is {kind!r}" if kind else "is missing"
            yield Violation(
                (*where, "type"),
                f"type of {name} {shown}: NodeResourcesFitPlus scores it 0, with its full weight",
                f"write {' or '.join(_TYPES)}",
            )
        number = 0 if weight is None else whole(weight)
        if number is not None and number <= 0:
            shown = f"is {number}" if weight is not None else "is missing, so 0"
            what = "it does not count" if number == 0 else "scores leave 0 to 100, and the pods fail"
            yield Violation(
                (*where, "weight"),
                f"weight of {name} {shown}: {what}",
                "write a whole number from 1 on",
            )
        if offered and isinstance(name, str) and name not in offered and not is_placeholder(name):
            yield Violation(
                where,
                f"NodeResourcesFitPlus scores {name}, which no pool of the policy offers",
                f"the pools offer: {', '.join(sorted(offered))}",
                Severity.WARNING,
                key=True,
            )


def scarce(args: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """`resources`: a list of names, the other way round than NodeResourcesFitPlus."""
    if isinstance(args.get("resources"), Mapping):
        yield Violation(
            (*path, "resources"),
            "resources of ScarceResourceAvoidance is a map, but it reads a list: "
            "koord-scheduler stops at start",
            "write it as a list: - nvidia.com/gpu",
        )


def _offered(cluster: Cluster | None) -> set[str]:
    """Every name on a node or of a placement, where the policy says it has all pools; empty: nothing is
    known."""
    if cluster is None or not cluster.complete:
        return set()
    from policykit.targets.fleet import most_cards

    found = {name for pool in cluster.pools for shape in pool.shapes for name in shape.allocatable}
    placed = {name for placement in cluster.placements.values() for name in placement.resources}
    return {*found, *placed, *most_cards(cluster), "cpu", "memory", "ephemeral-storage"}
