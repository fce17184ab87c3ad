"""The placement of a workload kind on a card: what it writes, and that it leads where it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.kube.tolerations import to_dict
from policykit.placement.desired_placement import DesiredPlacement, affinity_data, desired_placement
from tests.clusters import policy, profile
from tests.placement.pods import H20, L20, PRODUCT, UNTAINTED, USAGE, look, pod


def tolerated(want: DesiredPlacement) -> list[str]:
    return [str(toleration) for toleration in want.tolerations]


def test_as_seed_000_designs_it() -> None:
    cluster = profile("hybrid-volcano")
    want = desired_placement(cluster, cluster.workloads["training"], cluster.cards["h20"])
    assert [pool.name for pool in want.pools] == ["train-h20", "hybrid-h20"]
    assert want.required == ((USAGE, ("training", "hybrid")),)
    assert want.preferred == ((100, USAGE, "training"),)
    assert tolerated(want) == [
        f"{USAGE}=training:NoSchedule",
        f"{USAGE}=hybrid:NoSchedule",
        f"{PRODUCT}=NVIDIA-H20:NoSchedule",
    ]


def test_the_product_is_selected_where_a_usable_pool_has_no_taint_for_it() -> None:
    cluster = policy(
        {
            "domain": "maip.mxsf.io",
            "cards": {"h20": H20, "l20": L20},
            "pools": {
                "h20": {"usage": "training", "card": "h20", "nodes": 1},
                "l20": {"usage": "training", "card": "l20", "nodes": 1, "scheme": UNTAINTED},
            },
            "workloads": {"training": {"usages": ["training"]}},
        }
    )
    want = desired_placement(cluster, cluster.workloads["training"], cluster.cards["h20"])
    assert want.required == ((USAGE, ("training",)), (PRODUCT, ("NVIDIA-H20",)))


def test_what_is_injected_is_not_written() -> None:
    pools = {"l4": {"card": "l4", "nodes": 1}}
    cards = {"l4": {"product": "NVIDIA-L4"}}
    data = {
        "scheme": "gke",
        "domain": "example.com",
        "cards": cards,
        "pools": pools,
        "workloads": {"any": {}},
    }
    cluster = policy(data)
    assert desired_placement(cluster, cluster.workloads["any"], cluster.cards["l4"]).tolerations == ()


@pytest.mark.parametrize(
    ("helpers", "pools"),
    [pytest.param(None, ["cpu"], id="by default"), pytest.param(["train"], ["train"], id="as stated")],
)
def test_helpers(helpers: list[str] | None, pools: list[str]) -> None:
    stated = {} if helpers is None else {"helpers": helpers}
    cluster = policy(
        {
            "domain": "maip.mxsf.io",
            "cards": {"h20": H20},
            "pools": {"train": {"usage": "training", "card": "h20", "nodes": 1}, "cpu": {"nodes": 1}},
            "workloads": {"training": {"usages": ["training"], "prefer": {"training": 1}, **stated}},
        }
    )
    want = desired_placement(cluster, cluster.workloads["training"], None)
    assert [pool.name for pool in want.pools] == pools
    assert want.preferred == ()


def test_a_pair_that_no_pool_serves() -> None:
    cluster = policy(
        {
            "domain": "maip.mxsf.io",
            "cards": {"h20": H20, "l20": L20},
            "pools": {"train": {"usage": "training", "card": "h20", "nodes": 1}},
            "workloads": {"training": {"usages": ["training"]}},
        }
    )
    want = desired_placement(cluster, cluster.workloads["training"], cluster.cards["l20"])
    assert want.pools == ()
    assert want.tolerations == ()


USAGES = ["training", "inference", "hybrid"]
SCHEMES: list[dict[str, Any]] = [
    {},
    {"scheme": UNTAINTED},
    {"scheme": {"usage": {"taint": False}}},
    {"scheme": {"product": {"taint": False}}},
    {"taints": ["example.com/reserved=true:NoExecute"]},
    {"taints": ["example.com/busy:PreferNoSchedule"]},
]


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """Two to five pools of two cards and three usages, and one kind for some of the usages."""
    pools: dict[str, Any] = {}
    for at in range(draw(st.integers(2, 5))):
        usage, card = draw(st.sampled_from(USAGES)), draw(st.sampled_from(["h20", "l20", ""]))
        pools[f"p{at}"] = {"usage": usage, "nodes": 1, **({"card": card} if card else {})}
        pools[f"p{at}"] |= draw(st.sampled_from(SCHEMES))
    there = sorted({pool["usage"] for pool in pools.values()})
    usages = draw(st.lists(st.sampled_from(there), unique=True, min_size=1))
    weights = st.dictionaries(st.sampled_from(usages), st.integers(1, 100))
    return {
        "domain": "maip.mxsf.io",
        "cards": {"h20": H20, "l20": L20},
        "pools": pools,
        "workloads": {"kind": {"usages": usages, "prefer": draw(weights)}},
        "coverage": draw(st.sampled_from(["partial", "complete"])),
    }


@settings(max_examples=60, deadline=None)
@given(policies())
def test_a_pod_placed_so_is_accepted_by_exactly_its_pools(data: dict[str, Any]) -> None:
    cluster = policy(data)
    kind = cluster.workloads["kind"]
    for card in cluster.cards.values():
        want = desired_placement(cluster, kind, card)
        if not want.pools:
            continue
        review = look(
            pod(
                1,
                {"policykit.io/workload": "kind"},
                card.resource,
                affinity={"nodeAffinity": affinity_data(want)},
                tolerations=[to_dict(toleration) for toleration in want.tolerations],
            ),
            cluster,
        )
        assert review.accepting == want.pools
        assert review.eligible_pools == want.pools
        best = max(kind.prefer.get(pool.usage, 0) for pool in want.pools)
        preferred = [x.pool.name for x in review.landings if x.verdict == "preferred"]
        assert preferred == [p.name for p in want.pools if 0 < best == kind.prefer.get(p.usage, 0)]
