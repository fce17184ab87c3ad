import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.model.queue import Queue
from policykit.targets.volcano import admission, queues, versions
from policykit.targets.volcano.admission import admitted
from tests.targets.volcano.clusters import GPU

NEWEST = versions.parse("")


@pytest.mark.parametrize(
    ("given_queues", "version", "expected", "notices"),
    [
        pytest.param((Queue("b"), Queue("a")), "", (Queue("a"), Queue("b")), (), id="in-order-of-name"),
        pytest.param((Queue("default"),), "", (), (), id="default-untouched"),
        pytest.param(
            (Queue("default", weight=4),), "", (Queue("default", weight=4),), (), id="default-changed"
        ),
        pytest.param(
            (Queue("default"), Queue("a", "default")),
            "",
            (Queue("default"), Queue("a", "default")),
            (),
            id="default-as-parent",
        ),
        pytest.param(
            (Queue("root", limit={GPU: 8}), Queue("a", "root")),
            "",
            (Queue("a", "root"),),
            (
                "queue root is Volcano's own and protected: its settings are not written. Set limits on the "
                "queues below",
            ),
            id="root",
        ),
        pytest.param(
            (Queue("a", guarantee={GPU: 8, "cpu": 1000}, deserved={GPU: 16}),),
            "",
            (Queue("a", guarantee={GPU: 8, "cpu": 1000}, deserved={GPU: 16, "cpu": 1000}),),
            (),
            id="guaranteed-is-deserved",
        ),
        pytest.param(
            (Queue("a", "z", guarantee={GPU: 8}), Queue("b", "z", deserved={"cpu": 1000}), Queue("z")),
            "",
            (
                Queue("z", guarantee={GPU: 8}, deserved={GPU: 8, "cpu": 1000}),
                Queue("a", "z", guarantee={GPU: 8}, deserved={GPU: 8}),
                Queue("b", "z", deserved={"cpu": 1000}),
            ),
            (),
            id="parents-first-and-large-enough",
        ),
        pytest.param(
            (Queue("a", "b", guarantee={GPU: 8}, deserved={GPU: 9}, priority=3), Queue("b")),
            "1.8.2",
            (Queue("a", guarantee={GPU: 8}), Queue("b")),
            (
                "Volcano 1.8.2 has no Queue.spec.deserved (since 1.9.0): not written",
                "Volcano 1.8.2 has no Queue.spec.priority (since 1.10.0): not written",
                "Volcano 1.8.2 has no queue tree (since 1.11.0): the queues are written flat",
            ),
            id="older-release",
        ),
        pytest.param(
            (Queue("a", deserved={GPU: 8}, limit={"cpu": 1000}), Queue("b", deserved={GPU: 8})),
            "1.14.1",
            (Queue("a", deserved={GPU: 8}, limit={"cpu": 1000, GPU: 8}), Queue("b", deserved={GPU: 8})),
            (
                "queue a: where limits are stated, Volcano 1.14.1 takes a missing one for 0, so for "
                "nvidia.com/gpu it is set to deserved. State it, or use 1.14.2 or newer",
            ),
            id="whole-lists-1.13-to-1.14.1",
        ),
        pytest.param(
            (Queue("a", limit={"gpu": 8, "hugepages-2Mi": 1}),),
            "",
            (Queue("a", limit={"gpu": 8, "hugepages-2Mi": 1}),),
            (
                "queue a: Volcano drops resource gpu without a message. Write cpu, memory, pods, "
                "ephemeral-storage, hugepages-<size> or a name with a domain, such as nvidia.com/gpu",
            ),
            id="dropped-resource",
        ),
    ],
)
def test_admitted(
    given_queues: tuple[Queue, ...], version: str, expected: tuple[Queue, ...], notices: tuple[str, ...]
) -> None:
    assert admitted(given_queues, versions.parse(version)) == (expected, notices)


CHAIN = tuple(Queue(f"q{n}", f"q{n - 1}" if n else "") for n in range(6))


