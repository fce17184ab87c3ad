"""Cards, pools and the scheme."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.policies.names import Draw, Names, maybe, some

CARDS: dict[str, dict[str, Any]] = {
    "h20": {"product": "NVIDIA-H20"},
    "h200": {"product": "NVIDIA-H200", "memory": "141Gi", "labels": {"example.com/hbm": "large"}},
    "ascend": {"product": "910B3", "perNode": 8},
    "dongle": {"resource": "example.com/dongle", "perNode": 4, "productKey": "example.com/dongle.model"},
}
_MIG = {"h20": {"1g.12gb": 7}, "h200": {"1g.18gb": 7}}
_VIRTUAL = ("hami", "volcano-vgpu")
_MODES = ("mig-single", "mig-mixed", "time-slicing", "mps", *_VIRTUAL, *_VIRTUAL)
_CLOUDS = ("gke", "eks", "aks", "ack")
LEVELS = ("zone", "domain", "rack", "switch", "nvlink")
_PLACE = st.fixed_dictionaries(
    {}, optional={level: st.sampled_from([f"{level}-1", f"{level}-2"]) for level in LEVELS}
)
_KEYS = st.fixed_dictionaries(
    {},
    optional={
        "zone": st.just("example.com/zone"),
        "domain": st.just("example.com/pod"),
        "rack": st.just("topology.example.com/rack"),
        "switch": st.just("topology.example.com/leaf"),
        "nvlink": st.just("nvidia.com/gpu.clique"),
    },
)


def scheme(draw: Draw) -> Any:
    """A preset by name, or changed."""
    preset = draw(st.sampled_from(["seed", "seed", "plain", *_CLOUDS]))
    if draw(st.booleans()):
        return preset
    changed: dict[str, Any] = {"preset": preset}
    maybe(draw, changed, "topology", _KEYS)
    maybe(draw, changed, "resourceTolerations", st.booleans())
    if preset in ("seed", "plain"):
        maybe(draw, changed, "controlPlane", st.sampled_from([True, False, {"key": "example.com/master"}]))
        usage = [False, {"key": "example.com/purpose"}, {"taint": False}, {"taint": {"effect": "NoExecute"}}]
        maybe(draw, changed, "usage", st.sampled_from(usage))
        product = [{"taint": False}, {"taint": {"effect": "PreferNoSchedule"}}]
        maybe(draw, changed, "product", st.sampled_from(product))
        maybe(draw, changed, "discovery", st.sampled_from(["gfd", "vendor", "manual"]))
    return changed


def cards(draw: Draw, preset: str) -> dict[str, Any]:
    """Cards of different resources, and sometimes a second one of NVIDIA's."""
    known = ("h200", "h20", "ascend", "dongle") if preset not in _CLOUDS else ("h200", "dongle")
    return {name: CARDS[name] for name in some(draw, known, 1, len(known))}


def pools(draw: Draw, names: Names, cards: dict[str, Any]) -> tuple[dict[str, Any], Names]:
    """Pools, and the names they add."""
    found: dict[str, Any] = {}
    whole: dict[str, str] = {}
    cut: dict[str, str] = {}
    for number in range(draw(st.integers(1, 3))):
        usage = draw(st.sampled_from(["training", "inference", "hybrid", ""]))
        card = draw(st.sampled_from(["", *cards, *cards]))
        name = "-".join(part for part in (usage or "cpu", card, str(number)) if part)
        found[name] = _pool(draw, name, usage, card, cut)
        if card and "sharing" not in found[name] and found[name].get("cardsPerNode") != 0:
            whole[name] = card
    usages = dict.fromkeys(pool["usage"] for pool in found.values() if "usage" in pool)
    virtual = "volcano-vgpu" in cut.values()
    return found, names._replace(pools=tuple(found), usages=tuple(usages), whole=whole, virtual=virtual)


def _pool(draw: Draw, name: str, usage: str, card: str, cut: dict[str, str]) -> dict[str, Any]:
    pool: dict[str, Any] = {key: value for key, value in (("usage", usage), ("card", card)) if value}
    pool["nodes"] = draw(st.sampled_from(_nodes(name)))
    if draw(st.integers(0, 3)):
        pool["allocatable"] = {"cpu": draw(st.sampled_from([32, "95500m"])), "memory": "512Gi"}
    if card:
        maybe(draw, pool, "cardsPerNode", st.sampled_from([4, 8]))
        _share(draw, pool, card, cut)
    _place(draw, pool, name)
    maybe(draw, pool, "labels", st.just({"example.com/team": "ai"}))
    maybe(draw, pool, "taints", st.sampled_from([["dedicated=batch:NoSchedule"], [{"key": "example.com/x"}]]))
    if not draw(st.integers(0, 7)):
        pool["unschedulable"] = True
    if not draw(st.integers(0, 7)):
        pool["injects"] = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
    return pool


def _nodes(name: str) -> list[Any]:
    named = {"names": [f"{name}-[1-4]"]}
    return [
        *(3, {"min": 0, "max": 8}, {"min": 2}, named, named),
        {"selector": {"example.com/node-pool": name}},
        [
            {"nodes": {"names": [f"{name}-[1-2]"]}, "allocatable": {"cpu": 64, "memory": "256Gi"}},
            {"nodes": {"names": [f"{name}-[3-4]"]}, "labels": {"example.com/size": "large"}},
        ],
    ]


def _share(draw: Draw, pool: dict[str, Any], card: str, cut: dict[str, str]) -> None:
    """Cut or shared cards in some pools; a resource is offered in one way in all of them."""
    if card not in _MIG or draw(st.integers(0, 2)):
        return
    mode = draw(st.sampled_from(_MODES))
    if cut.setdefault(card, mode) != mode:
        return
    if mode.startswith("mig"):
        pool["sharing"] = {"mode": mode, "profiles": _MIG[card]}
    elif mode in _VIRTUAL:
        pool["sharing"] = {"mode": mode, "slots": draw(st.sampled_from([2, 10]))}
    else:
        pool["sharing"] = {"mode": mode, "replicas": 4, "rename": draw(st.booleans())}


def _place(draw: Draw, pool: dict[str, Any], name: str) -> None:
    by_name = not isinstance(pool["nodes"], int) and (
        isinstance(pool["nodes"], list) or "names" in pool["nodes"]
    )
    if by_name and draw(st.booleans()):
        halves = ([f"{name}-[1-2]"], [f"{name}-3", f"{name}-4"])
        places = [{"nodes": half, **draw(_PLACE)} for half in halves]
        pool["topology"] = [place for place in places if len(place) > 1]
    elif draw(st.booleans()):
        pool["topology"] = draw(_PLACE)
