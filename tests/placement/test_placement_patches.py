"""The changes that place a pod set: they lead where the policy wants, and lose nothing of others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policykit.kube import affinity as affinities
from policykit.kube.affinity import PREFERRED, REQUIRED, NodeAffinity, Term
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import lookup
from policykit.model.cluster import Cluster
from policykit.placement.desired_placement import DesiredPlacement
from policykit.placement.landing import land
from policykit.placement.placement_patches import (
    desired_for,
    is_placement_editable,
    malformed_field,
    placement_patches,
)
from policykit.placement.review import Review
from tests.clusters import policy, profile
from tests.placement.pods import GPU, H20, L20, PRODUCT, UNTAINTED, USAGE, look, pod, required, tolerate

HYBRID = profile("hybrid-volcano")
OPEN = policy(
    {
        "domain": "maip.mxsf.io",
        "cards": {"h20": H20, "l20": L20},
        "pools": {
            "train": {"usage": "training", "card": "h20", "nodes": 2},
            "shared": {"usage": "hybrid", "card": "h20", "nodes": 2, "scheme": UNTAINTED},
            "serve": {"usage": "inference", "card": "l20", "nodes": 2, "scheme": UNTAINTED},
            "web": {"nodes": 3, "taints": ["example.com/web=true:NoSchedule"]},
        },
        "workloads": {
            "training": {"usages": ["training", "hybrid"], "prefer": {"training": 100, "hybrid": 10}},
            "inference": {"usages": ["inference", "hybrid"], "prefer": {"inference": 100}, "cards": ["l20"]},
        },
    }
)
PACKED = profile("koordinator-binpack")
RACK = "example.com/rack"
"""A label that no policy here knows."""

TRAINING = {"policykit.io/workload": "training"}
ALL_TOLERATED = [*tolerate(USAGE, "training", "hybrid"), *tolerate(PRODUCT, "NVIDIA-H20")]
BOTH = required([(USAGE, "In", ["training", "hybrid"])])
SPREAD: dict[str, Any] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}


def want_of(review: Review) -> DesiredPlacement:
    want = desired_for(review)
    assert want is not None
    return want


def placed(manifest: dict[str, Any], cluster: Cluster) -> dict[str, Any]:
    looked = look(manifest, cluster)
    data: dict[str, Any] = manifest
    for change in placement_patches(looked, want_of(looked)):
        data = patched(data, change)
    return data


def preferring(*terms: tuple[int, str, str]) -> list[dict[str, Any]]:
    return [
        {
            "weight": weight,
            "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]},
        }
        for weight, key, value in terms
    ]


def node_affinity(first: dict[str, Any], preferred: list[dict[str, Any]]) -> dict[str, Any]:
    return {"nodeAffinity": {**first.get("nodeAffinity", {}), PREFERRED: preferred}}


LIKED = preferring((100, USAGE, "training"))


def having(first: dict[str, Any], preferred: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    """What a pod says of placement: required terms, preferred ones, all tolerations, and more."""
    return {"affinity": node_affinity(first, preferred), "tolerations": ALL_TOLERATED, **spec}


PLACED = having(BOTH, LIKED)
EVERYTHING = [{"operator": "Exists"}]
ON_RACK = [(USAGE, "In", ["training"]), (RACK, "In", ["r1"])]
SHARED_OUT = required(ON_RACK, [(USAGE, "In", ["hybrid"])])
NO_MATCH = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}, {"matchExpressions": "all"}]}}}
ZONE = (30, RACK, "r1")
UNWEIGHTED = [{"preference": LIKED[0]["preference"]}]

WRITTEN = {
    "nothing said": ({}, PLACED),
    "all there": (PLACED, PLACED),
    "everything tolerated": ({"tolerations": EVERYTHING}, having(BOTH, LIKED, tolerations=EVERYTHING)),
    "selector gives way": ({"nodeSelector": {USAGE: "training"}}, PLACED),
    "the other label of the selector stays": (
        {"nodeSelector": {USAGE: "training", RACK: "r1"}},
        having(BOTH, LIKED, nodeSelector={RACK: "r1"}),
    ),
    "pod affinity stays": (
        {"affinity": SPREAD},
        having(BOTH, LIKED, affinity={**SPREAD, **node_affinity(BOTH, LIKED)}),
    ),
    "a list in its own order": (
        {"affinity": required([(USAGE, "In", ["hybrid", "inference"]), (RACK, "In", ["r1"])])},
        having(required([(USAGE, "In", ["hybrid", "training"]), (RACK, "In", ["r1"])]), LIKED),
    ),
    "every alternative": (
        {"affinity": required([(USAGE, "In", ["inference"])], [(RACK, "Exists", [])])},
        having(
            required(
                [(USAGE, "In", ["training", "hybrid"])],
                [(RACK, "Exists", []), (USAGE, "In", ["training", "hybrid"])],
            ),
            LIKED,
        ),
    ),
    "alternatives that name the usages between them": ({"affinity": SHARED_OUT}, having(SHARED_OUT, LIKED)),
    "two lists that exclude each other": (
        {"affinity": required([(USAGE, "In", ["training"]), (USAGE, "In", ["hybrid"])])},
        having(
            required([(USAGE, "In", ["training", "hybrid"]), (USAGE, "In", ["hybrid", "training"])]), LIKED
        ),
    ),
    "a preference turned": (
        {"affinity": node_affinity(BOTH, preferring((70, USAGE, "inference"), ZONE))},
        having(BOTH, preferring((100, USAGE, "training"), ZONE)),
    ),
    "one preference too many": (
        {"affinity": node_affinity(BOTH, [*preferring((100, USAGE, "inference")), *LIKED])},
        PLACED,
    ),
    "a weaker preference beside": (
        {"affinity": node_affinity(BOTH, preferring((1, USAGE, "hybrid"), (50, USAGE, "training")))},
        having(BOTH, preferring((1, USAGE, "hybrid"), (100, USAGE, "training"))),
    ),
    "a weight forgotten": ({"affinity": node_affinity(BOTH, UNWEIGHTED)}, PLACED),
    "terms that match nothing stay so": ({"affinity": NO_MATCH}, having(NO_MATCH, LIKED)),
}


@pytest.mark.parametrize(("spec", "after"), list(WRITTEN.values()), ids=list(WRITTEN))
def test_what_is_written(spec: dict[str, Any], after: dict[str, Any]) -> None:
    data = placed(pod(labels=TRAINING, **spec), HYBRID)
    assert {k: v for k, v in data["spec"].items() if k != "containers"} == after


def test_a_toleration_that_ends_does_not_count() -> None:
    ending = {"key": USAGE, "operator": "Exists", "effect": "NoSchedule"}
    manifest = pod(labels=TRAINING, affinity=node_affinity(BOTH, LIKED), tolerations=[ending])
    looked = look(manifest, HYBRID)
    assert placement_patches(looked, want_of(looked)) == (
        Patch("add", ("spec", "tolerations", "-"), tolerate(PRODUCT, "NVIDIA-H20")[0]),
    )


@pytest.mark.parametrize(
    ("cluster", "manifest"),
    [
        pytest.param(HYBRID, pod(), id="no workload kind"),
        pytest.param(HYBRID, pod(labels=TRAINING, nodeSelector={PRODUCT: "NVIDIA-L20"}), id="no pool has it"),
        pytest.param(OPEN, pod(0, labels={"policykit.io/workload": "none"}), id="unknown workload kind"),
        pytest.param(
            policy(
                {
                    "domain": "maip.mxsf.io",
                    "cards": {"h20": H20, "l20": L20},
                    "pools": {
                        "a": {"usage": "training", "card": "h20", "nodes": 1},
                        "b": {"usage": "training", "card": "l20", "nodes": 1},
                    },
                    "workloads": {"training": {"usages": ["training"]}},
                }
            ),
            pod(labels=TRAINING),
            id="two cards would do",
        ),
    ],
)
def test_nothing_is_wanted(cluster: Cluster, manifest: dict[str, Any]) -> None:
    assert desired_for(look(manifest, cluster)) is None


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({}, None),
        ({"affinity": None, "tolerations": None, "nodeSelector": None}, None),
        ({"tolerations": "none"}, ("tolerations",)),
        ({"nodeSelector": ["a"]}, ("nodeSelector",)),
        ({"affinity": {"nodeAffinity": []}}, ("affinity", "nodeAffinity")),
        ({"affinity": {"nodeAffinity": {PREFERRED: {}}}}, ("affinity", "nodeAffinity", PREFERRED)),
    ],
)
def test_fields_of_another_shape(spec: dict[str, Any], path: Any) -> None:
    looked = look(pod(**spec), HYBRID)
    assert malformed_field(looked) == path
    assert is_placement_editable(looked)


KEYS = {USAGE: ["training", "inference", "hybrid"], PRODUCT: ["NVIDIA-H20", "NVIDIA-L20"], RACK: ["r1", "r2"]}
PAIRS = st.sampled_from([(key, value) for key, values in KEYS.items() for value in values])


@st.composite
def expressions(draw: st.DrawFn) -> dict[str, Any]:
    key = draw(st.sampled_from(list(KEYS)))
    operator = draw(st.sampled_from(["In", "In", "In", "NotIn", "Exists", "DoesNotExist"]))
    if operator in ("In", "NotIn"):
        values = draw(st.lists(st.sampled_from(KEYS[key]), min_size=1, max_size=3, unique=True))
        return {"key": key, "operator": operator, "values": values}
    return {"key": key, "operator": operator}


@st.composite
def tolerations(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {}
    key = draw(st.sampled_from(["", USAGE, PRODUCT, "example.com/spot"]))
    operator = "Exists" if not key else draw(st.sampled_from(["", "Equal", "Exists"]))
    if key:
        found["key"] = key
    if operator:
        found["operator"] = operator
    if operator != "Exists":
        found["value"] = draw(st.sampled_from(KEYS.get(key, ["yes"])))
    if effect := draw(st.sampled_from(["", "NoSchedule", "NoExecute"])):
        found["effect"] = effect
    return found


TERMS = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.lists(expressions(), max_size=3),
        "matchFields": st.just([{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]),
    },
)
PREFERENCES = st.fixed_dictionaries({"preference": TERMS}, optional={"weight": st.sampled_from([1, 50, 100])})


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    """A Pod of a workload kind that says something of placement already, of its own or of others."""
    spec: dict[str, Any] = {}
    if draw(st.booleans()):
        spec["nodeSelector"] = dict(draw(st.lists(PAIRS, max_size=2)))
    affinity: dict[str, Any] = {}
    if terms := draw(st.lists(TERMS, max_size=3)):
        affinity[REQUIRED] = {"nodeSelectorTerms": terms}
    if preferred := draw(st.lists(PREFERENCES, max_size=3)):
        affinity[PREFERRED] = preferred
    if affinity or draw(st.sampled_from([True, False])):
        spec["affinity"] = {**draw(st.sampled_from([SPREAD, {}])), "nodeAffinity": affinity}
    if listed := draw(st.none() | st.lists(tolerations(), max_size=3)):
        spec["tolerations"] = listed
    cards = draw(st.sampled_from([0, 1]))
    return pod(cards, {"policykit.io/workload": draw(st.sampled_from(["training", "inference"]))}, **spec)


CLUSTERS = st.sampled_from([HYBRID, OPEN])
PLACINGS = settings(max_examples=300, deadline=None)


@PLACINGS
@given(pods(), CLUSTERS)
def test_placed_once_is_placed(manifest: dict[str, Any], cluster: Cluster) -> None:
    assume(desired_for(look(manifest, cluster)) is not None)
    looked = look(placed(manifest, cluster), cluster)
    assert placement_patches(looked, want_of(looked)) == ()


def _terms(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    found = lookup(manifest, ("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"))
    return found if isinstance(found, list) else []


def _foreign(term: dict[str, Any], keys: set[str]) -> list[dict[str, Any]]:
    """Expressions that no placement of the policy is about."""
    return [
        one for one in term.get("matchExpressions", []) if one["key"] not in keys or one["operator"] != "In"
    ]


@PLACINGS
@given(pods(), CLUSTERS)
def test_nothing_foreign_is_lost(manifest: dict[str, Any], cluster: Cluster) -> None:
    want = desired_for(look(manifest, cluster))
    assume(want is not None)
    assert want is not None
    keys = {key for key, _ in want.required}
    before, after = manifest["spec"], placed(manifest, cluster)["spec"]
    there = before.get("tolerations", [])
    assert after.get("tolerations", [])[: len(there)] == there
    selector = {key: value for key, value in before.get("nodeSelector", {}).items() if key not in keys}
    assert selector.items() <= after.get("nodeSelector", {}).items()
    for kept, changed in zip(_terms(manifest), _terms({"spec": after}), strict=False):
        assert _foreign(kept, keys) == _foreign(changed, keys)
        assert kept.get("matchFields") == changed.get("matchFields")
    assert not _terms(manifest) or len(_terms(manifest)) == len(_terms({"spec": after}))
    liked = lookup(before, ("affinity", "nodeAffinity", PREFERRED)) or []
    assert isinstance(liked, list)
    of_others = [
        one for one in liked if _foreign(one["preference"], {USAGE}) or "matchFields" in one["preference"]
    ]
    still = lookup(after, ("affinity", "nodeAffinity", PREFERRED)) or []
    assert isinstance(still, list)
    assert [one for one in still if one in of_others] == of_others
    assert lookup(before, ("affinity", "podAntiAffinity")) == lookup(after, ("affinity", "podAntiAffinity"))
    assert before["containers"] == after["containers"]


def _without(affinity: NodeAffinity, keys: set[str]) -> NodeAffinity:
    """What is asked beside the placement of the policy; a term of nothing else asks for nothing."""
    if affinity.required is None:
        return NodeAffinity({k: v for k, v in affinity.selector.items() if k not in keys})
    asked = [
        Term(tuple(r for r in t.expressions if r.key not in keys or r.operator != "In"), t.fields)
        for t in affinity.required
        if t.expressions or t.fields
    ]
    selector = {k: v for k, v in affinity.selector.items() if k not in keys}
    return NodeAffinity(selector, None if any(t == Term() for t in asked) else tuple(asked))


@PLACINGS
@given(pods(), CLUSTERS)
def test_every_pool_meant_accepts_but_for_what_others_ask(manifest: dict[str, Any], cluster: Cluster) -> None:
    looked = look(manifest, cluster)
    want = desired_for(looked)
    assume(want is not None)
    assert want is not None
    assert looked.eligible_pools is not None
    after = look(placed(manifest, cluster), cluster)
    # A label that the node selector asks for already is not asked for again.
    keys = {key for key, _ in want.required}.difference(after.affinity.selector)
    # Alternatives that share the usages out between them may give each its own conditions.
    named = [
        any(one["key"] in keys and one["operator"] == "In" for one in t.get("matchExpressions", []))
        for t in _terms(manifest)
    ]
    shared_out = len(named) > 1 and all(named)
    rest = _without(affinities.read(manifest["spec"]), keys)
    for pool in looked.eligible_pools:
        alone = land(cluster, pool, after.tolerations, rest, after.requests)
        verdict = after.landing(pool).verdict
        assert alone.reason != "untolerated-taint"
        if not shared_out:
            assert (verdict == "refused") == (alone.verdict == "refused")
    if looked.card_resources:
        assert {pool.name for pool in after.accepting} <= {pool.name for pool in looked.eligible_pools}


def test_a_pool_of_another_usage_is_never_opened() -> None:
    """The profile without usages wants nothing but its pools' taints, of which it has none."""
    manifest = pod(labels={"policykit.io/workload": "packed"}, resource="example.com/dongle")
    looked = look(manifest, PACKED)
    assert looked.eligible_pools is not None
    assert [pool.name for pool in looked.eligible_pools] == ["workers"]
    assert placement_patches(looked, want_of(looked)) == ()


def test_the_card_resource_is_that_of_the_profile() -> None:
    assert look(pod(labels=TRAINING), HYBRID).card_resources == (GPU,)
