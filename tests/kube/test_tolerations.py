"""Tolerations: read, matched, judged, compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import tolerations
from policykit.kube.tolerations import MALFORMED, covers, tolerates
from policykit.model.pool import Taint, Toleration
from tests.kube import oracle

GPU = Taint("nvidia.com/gpu", "present", "NoSchedule")
EVICTING = Taint("nvidia.com/gpu", "present", "NoExecute")
SOFT = Taint("example.com/spot", "true", "PreferNoSchedule")
EFFECTS = ["", "NoSchedule", "PreferNoSchedule", "NoExecute", "noSchedule"]
KEYS = ["", "a", "b"]
VALUES = ["", "1", "2", "02", "-1", "x"]
TOLERATIONS = st.builds(
    Toleration,
    st.sampled_from(KEYS),
    st.sampled_from(["", "Equal", "Exists", "Gt", "Lt", "exists"]),
    st.sampled_from(VALUES),
    st.sampled_from(EFFECTS),
    st.none() | st.sampled_from([0, 60, 300]),
)
TAINTS = st.builds(Taint, st.sampled_from(KEYS[1:]), st.sampled_from(VALUES), st.sampled_from(EFFECTS))
EVERY_TAINT = [Taint(key, value, effect) for key in KEYS for value in VALUES for effect in EFFECTS]


def slow(toleration: Toleration, taint: Taint, comparison: bool) -> bool:
    """The rule in its three sentences, spelt out."""
    effect = toleration.effect in ("", taint.effect)
    key = toleration.key in ("", taint.key)
    numbers = {"0": 0, "1": 1, "2": 2, "-1": -1}
    asked, there = numbers.get(toleration.value), numbers.get(taint.value)
    comparable = comparison and asked is not None and there is not None
    value = {
        "": toleration.value == taint.value,
        "Equal": toleration.value == taint.value,
        "Exists": True,
        "Gt": comparable and (there or 0) > (asked or 0),
        "Lt": comparable and (there or 0) < (asked or 0),
    }.get(toleration.operator, False)
    return effect and key and value


@pytest.mark.parametrize(
    ("raw", "toleration"),
    [
        (
            {"key": "a", "operator": "Exists", "effect": "NoSchedule"},
            Toleration("a", "Exists", "", "NoSchedule"),
        ),
        ({"key": "a", "value": None}, Toleration("a")),
        ({"tolerationSeconds": 0}, Toleration(seconds=0)),
        ({"key": "a", "tolerationSeconds": "300"}, Toleration("a")),
        ({"key": "a", "tolerationSeconds": True}, Toleration("a")),
        ({}, Toleration()),
        ({"key": "a", "value": True}, MALFORMED),
        ({"key": 1}, MALFORMED),
        (None, MALFORMED),
        ("{{ . }}", MALFORMED),
        ([], MALFORMED),
    ],
)
def test_read_is_aligned_with_the_list(raw: object, toleration: Toleration) -> None:
    assert tolerations.read([{"key": "first"}, raw]) == (Toleration("first"), toleration)


@pytest.mark.parametrize("raw", [None, {}, "x", 1])
def test_read_takes_no_other_shape(raw: object) -> None:
    assert tolerations.read(raw) == ()
    assert tolerations.read_taints(raw) == ()


def test_read_taints() -> None:
    raw = [{"key": "a", "value": "b", "effect": "NoExecute"}, {"key": "a"}, {"key": 1}, None]
    nothing = Taint("", "", "")
    assert tolerations.read_taints(raw) == (
        Taint("a", "b", "NoExecute"),
        Taint("a", "", ""),
        nothing,
        nothing,
    )


@pytest.mark.parametrize(
    ("written", "taint"),
    [
        ([], GPU),
        ([Toleration("nvidia.com/gpu", "Exists", "", "NoSchedule")], EVICTING),
        ([Toleration("nvidia.com/gpu", "Exists")], None),
        ([MALFORMED], GPU),
    ],
)
def test_untolerated_is_the_first_hard_one(written: list[Toleration], taint: Taint | None) -> None:
    assert tolerations.untolerated((SOFT, GPU, EVICTING), written) == taint


def test_soft_taints_are_counted() -> None:
    taints = (SOFT, SOFT._replace(key="example.com/old"), GPU)
    assert oracle.untolerated_soft(taints, []) == 2
    assert oracle.untolerated_soft(taints, [Toleration("example.com/old", "Exists")]) == 1
    assert oracle.untolerated_soft(taints, [Toleration("", "Exists", "", "NoSchedule")]) == 2


@pytest.mark.parametrize(
    ("toleration", "problems"),
    [
        (Toleration("a", "Exists"), []),
        (Toleration("", "Exists"), []),
        (Toleration("a", "Exists", "", "NoExecute", -5), []),
        (MALFORMED, []),
        (Toleration(), [("operator", "operator is 'Equal', an empty key needs 'Exists'")]),
        (Toleration("a/b/c", "Exists"), [("key", "key 'a/b/c' has more than one '/'")]),
        (Toleration("a", "Exists", "x"), [("value", "value is 'x', operator 'Exists' takes no value")]),
        (Toleration("a", "exists"), [("operator", "operator 'exists' is neither 'Exists' nor 'Equal'")]),
        (
            Toleration("a", "Equal", "x" * 64),
            [("value", f"value {'x' * 64!r} has 64 characters, the limit is 63")],
        ),
        (
            Toleration("a", "Exists", "", "noSchedule"),
            [("effect", "effect 'noSchedule' is not one of NoSchedule, PreferNoSchedule, NoExecute")],
        ),
        (
            Toleration("a", "Exists", "", "NoSchedule", 60),
            [("effect", "effect is 'NoSchedule', tolerationSeconds needs 'NoExecute'")],
        ),
        (
            Toleration("a", "Exists", "", "", 60),
            [("effect", "effect is empty, tolerationSeconds needs 'NoExecute'")],
        ),
        (
            Toleration("a", "Gt", "1"),
            [
                (
                    "operator",
                    "operator 'Gt' needs the feature gate TaintTolerationComparisonOperators, off by default",
                )
            ],
        ),
    ],
    ids=str,
)
def test_problems(toleration: Toleration, problems: list[tuple[str, str]]) -> None:
    assert list(tolerations.problems(toleration)) == problems


@pytest.mark.parametrize(
    ("value", "valid"), [("0", True), ("-1", True), ("007", False), ("-0", False), ("x", False)]
)
def test_comparisons_need_a_canonical_number(value: str, valid: bool) -> None:
    found = tolerations.problems(Toleration("a", "Lt", value), comparison=True)
    message = f"value {value!r} is not a 64-bit whole number without leading zeros, as Lt needs"
    assert list(found) == ([] if valid else [("value", message)])


def test_taint_problems() -> None:
    taints = [Taint("a"), Taint("a", "x"), Taint("", "no label", ""), Taint("b", "", "No")]
    assert [problem[:2] for problem in oracle.taint_problems(taints)] == [
        (1, "key"),
        (2, "key"),
        (2, "value"),
        (2, "effect"),
        (3, "effect"),
    ]
    assert oracle.taint_problems([Taint("a", effect="")])[0][2] == (
        "effect is missing, it must be one of NoSchedule, PreferNoSchedule, NoExecute"
    )


@pytest.mark.parametrize(
    ("a", "b", "covered"),
    [
        (Toleration("a", "Exists"), Toleration("a", "Equal", "x", "NoExecute"), True),
        (Toleration("", "Exists"), Toleration("a", "Exists"), True),
        (Toleration("a", "", "x"), Toleration("a", "Equal", "x"), True),
        (Toleration("a", "Equal", "x"), Toleration("a", "", "x"), False),
        (Toleration("a", "Exists", "", "NoSchedule"), Toleration("a", "Exists"), False),
        (Toleration("a", "Equal", "x"), Toleration("a", "Exists"), False),
        (Toleration("a", "Exists", "", "NoExecute", 60), Toleration("a", "Exists", "", "NoExecute"), False),
        (
            Toleration("a", "Exists", "", "NoExecute", 60),
            Toleration("a", "Exists", "", "NoExecute", 30),
            True,
        ),
        (Toleration("a", "Exists", "", "NoExecute"), Toleration("a", "Exists", "", "NoExecute", 30), True),
    ],
    ids=str,
)
def test_covers(a: Toleration, b: Toleration, covered: bool) -> None:
    assert covers(a, b) is covered


def test_to_dict_leaves_out_what_is_empty() -> None:
    toleration = Toleration("a", "Exists", "", "NoExecute", 0)
    written = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
    assert tolerations.to_dict(toleration) == written


@given(TOLERATIONS, TAINTS, st.booleans())
def test_tolerates_as_the_rule_says(toleration: Toleration, taint: Taint, comparison: bool) -> None:
    assert tolerates(toleration, taint, comparison=comparison) == slow(toleration, taint, comparison)


@given(TOLERATIONS, TOLERATIONS)
def test_what_covers_tolerates_no_less(a: Toleration, b: Toleration) -> None:
    if covers(a, b):
        for taint in EVERY_TAINT:
            assert tolerates(a, taint) >= tolerates(b, taint), taint


@given(TOLERATIONS)
def test_every_toleration_covers_itself(toleration: Toleration) -> None:
    assert covers(toleration, toleration)


@given(TOLERATIONS)
def test_written_reads_back(toleration: Toleration) -> None:
    assert tolerations.read([tolerations.to_dict(toleration)]) == (toleration,)


@given(st.lists(TAINTS), st.lists(TOLERATIONS), TOLERATIONS)
def test_one_more_toleration_never_hurts(
    taints: list[Taint], some: list[Toleration], more: Toleration
) -> None:
    if tolerations.untolerated(taints, some) is None:
        assert tolerations.untolerated(taints, [*some, more]) is None


def test_malformed_tolerates_nothing() -> None:
    assert not any(tolerates(MALFORMED, taint, comparison=True) for taint in EVERY_TAINT)
