"""PriorityClass, ResourceQuota and LimitRange: written, read, and what they cannot count."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.model.queue import ContainerRange, Priority, Quota
from policykit.targets.kubernetes import priorities, quotas
from policykit.targets.kubernetes.quotas import LimitRange, ResourceQuota

NAMES = st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), min_size=1, max_size=8)
AMOUNTS = st.integers(0, 1 << 50)
KEYS = st.sampled_from(
    ["pods", "requests.cpu", "limits.cpu", "requests.memory", "requests.nvidia.com/gpu", "count/jobs.batch"]
)
PLAIN = st.dictionaries(st.sampled_from(quotas.RESOURCES), AMOUNTS)


@given(st.builds(Priority, NAMES, st.integers(-(2**31), 10**9), st.booleans(), st.booleans(), st.text()))
def test_priorities_are_read_as_written(priority: Priority) -> None:
    assert priorities.read(priorities.write(priority)) == priority


@given(
    st.builds(
        ResourceQuota,
        NAMES,
        NAMES,
        st.dictionaries(KEYS, AMOUNTS),
        st.lists(NAMES, max_size=3).map(tuple),
        st.just(()),
    )
)
def test_quotas_are_read_as_written(quota: ResourceQuota) -> None:
    assert quotas.read_quota(quotas.write_quota(quota)) == quota


@given(
    st.builds(LimitRange, NAMES, NAMES, st.builds(ContainerRange, PLAIN, PLAIN, PLAIN, PLAIN), st.just(()))
)
def test_ranges_are_read_as_written(limits: LimitRange) -> None:
    assert quotas.read_range(quotas.write_range(limits)) == limits


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
FIELDS = st.sampled_from(["metadata", "spec", "hard", "scopeSelector", "limits", "type", "default", "name"])
ODD = st.dictionaries(FIELDS, JSON | st.dictionaries(FIELDS, JSON | st.lists(st.dictionaries(FIELDS, JSON))))


@given(ODD)
def test_any_shape_is_read(data: dict[str, Any]) -> None:
    priorities.read(data)
    assert quotas.read_quota(quotas.write_quota(quotas.read_quota(data))).hard == quotas.read_quota(data).hard
    assert (
        quotas.read_range(quotas.write_range(quotas.read_range(data))).containers
        == quotas.read_range(data).containers
    )


@pytest.mark.parametrize(
    ("quota", "hard", "said"),
    [
        (Quota("n", "q", {"nvidia.com/gpu": 8}, pods=2), {"requests.nvidia.com/gpu": 8, "pods": 2}, []),
        (
            Quota("n", "q", {"cpu": 1, "nvidia.com/gpu": 8, "ephemeral-storage": 5}, priorities=("high",)),
            {"requests.cpu": 1, "requests.nvidia.com/gpu": 8},
            [
                "quota q: a ResourceQuota scoped to priorities cannot limit ephemeral-storage; omitted. "
                "Nearest: another quota without priorities"
                ", which counts all pods"
            ],
        ),
        (
            Quota("n", "q", {"kubernetes.io/batch-cpu": 1000, "memory": 1}),
            {"requests.memory": 1},
            [
                "quota q: the API server never counts kubernetes.io/batch-cpu; omitted. Nearest: the "
                "quota of the scheduler that allocates it"
            ],
        ),
    ],
    ids=["cards by requests", "of some priorities", "never counted"],
)
def test_only_keys_that_count(quota: Quota, hard: dict[str, int], said: list[str]) -> None:
    assert (quotas.resource_quota(quota).hard, list(quotas.uncounted(quota))) == (hard, said)


def test_a_quota_of_priorities_selects_by_scope() -> None:
    written = quotas.write_quota(ResourceQuota("n", "q", {"pods": 1}, ("high", "low")))
    assert written["spec"]["scopeSelector"] == {
        "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high", "low"]}]
    }


@pytest.mark.parametrize(
    ("spec", "unread"),
    [
        ("{hard: {pods: 3}}", ()),
        ("{hard: {pods: many}}", ("hard.pods",)),
        ("{hard: {pods: 3}, scopes: []}", ()),
        ("{hard: {pods: 3}, scopes: [BestEffort]}", ("scopes",)),
        (
            "{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}",
            ("scopeSelector",),
        ),
    ],
)
def test_what_has_no_place_is_named(spec: str, unread: tuple[str, ...]) -> None:
    assert quotas.read_quota({"spec": yaml.safe_load(spec)}).unread == unread


def test_a_range_on_cards_is_refused() -> None:
    limits = LimitRange("n", "q", ContainerRange(maximum={"nvidia.com/gpu": 8}))
    with pytest.raises(PolicykitError, match=r"containers states nvidia\.com/gpu") as caught:
        quotas.write_range(limits)
    assert caught.value.hint == "limit it by the quota itself: requests"


def test_a_range_in_full() -> None:
    limits = LimitRange(
        "n", "q", ContainerRange({"cpu": 500}, {"cpu": 100}, {"memory": 1 << 20}, {"cpu": 4000})
    )
    assert quotas.write_range(limits)["spec"]["limits"] == [
        {
            "type": "Container",
            "default": {"cpu": "500m"},
            "defaultRequest": {"cpu": "100m"},
            "min": {"memory": "1Mi"},
            "max": {"cpu": "4"},
        }
    ]


def test_other_items_and_cards_of_a_range_are_named() -> None:
    item = "{type: Container, max: {nvidia.com/gpu: 8, cpu: 2}, maxLimitRequestRatio: {cpu: 2}}"
    spec = f"{{limits: [{{type: Pod}}, {item}]}}"
    found = quotas.read_range({"spec": yaml.safe_load(spec)})
    assert found.containers == ContainerRange(maximum={"cpu": 2000})
    assert found.unread == ("limits of Pod", "maxLimitRequestRatio", "max.nvidia.com/gpu")
