"""Placements: strategies, weights and shapes, checked against each other."""

from __future__ import annotations

from itertools import pairwise

from policykit.kube.names import dns_subdomain_problem, is_extended, label_value_problem
from policykit.manifests.path import Path
from policykit.model.placement import BINPACK, SPREAD, Placement, Point, ResourcePlacement
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft, unique
from policykit.policy.compile.references import check_unique
from policykit.policy.messages import did_you_mean
from policykit.policy.models import workload as written

BUILT_IN = (BINPACK, SPREAD)


def compile_placements(draft: Draft) -> dict[str, Placement]:
    """The policy's placements by name, in its order."""
    found = {name: _placement(draft, name, stated) for name, stated in draft.policy.placements.items()}
    homes: dict[str, str] = {}
    for name, placement in found.items():
        home = homes.setdefault(placement.scheduler, name) if placement.scheduler else name
        if home != name:
            message = f"placements {home} and {name} both use scheduler {placement.scheduler}"
            hint = "give each its own schedulerName: a profile has one strategy"
            draft.problems.error(("placements", name, "scheduler"), message, hint)
    return found


def named_placement(draft: Draft, path: Path, name: str) -> tuple[str, str]:
    """Strategy of a placement that a workload kind names, and its name if the policy defines it."""
    stated = draft.policy.placements.get(name)
    if stated is not None:
        return stated.strategy or "", name
    if name and name not in BUILT_IN and name not in draft.names("placements"):
        if not draft.problems.broken(("placements",)):
            hint = did_you_mean(name, (*draft.names("placements"), *BUILT_IN))
            draft.problems.error(path, f"unknown placement {name!r}", hint)
        return "", ""
    return name if name in BUILT_IN else "", ""


def _placement(draft: Draft, name: str, stated: written.Placement) -> Placement:
    path: Path = ("placements", name)
    draft.check(path, f"placement name {name!r}", label_value_problem(name), key=True)
    if stated.strategy is None:
        message, hint = f"placement {name!r} has no strategy", "add strategy: binpack or spread"
        draft.problems.error(path, message, hint, key=True)
    if stated.scheduler:
        problem = dns_subdomain_problem(stated.scheduler)
        draft.check((*path, "scheduler"), f"scheduler {stated.scheduler!r}", problem)
    strategy = stated.strategy or BINPACK
    return Placement(
        name,
        strategy,
        _resources(draft, (*path, "resources"), strategy, stated),
        _shape(draft, (*path, "shape"), strategy, stated.shape),
        _avoid(draft, (*path, "avoid"), stated.avoid),
        stated.scheduler,
    )


def _resources(
    draft: Draft, path: Path, strategy: str, stated: written.Placement
) -> dict[str, ResourcePlacement]:
    found: dict[str, ResourcePlacement] = {}
    for name, each in stated.resources.items():
        resource = resource_of(draft, (*path, name), name)
        if resource in found:
            message = f"placement {path[1]} lists {resource} twice"
            draft.problems.error((*path, name), message, "keep one of them", key=True)
        elif resource and isinstance(each, int):
            found[resource] = ResourcePlacement(strategy, each)
        elif resource and not isinstance(each, int):
            found[resource] = ResourcePlacement(each.strategy or strategy, each.weight)
    return found


def _shape(draft: Draft, path: Path, strategy: str, stated: tuple[written.Point, ...]) -> tuple[Point, ...]:
    points: list[Point] = []
    for number, point in enumerate(stated):
        place = (*path, number)
        if point.utilization is None or point.score is None:
            lacking = "utilization" if point.utilization is None else "score"
            message = f"this point of the shape has no {lacking}"
            draft.problems.error(place, message, "use {utilization: 50, score: 5}")
            continue
        if points and point.utilization <= points[-1].utilization:
            message = (
                f"shape points must have increasing utilization: {point.utilization} follows "
                f"{points[-1].utilization}"
            )
            draft.problems.error(
                (*place, "utilization"), message, "sort the points by utilization, without duplicates"
            )
        points.append(Point(point.utilization, point.score))
    _check_direction(draft, path, strategy, points)
    return tuple(points)


def _check_direction(draft: Draft, path: Path, strategy: str, points: list[Point]) -> None:
    """Reports a shape that contradicts its strategy: rising scores pack, falling scores spread."""
    steps = [after.score - before.score for before, after in pairwise(points)]
    other = ""
    if strategy == SPREAD and any(steps) and all(step >= 0 for step in steps):
        other = f"prefers fuller nodes, which is {BINPACK}"
    if strategy == BINPACK and any(steps) and all(step <= 0 for step in steps):
        other = f"prefers emptier nodes, which is {SPREAD}"
    if other:
        message = f"the strategy is {strategy}, but the shape {other}"
        draft.problems.error(path, message, "change the strategy or the scores", key=True)


def _avoid(draft: Draft, path: Path, stated: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for number, name in enumerate(stated):
        resource = resource_of(draft, (*path, number), name)
        if resource and not is_extended(resource):
            message = f"every node has {resource}, so pods cannot avoid it"
            draft.problems.error((*path, number), message, "list cards or other extended resources")
        elif resource:
            found.append(resource)
    check_unique(draft, path, stated)
    return unique(found)
