"""May a pod land in a pool: reasons in their order, what is known, and Kubernetes' own filters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.selectors import Requirement
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape, Taint, Toleration
from policykit.placement.landing import land, selection, untolerated_taints
from tests.kube import oracle
from tests.placement import pods

TRAINING = Taint("usage", "training")
TOLERATED = (Toleration("usage", "Exists"),)
ZONE = "topology.kubernetes.io/zone"
POOL = Pool(
    "train",
    (Shape({"cpu": 8000, "nvidia.com/gpu": 8}, 1, 1),),
    {"usage": "training", "room": "a"},
    (TRAINING,),
    "training",
    resources=("nvidia.com/gpu",),
)


def cluster(*pools: Pool, complete: bool = False, observed: bool = False) -> Cluster:
    declared = frozenset({"usage", "room"})
    return Cluster("test", pools, complete=complete, observed=observed, declared_keys=declared)


def affinity(key: str, operator: str, *values: str) -> NodeAffinity:
    return NodeAffinity({}, (Term((Requirement(key, operator, values),)),))


@pytest.mark.parametrize(
    ("tolerations", "wanted", "requests", "expected"),
    [
        pytest.param(TOLERATED, NodeAffinity(), {}, "accepted", id="everything fits"),
        pytest.param((), NodeAffinity({"room": "b"}), {"cpu": 9000}, "refused untolerated-taint", id="taint"),
        pytest.param(
            TOLERATED, NodeAffinity({"room": "b"}), {"cpu": 9000}, "refused selector", id="selector"
        ),
        pytest.param(
            TOLERATED, affinity("room", "In", "b"), {"cpu": 9000}, "refused affinity", id="affinity"
        ),
        pytest.param(TOLERATED, NodeAffinity(), {"cpu": 9000}, "refused resources", id="cpu"),
        pytest.param(TOLERATED, NodeAffinity(), {"nvidia.com/gpu": 9}, "refused resources", id="cards"),
        pytest.param(TOLERATED, NodeAffinity(), {"amd.com/gpu": 1}, "refused resources", id="other cards"),
        pytest.param(TOLERATED, NodeAffinity(), {"rdma/hca": 1}, "accepted", id="an amount nobody stated"),
        pytest.param(TOLERATED, NodeAffinity({}, ()), {}, "refused affinity", id="no terms"),
    ],
)
def test_reasons_in_their_order(
    tolerations: tuple[Toleration, ...], wanted: NodeAffinity, requests: dict[str, int], expected: str
) -> None:
    found = land(cluster(POOL), POOL, tolerations, wanted, requests)
    assert f"{found.verdict} {found.reason}".strip() == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("other-1", "affinity", id="a node of another pool"),
        pytest.param("unheard-of", "resources", id="perhaps one of its own"),
    ],
)
def test_nodes_that_are_chosen_by_name(name: str, reason: str) -> None:
    other = Pool("other", (Shape({}, 1, 1, ("other-1",)),))
    by_name = NodeAffinity({}, (Term((), (Requirement("metadata.name", "In", (name,)),)),))
    by_label = NodeAffinity({}, (Term((Requirement("kubernetes.io/hostname", "In", (name,)),)),))
    for wanted in (by_name, by_label):
        assert land(cluster(POOL, other), POOL, TOLERATED, wanted, {"cpu": 9000}).reason == reason


def test_cordoned_before_all_else() -> None:
    pool = POOL._replace(unschedulable=True)
    assert land(cluster(pool), pool, (), NodeAffinity(), {}).reason == "unschedulable"
    everything = (Toleration(operator="Exists"),)
    assert land(cluster(pool), pool, everything, NodeAffinity(), {}).accepts


@pytest.mark.parametrize(
    ("key", "partial", "complete"),
    [
        pytest.param("room", "refused", "refused", id="a pool declares it"),
        pytest.param("example.com/unheard", "undecidable", "refused", id="nobody declares it"),
        pytest.param(ZONE, "undecidable", "undecidable", id="well known"),
        pytest.param("karpenter.sh/nodepool", "undecidable", "undecidable", id="a provider's"),
    ],
)
def test_what_is_known_of_a_label(key: str, partial: str, complete: str) -> None:
    wanted = NodeAffinity({key: "b"})
    assert land(cluster(POOL), POOL, TOLERATED, wanted, {}).verdict == partial
    assert land(cluster(POOL, complete=True), POOL, TOLERATED, wanted, {}).verdict == complete


def test_a_zone_is_judged_where_a_pool_declares_it() -> None:
    pool = POOL._replace(labels={**POOL.labels, ZONE: "z1"})
    there = cluster(pool)._replace(declared_keys=frozenset({"usage", ZONE}))
    assert land(there, pool, TOLERATED, NodeAffinity({ZONE: "z1"}), {}).accepts
    assert land(there, pool, TOLERATED, NodeAffinity({ZONE: "z2"}), {}).reason == "selector"


def test_a_refusal_that_is_decided_outweighs_what_is_not() -> None:
    wanted = NodeAffinity({"example.com/unheard": "b", "room": "b"})
    assert land(cluster(POOL), POOL, TOLERATED, wanted, {}).reason == "selector"
    large = land(cluster(POOL), POOL, TOLERATED, NodeAffinity({"example.com/unheard": "b"}), {"cpu": 9000})
    assert large.reason == "resources"


@pytest.mark.parametrize(
    ("pool", "schedulers", "requests", "expected"),
    [
        pytest.param({}, (), {"nvidia.com/gpumem": 3000}, "undecidable unknown-sharing", id="not stated"),
        pytest.param({}, (), {"nvidia.com/gpumem": 0}, "accepted", id="none of it"),
        pytest.param({}, ("hami-scheduler",), {"nvidia.com/gpumem": 3000}, "accepted", id="HAMi runs"),
        pytest.param(
            {"nvidia.com/gpumem": 2000}, (), {"nvidia.com/gpumem": 3000}, "refused resources", id="too much"
        ),
        pytest.param({}, (), {"nvidia.com/gpumem": 1, "cpu": 9000}, "refused resources", id="too many CPUs"),
    ],
)
def test_parts_of_cards_that_only_hami_counts(
    pool: dict[str, int], schedulers: tuple[str, ...], requests: dict[str, int], expected: str
) -> None:
    shape = Shape({"nvidia.com/gpu": 8, "cpu": 4000, **pool}, 1, 1)
    one = Pool("shared", (shape,), card="l20", resources=("nvidia.com/gpu", *pool))
    there = cluster(one)._replace(schedulers=frozenset(schedulers))
    found = land(there, one, (), NodeAffinity(), requests)
    assert f"{found.verdict} {found.reason}".strip() == expected


def test_of_several_shapes_the_most_welcoming_counts() -> None:
    pool = POOL._replace(shapes=(Shape({"cpu": 1000}, 1, 1), Shape({"cpu": 4000}, 1, 1)))
    assert land(cluster(pool), pool, TOLERATED, NodeAffinity(), {"cpu": 2000}).accepts
    refused = land(cluster(pool), pool, TOLERATED, NodeAffinity(), {"cpu": 5000})
    assert refused.detail == "requests 5 cpu, but its nodes have at most 4"


def test_what_admission_adds_counts() -> None:
    taint = Taint("nvidia.com/gpu", "present")
    pool = POOL._replace(taints=(taint,), injects_resource_tolerations=True)
    assert land(cluster(pool), pool, (), NodeAffinity(), {"nvidia.com/gpu": 1}).accepts
    assert untolerated_taints(pool, (), {"cpu": 1}) == (taint,)
    assert not untolerated_taints(POOL._replace(injects=TOLERATED), (), {})


def test_selection_leaves_taints_and_sizes_aside() -> None:
    assert selection(cluster(POOL), POOL, NodeAffinity({"room": "a"})) is True
    assert selection(cluster(POOL), POOL, NodeAffinity({"room": "b"})) is False
    assert selection(cluster(POOL), POOL, NodeAffinity({"example.com/unheard": "b"})) is None


FILTERS = {
    "NodeUnschedulable": {"unschedulable"},
    "TaintToleration": {"untolerated-taint"},
    "NodeAffinity": {"selector", "affinity"},
}


@given(pods.nodes(), st.lists(pods.TOLERATIONS, max_size=3), pods.AFFINITIES)
def test_on_real_nodes_it_agrees_with_the_filters(
    node: Pool, tolerations: list[Toleration], wanted: NodeAffinity
) -> None:
    found = land(cluster(node, observed=True), node, tuple(tolerations), wanted, {})
    failing = oracle.filters(node, tolerations, wanted)
    assert found.verdict != "undecidable"
    assert found.accepts == (not failing)
    if failing:
        assert found.reason in FILTERS[failing[0]]


@given(pods.nodes(), st.lists(pods.TOLERATIONS, max_size=2), pods.TOLERATIONS, pods.AFFINITIES, st.booleans())
def test_one_more_toleration_never_closes_a_pool(
    pool: Pool, tolerations: list[Toleration], more: Toleration, wanted: NodeAffinity, complete: bool
) -> None:
    there = cluster(pool, complete=complete)
    before = land(there, pool, tuple(tolerations), wanted, {})
    after = land(there, pool, (*tolerations, more), wanted, {})
    assert after.accepts or not before.accepts


@given(pods.nodes(), st.lists(pods.TOLERATIONS, max_size=3), pods.AFFINITIES)
def test_knowing_more_only_settles_what_was_open(
    pool: Pool, tolerations: list[Toleration], wanted: NodeAffinity
) -> None:
    known, unknown = cluster(pool, complete=True), cluster(pool)
    before = land(unknown._replace(declared_keys=frozenset()), pool, tuple(tolerations), wanted, {})
    after = land(known._replace(declared_keys=frozenset(pods.KEYS)), pool, tuple(tolerations), wanted, {})
    if before.verdict != "undecidable":
        assert (after.accepts, after.verdict == "refused") == (before.accepts, before.verdict == "refused")
