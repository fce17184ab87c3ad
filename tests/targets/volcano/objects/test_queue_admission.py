import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.model.queue import PoolAffinity, Queue, Submitters
from policykit.model.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import queue_admission, queues
from policykit.targets.volcano.objects.queue_admission import admitted_queues
from tests.targets.volcano.clusters import GPU, POOLS
from tests.targets.volcano.webhook import refused_queues

NEWEST = versions.parse("")
ALL = PoolAffinity(tuple(pool.name for pool in POOLS))


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
                "queue root belongs to Volcano: its settings are not written. Set limits on the "
                "queues below it",
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
                "Volcano 1.8.2 has no Queue.spec.deserved (added in 1.9.0): it is not written",
                "Volcano 1.8.2 has no Queue.spec.priority (added in 1.10.0): it is not written",
                "Volcano 1.8.2 has no queue tree (added in 1.11.0): the queues are written flat. The "
                "guarantee of a parent adds to those of its children, and its limit does not apply "
                "to them: set both on the queues without children",
            ),
            id="older-release",
        ),
        pytest.param(
            (Queue("a", deserved={GPU: 8}, limit={"cpu": 1000}), Queue("b", deserved={GPU: 8})),
            "1.14.1",
            (Queue("a", deserved={GPU: 8}, limit={"cpu": 1000, GPU: 8}), Queue("b", deserved={GPU: 8})),
            (
                "queue a: Volcano 1.14.1 takes a resource missing in a limit as 0, so a limit on "
                "nvidia.com/gpu is added: what is deserved, or what the queues below may use. Set "
                "it, or use 1.14.2 or newer",
            ),
            id="whole-lists-1.13-to-1.14.1",
        ),
        pytest.param(
            (Queue("p"), Queue("a", "p", limit={GPU: 8}), Queue("b", "p", limit={GPU: 4, "cpu": 2000})),
            "1.14.0",
            (
                Queue("p", limit={GPU: 12, "cpu": 2000}),
                Queue("a", "p", limit={GPU: 8}),
                Queue("b", "p", limit={GPU: 4, "cpu": 2000}),
            ),
            (
                "queue p: Volcano 1.14.0 takes a resource missing in a limit as 0, so a limit on "
                "cpu, nvidia.com/gpu is added: what is deserved, or what the queues below may use. "
                "Set it, or use 1.14.2 or newer",
            ),
            id="parents-list-what-children-do-1.14.0",
        ),
        pytest.param(
            (Queue("p"), Queue("a", "p", limit={GPU: 8})),
            "1.13",
            (Queue("p"), Queue("a", "p", limit={GPU: 8})),
            (),
            id="not-yet-in-1.13",
        ),
        pytest.param(
            (Queue("a", submit=Submitters(("ann",))),), "", (Queue("a"),), (), id="submitters-have-no-field"
        ),
        pytest.param(
            (Queue("a", pools=PoolAffinity(("train-h20",))), Queue("b", "a")),
            "",
            (
                Queue("a", pools=PoolAffinity(("train-h20",))),
                Queue("default", pools=ALL),
                Queue("b", "a", pools=PoolAffinity(("train-h20",))),
            ),
            (),
            id="pools-for-every-queue",
        ),
        pytest.param(
            (Queue("a", pools=PoolAffinity(("train-h20",))),),
            "1.8",
            (Queue("a"),),
            (
                "Volcano 1.8.2 has no node groups (plugin nodegroup, added in 1.9.0): the pools of "
                "queues are not written. Nearest: node affinity of the workload kinds",
            ),
            id="pools-before-1.9",
        ),
        pytest.param(
            (Queue("a", limit={"gpu": 8, "hugepages-2Mi": 1}),),
            "",
            (Queue("a", limit={"gpu": 8, "hugepages-2Mi": 1}),),
            (
                "queue a: Volcano drops resource gpu silently. Use cpu, memory, pods, "
                "ephemeral-storage, hugepages-<size> or a name with a domain, such as nvidia.com/gpu",
            ),
            id="dropped-resource",
        ),
    ],
)
def test_admitted(
    given_queues: tuple[Queue, ...], version: str, expected: tuple[Queue, ...], notices: tuple[str, ...]
) -> None:
    assert admitted_queues(given_queues, versions.parse(version), POOLS) == (expected, notices)


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
        pytest.param((Queue("a", "p"),), "queue a has parent p, which does not exist", id="no-parent"),
        pytest.param((Queue("a", "b"), Queue("b", "a")), "queue a is its own ancestor", id="cycle"),
        pytest.param(
            (Queue("A"),),
            "queue 'A' is not a DNS name, whose parts between dots must begin and end with a lower-case "
            "letter or digit, with only those and '-' between",
            id="name",
        ),
        pytest.param((Queue("a", weight=0),), "queue a has weight 0", id="weight"),
        pytest.param((Queue("a", priority=-1),), "queue a has priority -1", id="priority"),
        pytest.param(
            (Queue("a", pools=PoolAffinity(("train-h20",), excluded=("train-h20",))),),
            "queue a may use no pool: all of them are excluded",
            id="no-pool-left",
        ),
        pytest.param(CHAIN, "queue q5 is 6 levels below root, more than 5", id="too-deep"),
    ],
)
def test_refused(given_queues: tuple[Queue, ...], message: str) -> None:
    with pytest.raises(PolicykitError) as raised:
        admitted_queues(given_queues, NEWEST)
    assert raised.value.message == message
    assert raised.value.hint


def amounts_up_to(first: int, last: int) -> st.SearchStrategy[dict[str, int]]:
    """Rising from guarantee to limit, so that not every tree is refused."""
    some = st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), st.integers(first, last), max_size=2)
    return st.just({}) | some


SOME_POOLS = st.lists(st.sampled_from([pool.name for pool in POOLS]), max_size=2, unique=True).map(tuple)
TREES = st.lists(
    st.builds(
        Queue,
        name=st.just(""),
        weight=st.integers(1, 3),
        guarantee=amounts_up_to(0, 4),
        deserved=amounts_up_to(3, 12),
        limit=amounts_up_to(10, 40),
        priority=st.none() | st.integers(0, 3),
        submit=st.none() | st.just(Submitters(("ann",))),
        pools=st.none() | st.builds(PoolAffinity, SOME_POOLS, SOME_POOLS, SOME_POOLS, SOME_POOLS),
        protected=st.just(False),
    ),
    max_size=5,
).flatmap(
    lambda made: st.tuples(*(st.integers(0, number) for number in range(len(made)))).map(
        lambda parents: tuple(
            queue._replace(name=f"q{number}", parent=f"q{parent - 1}" if parent else "")
            for number, (queue, parent) in enumerate(zip(made, parents, strict=True))
        )
    )
)
VERSIONS = st.sampled_from(
    ["1.8", "1.9", "1.10", "1.11", "1.12", "1.13.0", "1.14.0", "1.14.1", "1.14.2", "1.15.1"]
).map(versions.parse)


@given(TREES, VERSIONS)
def test_what_is_admitted_keeps_the_webhooks_rules_and_stays(
    tree: tuple[Queue, ...], version: Version
) -> None:
    try:
        written, _ = admitted_queues(tree, version, POOLS)
    except PolicykitError:
        return
    assert refused_queues([queues.write(queue) for queue in written], version) == []
    assert tuple(queues.read(queues.write(queue)) for queue in written) == written
    assert admitted_queues(written, version, POOLS)[0] == written


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
    assert queue_admission.shared_by_capacity(given_queues) is expected
