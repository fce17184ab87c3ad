"""Node affinity: read as written, matched as the scheduler does, refused where the API server does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import affinity
from policykit.kube.affinity import PREFERRED, REQUIRED, NodeAffinity, Preference, Term
from policykit.kube.selectors import MALFORMED, Requirement
from policykit.manifests.path import dotted
from tests.kube.oracle import affinity_matches, affinity_problems
from tests.kube.test_selectors import ANYTHING, LABELS, REQUIREMENTS

POOL = {"key": "pool", "operator": "In", "values": ["train"]}
NAME_RULE = "must begin and end with a letter or digit, with only letters, digits, '-', '_' and '.' between"


def required(*terms: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def preferred(*preferences: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {PREFERRED: list(preferences)}}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, NodeAffinity()),
        ({"nodeSelector": {"a": "b", "n": 1}}, NodeAffinity({"a": "b"})),
        ({"nodeSelector": "{{ . }}", "affinity": []}, NodeAffinity()),
        (required(), NodeAffinity(required=())),
        ({"affinity": {"nodeAffinity": {REQUIRED: {}}}}, NodeAffinity(required=())),
        ({"affinity": {"nodeAffinity": {REQUIRED: None}}}, NodeAffinity()),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": "x"}}}}, NodeAffinity()),
        (required({}, None), NodeAffinity(required=(Term(), Term()))),
        (
            required("x", {"matchExpressions": [1, POOL]}),
            NodeAffinity(
                required=(Term((MALFORMED,)), Term((MALFORMED, Requirement("pool", "In", ("train",)))))
            ),
        ),
        (required({"matchExpressions": "x"}), NodeAffinity(required=(Term((MALFORMED,)),))),
        (
            preferred({"weight": 5, "preference": {"matchExpressions": [POOL]}}, None, {"weight": "5"}),
            NodeAffinity(
                preferred=(
                    Preference(5, Term((Requirement("pool", "In", ("train",)),))),
                    Preference(0, Term()),
                    Preference(0, Term()),
                )
            ),
        ),
    ],
)
def test_read(spec: dict[str, Any], expected: NodeAffinity) -> None:
    assert affinity.read(spec) == expected


def test_malformed_items_never_match() -> None:
    assert not affinity_matches(affinity.read(required("x")), {"pool": "train"}, "n")
    assert affinity_matches(
        affinity.read(required("x", {"matchExpressions": [POOL]})), {"pool": "train"}, "n"
    )


def test_preference_sums_the_terms_that_match() -> None:
    spec = preferred(
        {"weight": 80, "preference": {"matchExpressions": [POOL]}},
        {
            "weight": 15,
            "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
        },
        {"weight": 100, "preference": {}},
        {
            "weight": 7,
            "preference": {"matchExpressions": [{"key": "pool", "operator": "Gt", "values": ["x"]}]},
        },
    )
    assert affinity.preference(affinity.read(spec), {"pool": "train"}, "n") == 95
    assert affinity.preference(affinity.read(spec), {}, "other") == 0


TERM = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
PREFERENCE = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        (required({"matchExpressions": [POOL]}), []),
        (required({"matchExpressions": [1]}), []),
        ({"nodeSelector": {"pool": "no label"}}, [("nodeSelector.pool", f"value 'no label' {NAME_RULE}")]),
        ({"nodeSelector": {"": "x"}}, [("nodeSelector['']", "key '' is empty")]),
        (required(), [(TERM, "required node affinity needs at least one term")]),
        (
            required({}, {"matchExpressions": [POOL, {"key": "a", "operator": "In"}]}),
            [(f"{TERM}[1].matchExpressions[1]", "'a' has operator In without values")],
        ),
        (
            required({"matchExpressions": [{"key": "a/b/c", "operator": "Exists"}]}),
            [(f"{TERM}[0].matchExpressions[0].key", "key 'a/b/c' has more than one '/'")],
        ),
        (
            required({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["-1"]}]}),
            [(f"{TERM}[0].matchExpressions[0].values", f"'a' has the value '-1', which {NAME_RULE}")],
        ),
        (
            required({"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}),
            [(f"{TERM}[0].matchFields[0].operator", "operator is 'Exists', a field takes In or NotIn")],
        ),
        (
            required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}),
            [(f"{TERM}[0].matchFields[0].values", "'metadata.name' has 2 values, a field takes exactly one")],
        ),
        (
            required({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["A B"]}]}),
            [(f"{TERM}[0].matchFields[0].key", "field 'spec.x' is not known, only metadata.name is")],
        ),
        (
            preferred({"weight": 101, "preference": {"matchExpressions": [POOL]}}),
            [(f"{PREFERENCE}[0].weight", "weight is 101, it must be 1 to 100")],
        ),
        (
            preferred({"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}),
            [
                (
                    f"{PREFERENCE}[0].preference.matchExpressions[0]",
                    "'a' has operator 'Is', known are In, NotIn, Exists, DoesNotExist, Gt, Lt",
                )
            ],
        ),
    ],
)
def test_problems(spec: dict[str, Any], problems: list[tuple[str, str]]) -> None:
    assert [(dotted(path), message) for path, message in affinity_problems(spec)] == problems


def test_a_node_name_is_a_subdomain() -> None:
    spec = required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["Node 1"]}]})
    ((path, message),) = affinity_problems(spec)
    assert dotted(path) == f"{TERM}[0].matchFields[0].values"
    assert message.startswith("node name 'Node 1' is not a DNS name, ")


TERMS = st.builds(Term, st.lists(REQUIREMENTS, max_size=3).map(tuple))


@given(st.lists(TERMS), TERMS, LABELS)
def test_one_more_term_never_shuts_a_node_out(some: list[Term], more: Term, labels: dict[str, str]) -> None:
    before = affinity_matches(NodeAffinity(required=tuple(some)), labels, "n")
    after = affinity_matches(NodeAffinity(required=(*some, more)), labels, "n")
    assert after >= before
    assert after == (before or affinity.term_matches(more, labels, "n"))


@given(TERMS, REQUIREMENTS, LABELS)
def test_one_more_requirement_never_lets_a_node_in(
    term: Term, more: Requirement, labels: dict[str, str]
) -> None:
    if term.expressions:
        narrower = Term((*term.expressions, more), term.fields)
        assert affinity.term_matches(narrower, labels, "n") <= affinity.term_matches(term, labels, "n")


@given(ANYTHING, ANYTHING, ANYTHING)
def test_readers_take_anything(selector: object, terms: object, preferences: object) -> None:
    inner = {REQUIRED: {"nodeSelectorTerms": terms}, PREFERRED: preferences}
    spec = {"nodeSelector": selector, "affinity": {"nodeAffinity": inner}}
    found = affinity.read(spec)
    assert len(found.preferred) == (len(preferences) if isinstance(preferences, list) else 0)
    assert found.required is None or len(found.required) == len(terms if isinstance(terms, list) else [])
    assert all(message for _, message in affinity_problems(spec))
