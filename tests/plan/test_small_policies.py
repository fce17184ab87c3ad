"""Every single change of small policies: the plan keeps its promises, whatever is changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache

import pytest

from tests.clusters import policy
from tests.plan.pairs import DEPLOYMENT, JOB, VOLCANO_JOB, Data, Pair, manifest, patched, sized, valid
from tests.plan.stages import planned
from tests.plan.test_simulation import has_order, simulate

USAGES = ("training", "inference")
TAINTS: tuple[list[str], ...] = ([], ["team=a:NoSchedule"], ["team=a:NoExecute"], ["owner=a:NoSchedule"])


def small(usages: tuple[str, str], taints: list[str]) -> Data:
    """Two pools of two nodes and one, of which the first has taints of its own."""
    return {
        "domain": "a.example.com",
        "coverage": "complete",
        "scheme": "seed",
        "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
        "pools": {
            "p": {"usage": usages[0], "card": "h20", "nodes": {"names": ["p1", "p2"]}, "taints": taints},
            "q": {"usage": usages[1], "card": "h20", "nodes": {"names": ["q1"]}},
        },
        "targets": {"volcano": {"version": "1.15.1"}},
        "workloads": {
            "training": {"usages": [usages[0]], "scheduler": "volcano", "gang": "all"},
            "inference": {"usages": [usages[1]]},
        },
    }


BASES = {
    f"{one}, {other}, {', '.join(taints) or 'no taint'}": small((one, other), taints)
    for one in USAGES
    for other in USAGES
    for taints in TAINTS[:2]
}


def changes(before: Data) -> Iterator[tuple[str, Data]]:
    """Each policy that differs in one thing, with its name."""

    def changed(*path: str, value: object) -> Data:
        after = copy.deepcopy(before)
        *above, last = path
        there = after
        for step in above:
            there = there[step]
        there[last] = value
        return after

    for name, pool in before["pools"].items():
        for usage in (*USAGES, "hybrid"):
            if usage != pool["usage"]:
                yield f"usage of {name}: {usage}", changed("pools", name, "usage", value=usage)
                after = changed("pools", name, "usage", value=usage)
                for kind in after["workloads"].values():
                    kind["usages"] = [usage if one == pool["usage"] else one for one in kind["usages"]]
                yield f"usage of {name} and kinds: {usage}", after
        other = {**pool, "card": "l20", "nodes": {"names": ["x1", "x2"]}}
        yield f"nodes of {name} with another card", changed("pools", name, value=other)
        for taints in TAINTS:
            if taints != pool.get("taints", []):
                yield f"taints of {name}: {taints}", changed("pools", name, "taints", value=taints)
        for names in (pool["nodes"]["names"][:-1], [*pool["nodes"]["names"], "x1"]):
            if names:
                yield f"nodes of {name}: {names}", changed("pools", name, "nodes", value={"names": names})
        renamed = copy.deepcopy(before)
        renamed["pools"]["r"] = renamed["pools"].pop(name)
        yield f"name of {name}", renamed
        gone = copy.deepcopy(before)
        del gone["pools"][name]
        yield f"without {name}", gone
    moved = copy.deepcopy(before)
    moved["pools"]["q"]["nodes"]["names"].append(moved["pools"]["p"]["nodes"]["names"].pop())
    yield "a node moves", moved
    for kind in before["workloads"]:
        for usages in (["training"], ["inference"], ["training", "inference"]):
            if usages != before["workloads"][kind]["usages"]:
                yield f"usages of {kind}: {usages}", changed("workloads", kind, "usages", value=usages)
    yield "domain", changed("domain", value="b.example.com")
    for scheme in ("plain", {"preset": "seed", "usage": {"taint": False}}, EVICTING):
        yield f"scheme: {scheme}", changed("scheme", value=scheme)


_AGAIN = 8
"""Every so many changes are planned again: the plan is the same."""
EVICTING = {"preset": "seed", "usage": {"taint": {"effect": "NoExecute"}}}
MANIFESTS = {
    "gang": manifest(VOLCANO_JOB, "gang", "training", pods=1, cards=8),
    "job": manifest(JOB, "job", "training", pods=2, cards=4),
    "chat": manifest(DEPLOYMENT, "chat", "inference", pods=2, cards=1),
}


@cache
def start(base: str) -> tuple[Data, dict[str, str]]:
    """A policy, and the manifests as it patches them."""
    data = sized(valid(copy.deepcopy(BASES[base])), set())
    return data, {name: patched(text, policy(data)) for name, text in MANIFESTS.items()}


def pair_of(base: str, changed: Data) -> Pair:
    before, old = start(base)
    after = sized(valid(copy.deepcopy(changed)), set())
    new = {name: patched(text, policy(after), before=policy(before)) for name, text in old.items()}
    return Pair(before, after, old, new)


@pytest.mark.parametrize("name", BASES)
def test_every_single_change(name: str) -> None:
    for number, (what, after) in enumerate(changes(BASES[name])):
        one = pair_of(name, after)
        plan = planned(one)
        assert number % _AGAIN or plan == planned(one), what
        if plan.is_safe:
            simulate(one, plan, number)
        else:
            assert plan.exhaustive, what
            assert not has_order(one), what


@pytest.mark.parametrize("name", BASES)
def test_nothing_changes_from_a_policy_to_itself(name: str) -> None:
    """Neither does it in another order of the files."""
    one = pair_of(name, BASES[name])
    assert planned(one)[1:4] == ((), (), ())
    turned = one._replace(new=dict(reversed([*one.new.items()])))
    assert planned(turned)[1:4] == ((), (), ())
