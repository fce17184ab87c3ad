"""Placements and workload kinds."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.policies.names import DURATIONS, Draw, Names, chance, maybe, optional, some
from tests.policies.nodes import LEVELS

_ORDER = (*LEVELS, "node")
_MODES = st.sampled_from(["hard", "soft"])
_GANG = st.one_of(
    st.sampled_from(["all", "none"]),
    optional(
        size=st.integers(1, 64), timeout=DURATIONS, onTimeout=st.sampled_from(["wait", "start", "fail"])
    ),
)


def placements(draw: Draw, names: Names) -> tuple[dict[str, Any], Names]:
    """Placements, those called as the built-in ones among them."""
    found: dict[str, Any] = {}
    for name in some(draw, ("dense", "even", "binpack")):
        strategy = draw(st.sampled_from(["binpack", "spread"]))
        placement: dict[str, Any] = {"strategy": strategy}
        weighed = some(draw, (*names.cards, "cpu", "memory"), 0, 4)
        resource = st.one_of(
            st.integers(1, 100),
            optional(strategy=st.sampled_from(["binpack", "spread"]), weight=st.integers(1, 100)),
        )
        maybe(draw, placement, "resources", st.just({each: draw(resource) for each in weighed}))
        maybe(draw, placement, "shape", _shape(strategy))
        maybe(draw, placement, "avoid", st.just(some(draw, names.cards)))
        maybe(draw, placement, "scheduler", st.just(f"{name}-scheduler"))
        found[name] = placement
    return found, names._replace(placements=tuple(found))


@st.composite
def _shape(draw: Draw, strategy: str) -> list[dict[str, int]]:
    points = st.lists(st.integers(0, 100), min_size=1, max_size=4, unique=True).map(sorted)
    uses = draw(points)
    scores = sorted(
        draw(st.lists(st.integers(0, 10), min_size=len(uses), max_size=len(uses))),
        reverse=strategy == "spread",
    )
    return [{"utilization": use, "score": score} for use, score in zip(uses, scores, strict=True)]


def workloads(draw: Draw, names: Names) -> tuple[dict[str, Any], Names]:
    """Workload kinds; each workload is scaled by one of them."""
    found = {
        name: _workload(draw, name, names)
        for name in some(draw, ("training", "inference", "notebooks", "batch"), 0, 3)
    }
    return found, names._replace(workloads=tuple(found))


def _workload(draw: Draw, name: str, names: Names) -> dict[str, Any]:
    kind: dict[str, Any] = {}
    usages = some(draw, names.usages)
    if usages:
        kind["usages"] = usages
        weight = st.integers(1, 100)
        maybe(draw, kind, "prefer", st.just({usage: draw(weight) for usage in some(draw, tuple(usages), 1)}))
    maybe(draw, kind, "cards", st.sampled_from([["none"], *[[card] for card in names.cards]]))
    if kind.get("cards") == ["none"]:
        kind["cards"] = "none"
    if names.schedulers and chance(draw):
        kind["scheduler"] = draw(st.sampled_from(names.schedulers))
    maybe(draw, kind, "role", st.sampled_from(["training", "serving"]))
    maybe(draw, kind, "gang", _GANG)
    _stand(draw, kind)
    maybe(draw, kind, "placement", st.sampled_from(["binpack", "spread", *names.placements]))
    if names.priorities:
        maybe(draw, kind, "priorityClass", st.sampled_from(names.priorities))
    if names.leaves:
        maybe(draw, kind, "queue", st.sampled_from(names.leaves))
    maybe(draw, kind, "namespaces", st.just([name]))
    if not draw(st.integers(0, 3)):
        kind["helpers"] = some(draw, names.pools, 0, 1)
    if not draw(st.integers(0, 3)):
        kind["match"] = draw(st.sampled_from([_match(name), [_match(name), {"namespaces": [f"{name}-x"]}]]))
    if draw(st.booleans()):
        kind["autoscaling"] = _autoscaling(draw, name)
    return kind


def _match(name: str) -> dict[str, Any]:
    return {"kinds": ["Deployment", "batch.volcano.sh/Job"], "labels": {"app": name}, "names": [f"{name}-*"]}


def _stand(draw: Draw, kind: dict[str, Any]) -> None:
    within = draw(st.sampled_from(["", "", *LEVELS]))
    if within:
        kind["within"] = {"level": within, **draw(optional(mode=_MODES))}
    narrower = _ORDER[_ORDER.index(within) + 1 :] if within else _ORDER
    if draw(st.booleans()):
        kind["across"] = {
            "level": draw(st.sampled_from(narrower)),
            **draw(optional(mode=_MODES, skew=st.integers(1, 3))),
        }


def _autoscaling(draw: Draw, name: str) -> dict[str, Any]:
    least, most = sorted((draw(st.integers(1, 9)), draw(st.integers(1, 9))))
    metrics = some(draw, ("cpu", "memory", "pods", "external"))
    scaling: dict[str, Any] = {"min": least, "max": most, "metrics": [_metric(each) for each in metrics]}
    if "external" in metrics and chance(draw):
        scaling["min"] = 0
    targets = [
        {"name": name},
        {"kind": "StatefulSet", "name": f"{name}-state", "namespace": name},
        {"kind": "Model", "apiVersion": "example.com/v1", "name": name, "namespace": name},
    ]
    scaling["targets"] = targets[: draw(st.integers(0, 3))]
    maybe(draw, scaling, "cooldown", DURATIONS)
    return scaling


def _metric(source: str) -> dict[str, Any]:
    if source == "cpu":
        return {"resource": "cpu", "utilization": 70}
    if source == "memory":
        return {"resource": "memory", "average": "2Gi"}
    return {source: "requests_waiting", "average": "5"}
