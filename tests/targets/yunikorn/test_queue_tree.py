"""From a policy's queues to YuniKorn's tree: paths and amounts."""

import pytest

from policykit.errors import PolicykitError
from policykit.model.queue import Queue
from policykit.targets.yunikorn import queue_tree
from policykit.targets.yunikorn.configuration import values
from policykit.targets.yunikorn.queue_tree import tree_resources, without_padding
from tests.targets.yunikorn.clusters import GPU


def test_paths() -> None:
    queues = [
        Queue("team", "research"),
        Queue("research"),
        Queue("research.b", "research"),
        Queue("x", "gone"),
    ]
    assert queue_tree.checked_paths(queues) == {
        "team": "root.research.team",
        "research": "root.research",
        "research.b": "root.research.b",
        "x": "root.x",
    }


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        ([Queue("root")], "queue root is named root, which YuniKorn creates itself"),
        ([Queue("a.root")], "queue a.root is named root, which YuniKorn creates itself"),
        (
            [Queue("x.a"), Queue("y.a")],
            "queues x.a and y.a are both root.a in YuniKorn, where dots separate names",
        ),
    ],
    ids=["root", "last-part", "one-place"],
)
def test_queues_that_have_no_place(queues: list[Queue], message: str) -> None:
    with pytest.raises(PolicykitError) as error:
        queue_tree.checked_paths(queues)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("above", "limit", "written"),
    [
        ({}, {}, None),
        ({}, {GPU: 4, "cpu": 0}, {GPU: "4", "vcore": "0"}),
        ({}, {GPU: 0}, {GPU: "0", "pods": "1E"}),
        ({}, {"pods": 0}, {"pods": "0", "ephemeral-storage": "1E"}),
        ({"pods": 8}, {GPU: 0}, {GPU: "0", "ephemeral-storage": "1E"}),
    ],
    ids=["none", "some", "zero", "no-pods", "pods-limited-above"],
)
def test_a_limit_of_zero_needs_another_beside_it(
    above: dict[str, int], limit: dict[str, int], written: dict[str, str] | None
) -> None:
    made = tree_resources(
        [Queue("a", limit=above), Queue("b", "a"), Queue("c", "b", limit=limit)], deserved=True
    )
    assert made.resources["c"].maximum == written
    assert without_padding(values.to_amounts(written)) == limit


def test_no_queue_may_have_more_than_one_above_it() -> None:
    queues = [Queue("a", limit={GPU: 8}), Queue("b", "a"), Queue("c", "b", limit={GPU: 16, "cpu": 4000})]
    made = tree_resources(queues, deserved=True)
    assert made.resources["c"].maximum == {GPU: "8", "vcore": "4"}
    (notice,) = made.notices
    assert notice.startswith("limit of queue c is more than one above it allows, which YuniKorn refuses:")


@pytest.mark.parametrize(
    ("deserved", "guaranteed", "said"),
    [(True, "16", "YuniKorn has one amount"), (False, "8", "deserved of queue a is left out")],
    ids=["fits", "does-not-fit"],
)
def test_what_is_deserved_is_the_promise(deserved: bool, guaranteed: str, said: str) -> None:
    made = tree_resources([Queue("a", guarantee={GPU: 8}, deserved={GPU: 16})], deserved=deserved)
    assert made.resources["a"].guaranteed == {GPU: guaranteed}
    (notice,) = made.notices
    assert notice.startswith(said)


@pytest.mark.parametrize(("guarantee", "lost"), [({GPU: 8}, True), ({}, False)], ids=["kept-free", "lent"])
def test_only_a_guarantee_can_lose_what_it_keeps_free(guarantee: dict[str, int], lost: bool) -> None:
    (notice,) = tree_resources([Queue("a", guarantee=guarantee, deserved={GPU: 16})], deserved=True).notices
    assert notice.endswith(", so what guarantee keeps free is lent too") is lost
