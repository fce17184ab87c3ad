from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.model.queue import PoolAffinity, Queue
from policykit.targets.volcano.objects import queues
from policykit.targets.volcano.objects.queues import Branch
from tests.loaded import loaded
from tests.shared import SHARED
from tests.targets.volcano.clusters import GIB, GPU

RESOURCES = st.sampled_from(["cpu", "memory", "pods", "ephemeral-storage", "hugepages-2Mi", GPU, "rdma/hca"])
AMOUNTS = st.dictionaries(RESOURCES, st.integers(0, 2**50) | st.integers(0, 2**20).map(lambda n: n << 30))
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?", fullmatch=True)
LISTS = st.lists(NAMES, max_size=3).map(tuple)
AFFINITY = st.builds(PoolAffinity, LISTS, LISTS, LISTS, LISTS).map(
    lambda pools: pools if any(pools) else None
)
QUEUES = st.builds(
    Queue,
    name=NAMES,
    parent=st.just("") | NAMES,
    weight=st.integers(0, 65535),
    guarantee=AMOUNTS,
    deserved=AMOUNTS,
    limit=AMOUNTS,
    priority=st.none() | st.integers(0, 2**31 - 1),
    reclaimable=st.booleans(),
    submit=st.none(),
    pools=AFFINITY,
    protected=st.just(False),
)


@given(QUEUES)
def test_what_is_written_reads_back(queue: Queue) -> None:
    assert queues.read(queues.write(queue)) == queue
    assert queues.read(loaded(writer.dump(queues.write(queue)))) == queue


def test_written_in_full() -> None:
    queue = Queue(
        "a",
        "train",
        3,
        guarantee={GPU: 8},
        deserved={GPU: 16, "cpu": 100_000},
        limit={"memory": 200 * GIB, "cpu": 1500},
        priority=10,
        reclaimable=False,
        pools=PoolAffinity(("h20", "h100"), ("h100",), ("a10",), ("h20",)),
    )
    assert queues.write(queue) == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "a"},
        "spec": {
            "weight": 3,
            "reclaimable": False,
            "parent": "train",
            "priority": 10,
            "capability": {"cpu": "1500m", "memory": "200Gi"},
            "deserved": {"cpu": "100", GPU: "16"},
            "guarantee": {"resource": {GPU: "8"}},
            "affinity": {
                "nodeGroupAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": ["h20", "h100"],
                    "preferredDuringSchedulingIgnoredDuringExecution": ["h100"],
                },
                "nodeGroupAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": ["a10"],
                    "preferredDuringSchedulingIgnoredDuringExecution": ["h20"],
                },
            },
        },
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, Queue("")),
        ({"metadata": "a", "spec": []}, Queue("")),
        ({"metadata": {"name": 3}, "spec": {"weight": "2", "priority": True, "parent": 1}}, Queue("")),
        (
            {"metadata": {"name": "a"}, "spec": {"reclaimable": None, "capability": {"cpu": "x", GPU: 4}}},
            Queue("a", limit={GPU: 4}),
        ),
        ({"metadata": {"name": "a"}, "spec": {"guarantee": {"cpu": 4}}}, Queue("a")),
        ({"spec": {"affinity": {"nodeGroupAffinity": ["a"], "nodeGroupAntiAffinity": {}}}}, Queue("")),
    ],
    ids=["empty", "shapes", "types", "quantities", "guarantee-without-resource", "affinity"],
)
def test_other_shapes_read_as_defaults(data: dict[str, Any], expected: Queue) -> None:
    assert queues.read(data) == expected


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, ()),
        (
            {"volcano.sh/hierarchy": "root/eng/prod", "volcano.sh/hierarchy-weights": "1/2/8"},
            (Branch("eng", 2), Branch("prod", 8)),
        ),
        (
            {"volcano.sh/hierarchy": "eng/prod", "volcano.sh/hierarchy-weights": "x"},
            (Branch("eng", 1), Branch("prod", 1)),
        ),
        ({"volcano.sh/hierarchy": 3}, ()),
    ],
    ids=["none", "with-root", "weights-missing", "shape"],
)
def test_branches(annotations: dict[str, Any], expected: tuple[Branch, ...]) -> None:
    assert queues.branches({"metadata": {"annotations": annotations}}) == expected


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_reads_a_published_queue() -> None:
    assert SHARED is not None
    data = loaded((SHARED / "corpus/volcano/deployment-queue.yaml").read_text())
    assert queues.read(data) == Queue("test", limit={"cpu": 2000}, reclaimable=False)


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_affinity_is_valid_by_the_crd() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = loaded((SHARED / "corpus/crds/volcano/scheduling.volcano.sh_queues.yaml").read_text())
    served = {version["name"]: version for version in crd["spec"]["versions"]}
    schema = served["v1beta1"]["schema"]["openAPIV3Schema"]
    written = queues.write(Queue("a", pools=PoolAffinity(("h20",), ("h20",), ("a10",), ("h20",))))
    jsonschema.validate(written, schema)
    known = schema["properties"]["spec"]["properties"]["affinity"]["properties"]
    for side, lists in written["spec"]["affinity"].items():
        assert set(lists) <= set(known[side]["properties"])
