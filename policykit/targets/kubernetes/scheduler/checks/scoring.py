"""Args of NodeResourcesFit: the strategy, its resources and its shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import label_key_problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, whole
from policykit.nearest import nearest
from policykit.targets.kubernetes.scheduler.checks import known_fields

RATIO = "RequestedToCapacityRatio"
STRATEGIES = ("LeastAllocated", "MostAllocated", RATIO)
_RATIO_ARGS = "requestedToCapacityRatio"
_REFUSED_BESIDE = 36
"""Minor release from which a shape beside another strategy is refused; before, it is not read."""


def fit(args: Mapping[str, Any], base: Path, minor: int) -> Iterator[Violation]:
    """Source: `ValidateNodeResourcesFitArgs` of kube-scheduler 1.36."""
    for position, name in enumerate(_listed(args.get("ignoredResources"))):
        if isinstance(name, str) and not is_placeholder(name) and (problem := label_key_problem(name)):
            yield Violation((*base, "ignoredResources", position), f"{name!r} {problem}", "write DOMAIN/NAME")
    for position, name in enumerate(_listed(args.get("ignoredResourceGroups"))):
        if isinstance(name, str) and "/" in name:
            yield Violation(
                (*base, "ignoredResourceGroups", position),
                f"{name} has a '/', but a group is the part before it",
                f"write {name.partition('/')[0]}",
            )
    strategy = args.get("scoringStrategy")
    if isinstance(strategy, Mapping):
        yield from _strategy(strategy, (*base, "scoringStrategy"), minor)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strategy(strategy: Mapping[str, Any], base: Path, minor: int) -> Iterator[Violation]:
    kind = strategy.get("type")
    if kind is None or kind == "":
        if known_fields.misspelt(strategy, "type"):
            return
        yield Violation(
            base,
            "scoringStrategy has no type, and a strategy that is written gets none by default",
            f"write type: one of {', '.join(STRATEGIES)}",
        )
    elif isinstance(kind, str) and kind not in STRATEGIES and not is_placeholder(kind):
        near = nearest(kind, STRATEGIES, 0.6)
        yield Violation(
            (*base, "type"),
            f"type is {kind}, which is none of {', '.join(STRATEGIES)}",
            f"did you mean {near}?" if near else "write one of them",
        )
    for position, each in enumerate(_listed(strategy.get("resources"))):
        weight = whole(mapping(each).get("weight"))
        if weight is not None and not 0 <= weight <= 100:
            yield Violation(
                (*base, "resources", position, "weight"),
                f"weight of {text(mapping(each).get('name')) or 'a resource'} is {weight}, outside 1 to 100",
                "what matters is the weights' relation to each other: divide all of them",
            )
    ratio = strategy.get(_RATIO_ARGS)
    if kind == RATIO:
        yield from _shape(mapping(ratio).get("shape"), base)
    elif kind in STRATEGIES and ratio is not None and minor >= _REFUSED_BESIDE:
        yield Violation(
            (*base, _RATIO_ARGS),
            f"{_RATIO_ARGS} is written, but the type is {kind}",
            f"write type: {RATIO}, or delete it",
            key=True,
        )


def _shape(shape: object, base: Path) -> Iterator[Violation]:
    path = (*base, _RATIO_ARGS, "shape")
    if not isinstance(shape, list) or not shape:
        yield Violation(
            path, f"{RATIO} needs a shape of at least one point", "write utilization and score of each"
        )
        return
    before: int | None = None
    for position, each in enumerate(shape):
        point = mapping(each)
        used, score = whole(point.get("utilization")), whole(point.get("score"))
        used = 0 if used is None and "utilization" not in point else used
        if used is not None and not 0 <= used <= 100:
            yield Violation(
                (*path, position, "utilization"),
                f"utilization is {used}, outside 0 to 100",
                "write a share in percent",
            )
        elif used is not None and before is not None and used <= before:
            yield Violation(
                (*path, position, "utilization"),
                f"utilization {used} comes after {before}, but points must rise",
                "write the points in the order of their utilization, each once",
            )
        if score is not None and not 0 <= score <= 10:
            yield Violation((*path, position, "score"), f"score is {score}, outside 0 to 10", "write 0 to 10")
        before = used if used is not None else before