@pytest.mark.parametrize(
    ("given_queues", "message"),
    [
        pytest.param(
            (Queue("a", guarantee={GPU: 8}, deserved={GPU: 4}),),
            "queue a has guarantee nvidia.com/gpu 8, above deserved 4 of queue a",
            id="guarantee-above-deserved",
        ),
        pytest.param(
            (Queue("a", deserved={"memory": 4 << 30}, limit={"memory": 2 << 30}),),
            "queue a has deserved memory 4Gi, above limit 2Gi of queue a",
            id="deserved-above-limit",
        ),
        pytest.param(
            (
                Queue("p", guarantee={GPU: 8}),
                Queue("a", "p", guarantee={GPU: 8}),
                Queue("b", "p", guarantee={GPU: 1}),
            ),
            "the children of queue p have guarantee nvidia.com/gpu 9, above guarantee 8 of queue p",
            id="children-above-parent",
        ),
        pytest.param(
            (Queue("p", limit={GPU: 8}), Queue("q", "p"), Queue("a", "q", limit={GPU: 9})),
            "queue a has limit nvidia.com/gpu 9, above limit 8 of queue p",
            id="limit-above-ancestor",
        ),
        pytest.param((Queue("a", "p"),), "queue a has parent p, which is no queue", id="no-parent"),
        pytest.param((Queue("a", "b"), Queue("b", "a")), "queue a is its own ancestor", id="cycle"),
        pytest.param(CHAIN, "queue q5 is 6 levels below root, of 5 at most", id="too-deep"),
    ],
)
def test_refused(given_queues: tuple[Queue, ...], message: str) -> None:
    with pytest.raises(PolicykitError) as raised:
        admitted(given_queues, NEWEST)
    assert raised.value.message == message
    assert raised.value.hint


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), st.integers(0, 40), max_size=3)
TREES = st.lists(
    st.builds(Queue, name=st.just(""), guarantee=AMOUNTS, deserved=AMOUNTS, limit=AMOUNTS), max_size=5
).flatmap(
    lambda made: st.tuples(*(st.integers(0, number) for number in range(len(made)))).map(
        lambda parents: tuple(
            queue._replace(name=f"q{number}", parent=f"q{parent - 1}" if parent else "")
            for number, (queue, parent) in enumerate(zip(made, parents, strict=True))
        )
    )
)


@given(TREES)
def test_what_is_admitted_keeps_the_webhooks_rules_and_stays(tree: tuple[Queue, ...]) -> None:
    try:
        written, _ = admitted(tree, NEWEST)
    except PolicykitError:
        return
    seen = {"", "root"}
    for queue in written:
        assert queue.parent in seen
        seen.add(queue.name)
        assert all(queue.deserved[name] >= amount for name, amount in queue.guarantee.items())
        assert all(queue.limit.get(name, amount) >= amount for name, amount in queue.deserved.items())
        children = [child for child in written if child.parent == queue.name]
        for name in ("cpu", "memory", GPU):
            assert sum(child.deserved.get(name, 0) for child in children) <= queue.deserved.get(name, 0)
            assert sum(child.guarantee.get(name, 0) for child in children) <= queue.guarantee.get(name, 0)
    assert tuple(queues.read(queues.write(queue)) for queue in written) == written
    assert admitted(written, NEWEST)[0] == written


@pytest.mark.parametrize(
    ("given_queues", "expected"),
    [
        ((Queue("a", weight=3, limit={GPU: 8}),), False),
        ((Queue("a", deserved={GPU: 8}),), True),
        ((Queue("a", guarantee={GPU: 8}),), True),
        ((Queue("a", "b"),), True),
        ((Queue("a", "root"),), False),
    ],
    ids=["weights", "deserved", "guarantee", "tree", "below-root"],
)
def test_shared_by_capacity(given_queues: tuple[Queue, ...], expected: bool) -> None:
    assert admission.shared_by_capacity(given_queues) is expected
