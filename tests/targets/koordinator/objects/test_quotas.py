"""ElasticQuota objects and their tree: what Koordinator's webhook would say of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.manifests.writer import dump, dump_all
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.queue import Preemption, Queue, Submitters, Tenant
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.objects import files as objects
from policykit.targets.koordinator.objects import quotas
from policykit.targets.koordinator.objects.quota_tree import bind_namespaces, tree
from policykit.targets.koordinator.objects.quotas import ElasticQuota, QueueResources
from tests.loaded import loaded, loaded_all
from tests.shared import SHARED
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.strategies import AMOUNTS, NAMES, queue_trees, tenants
from tests.targets.koordinator.webhook import Webhook

NEWEST = Version(1, 8, 0)
GPU = "nvidia.com/gpu"
GIB = 2**30
RELEASES = st.sampled_from([Version(1, 4, 0), Version(1, 5, 0), Version(1, 6, 1), NEWEST])
QUOTAS = st.builds(
    ElasticQuota,
    NAMES,
    st.just("") | NAMES,
    st.just("") | NAMES,
    st.booleans(),
    AMOUNTS,
    AMOUNTS,
    st.booleans(),
    st.none() | AMOUNTS,
    st.lists(NAMES, max_size=3).map(tuple),
    st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=2).map(tuple), max_size=2),
    st.just("") | NAMES,
    st.none() | st.builds(QueueResources, *[st.lists(NAMES, max_size=2).map(tuple)] * 3),
)


@given(QUOTAS)
def test_what_is_written_reads_back(quota: ElasticQuota) -> None:
    assert quotas.read(loaded(dump(quotas.write(quota)))) == quota


@given(st.data(), RELEASES)
def test_the_webhook_takes_every_tree(data: st.DataObject, version: Version) -> None:
    queues = data.draw(queue_trees())
    made = tree(queues, "koordinator-system", version)
    charged, _ = bind_namespaces(made.quotas, data.draw(tenants(queues)))
    written = list(loaded_all(dump_all(map(quotas.write, charged))))
    webhook = Webhook()
    assert [refused for quota in written for refused in webhook.create(quota)] == []
    assert [quota["metadata"]["name"] for quota in written] == [quota.name for quota in charged]
    assert sorted(quota.name for quota in charged) == sorted(queue.name for queue in queues)
    assert [quotas.read(quota) for quota in written] == list(charged)


def _without_a_key(written: list[Any]) -> None:
    del written[1]["spec"]["max"]["cpu"]


def _promised_more(written: list[Any]) -> None:
    written[1]["spec"]["min"][GPU] = "9"


def _children_first(written: list[Any]) -> None:
    written.reverse()


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (_without_a_key, "a: max names other resources than that of p"),
        (_promised_more, f"a: min of {GPU} and its siblings is above that of p"),
        (_children_first, "a: parent p is not there"),
    ],
)
def test_the_webhook_refuses_what_is_changed(change: Any, refused: str) -> None:
    queues = (Queue("p", limit={GPU: 16, "cpu": 8000}), Queue("a", "p", deserved={GPU: 8}))
    written = [quotas.write(quota) for quota in tree(queues, "", NEWEST).quotas]
    change(written)
    webhook = Webhook()
    assert [said for quota in written for said in webhook.create(quota)] == [refused]


@given(queue_trees(), RELEASES)
def test_a_queue_gets_its_due_or_is_told(queues: tuple[Queue, ...], version: Version) -> None:
    made = tree(queues, "", version)
    by_name = {quota.name: quota for quota in made.quotas}
    for queue in queues:
        quota = by_name[queue.name]
        for stated in (queue.guarantee, queue.deserved):
            for resource in stated.keys() - {"koordinator.sh/gpu", "koordinator.sh/gpu-core"}:
                told = any(f"queue {queue.name} is due" in notice for notice in made.notices)
                assert quota.minimum[resource] >= stated[resource] or told
        for resource in queue.limit.keys() - {"koordinator.sh/gpu", "koordinator.sh/gpu-core"}:
            assert quota.maximum[resource] == queue.limit[resource]


@needs_crds
@settings(deadline=None)
@given(queue_trees())
def test_every_tree_fits_the_crd(queues: tuple[Queue, ...]) -> None:
    for quota in tree(queues, "koordinator-system", NEWEST).quotas:
        assert problems(quotas.write(quota)) == []


def test_written_in_full() -> None:
    queues = (
        Queue("team-a", "research", 2, {}, {GPU: 16}, {GPU: 32}),
        Queue("research", limit={GPU: 64, "memory": 512 * GIB}, guarantee={"cpu": 1500}),
    )
    made = tree(queues, "koordinator-system", NEWEST)
    charged, _ = bind_namespaces(made.quotas, (Tenant("a", ("a-dev", "a-prod"), "team-a"),))
    assert (
        dump_all(map(quotas.write, charged))
        == """\
---
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: research
  namespace: koordinator-system
  labels:
    quota.scheduling.koordinator.sh/parent: koordinator-root-quota
    quota.scheduling.koordinator.sh/is-parent: "true"
    quota.scheduling.koordinator.sh/allow-lent-resource: "true"
  annotations:
    quota.scheduling.koordinator.sh/shared-weight:
      "{\\"cpu\\":\\"1\\",\\"memory\\":\\"1\\",\\"nvidia.com/gpu\\":\\"1\\"}"
    policykit.io/stated:
      "{\\"guarantee\\":[\\"cpu\\"],\\"limit\\":[\\"memory\\",\\"nvidia.com/gpu\\"]}"
spec:
  min:
    cpu: 1500m
    nvidia.com/gpu: "16"
  max:
    cpu: "1000000"
    memory: 512Gi
    nvidia.com/gpu: "64"
---
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: team-a
  namespace: koordinator-system
  labels:
    quota.scheduling.koordinator.sh/parent: research
    quota.scheduling.koordinator.sh/is-parent: "false"
    quota.scheduling.koordinator.sh/allow-lent-resource: "true"
  annotations:
    quota.scheduling.koordinator.sh/shared-weight:
      "{\\"cpu\\":\\"2\\",\\"memory\\":\\"2\\",\\"nvidia.com/gpu\\":\\"2\\"}"
    quota.scheduling.koordinator.sh/namespaces: "[\\"a-dev\\",\\"a-prod\\"]"
    policykit.io/tenants: "{\\"a\\":[\\"a-dev\\",\\"a-prod\\"]}"
    policykit.io/stated:
      "{\\"deserved\\":[\\"nvidia.com/gpu\\"],\\"limit\\":[\\"nvidia.com/gpu\\"]}"
spec:
  min:
    nvidia.com/gpu: "16"
  max:
    cpu: "1000000"
    memory: 512Gi
    nvidia.com/gpu: "32"
"""
    )


@pytest.mark.parametrize(
    ("guarantee", "deserved", "minimum", "lends"),
    [
        ({GPU: 8}, {}, {GPU: 8}, False),
        ({}, {GPU: 8}, {GPU: 8}, True),
        ({GPU: 4}, {GPU: 8}, {GPU: 8}, True),
        ({GPU: 8}, {GPU: 8}, {GPU: 8}, False),
        ({GPU: 8}, {"cpu": 8000}, {"cpu": 8000, GPU: 8}, True),
        ({}, {}, {}, True),
    ],
    ids=["guarantee", "deserved", "less guaranteed", "all guaranteed", "another resource", "nothing"],
)
def test_minimum_and_lending(guarantee: Any, deserved: Any, minimum: Any, lends: bool) -> None:
    (quota,) = tree((Queue("a", guarantee=guarantee, deserved=deserved),), "", NEWEST).quotas
    assert (quota.minimum, quota.lends) == (minimum, lends)


@pytest.mark.parametrize(
    ("version", "names"),
    [
        (Version(1, 5, 0), ["koordinator.sh/gpu"]),
        (Version(1, 6, 1), ["koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"]),
    ],
    ids=["1.5", "1.6.1"],
)
def test_cards_are_limited_under_the_names_that_pods_have_then(version: Version, names: list[str]) -> None:
    (quota,) = tree((Queue("a", limit={"koordinator.sh/gpu": 800}),), "", version).quotas
    assert quota.maximum == dict.fromkeys(names, 800)


def test_children_share_what_their_parent_has_less() -> None:
    queues = (
        Queue("p", limit={GPU: 9}),
        Queue("a", "p", deserved={GPU: 12}),
        Queue("b", "p", deserved={GPU: 6}),
    )
    made = tree(queues, "", NEWEST)
    assert [quota.minimum for quota in made.quotas] == [{GPU: 9}, {GPU: 6}, {GPU: 3}]
    assert made.notices == (
        f"queue a is due 12 {GPU}, but its parents have less: its minimum is 6",
        f"queue b is due 6 {GPU}, but its parents have less: its minimum is 3",
    )


def test_a_parent_is_raised_to_its_children() -> None:
    queues = (
        Queue("p", guarantee={GPU: 8}),
        Queue("a", "p", deserved={GPU: 8}),
        Queue("b", "p", deserved={GPU: 8}),
    )
    made = tree(queues, "", NEWEST)
    assert made.quotas[0].minimum == {GPU: 16}
    assert made.notices[0] == (
        f"queue p is due 8 {GPU}, but its children 16 in total: its minimum is 16, since Koordinator refuses "
        "children whose minimums add up to more"
    )


def test_built_in_quotas_are_left_alone() -> None:
    made = tree((Queue("koordinator-root-quota"), Queue("a", "koordinator-root-quota")), "", NEWEST)
    assert [(quota.name, quota.parent) for quota in made.quotas] == [("a", "")]
    assert made.notices == ("queue koordinator-root-quota is built into Koordinator: it is not written",)


def test_a_name_that_no_label_holds() -> None:
    with pytest.raises(PolicykitError, match="Koordinator's pods and quotas use it as a label value"):
        tree((Queue("a" * 64),), "", NEWEST)


def test_a_thousand_queues_deep() -> None:
    queues = tuple(Queue(f"q-{n}", f"q-{n - 1}" if n else "", deserved={GPU: 1}) for n in range(1000))
    made = tree(queues, "", NEWEST)
    assert made.quotas[0].minimum == {GPU: 1}
    assert len(made.quotas) == 1000


def test_tenants_of_one_namespace_and_of_a_parent() -> None:
    quota = tree((Queue("p"), Queue("a", "p"), Queue("b", "p")), "", NEWEST).quotas
    stated = (Tenant("x", ("n", "m"), "a"), Tenant("y", ("n",), "b"), Tenant("z", ("k",), "p"))
    charged, said = bind_namespaces(quota, stated)
    assert {each.name: each.namespaces for each in charged} == {"p": (), "a": ("n", "m"), "b": ()}
    assert said == (
        "namespace n belongs to tenants x and y: it is bound to the queue of x",
        "tenant z has queue p, which has children: Koordinator refuses pods in such a queue, so its "
        "namespaces are bound to none. Name one of the children",
    )


def cluster(**fields: Any) -> Cluster:
    return Cluster("c", (), targets={"koordinator": TargetSettings("koordinator")}, **fields)


def test_what_queues_ask_for_and_koordinator_has_not() -> None:
    made = cluster(
        queues=(
            Queue("p", priority=3, reclaimable=False),
            Queue("a", "p", deserved={GPU: 8}, priority=1, submit=Submitters()),
        ),
        workloads={"train": WorkloadKind("train", scheduler="koord-scheduler", queue="p")},
    )
    _, said = objects.generate(made, NEWEST, "koordinator-system")
    assert [notice.split(".")[0] for notice in said] == [
        "queue a: Koordinator does not check who submits pods",
        "queues p, a: Koordinator has no priorities of queues",
        "queue p: an ElasticQuota cannot express reclaimable: false",
        "queues p, a: the minimum is lent while unused, and returned only as borrowing pods end, unless "
        "the policy has preemption",
        "workload kind train has queue p, which has children: Koordinator refuses pods there, unless its "
        "feature gate SupportParentQuotaSubmitPod is on",
    ]
    assert any("lent while unused" in notice for notice in said)
    again, quiet = objects.generate(made._replace(preemption=Preemption(reclaim=True)), NEWEST, "x")
    assert not any("lent while unused" in notice for notice in quiet)
    assert [artifact.path for artifact in again] == ["koordinator/quotas.yaml"]


def test_nothing_is_written_for_nothing() -> None:
    assert objects.generate(cluster(), NEWEST, "koordinator-system") == ((), ())


@pytest.mark.skipif(SHARED is None, reason="the corpus is not beside the checkout")
def test_quotas_people_wrote() -> None:
    assert SHARED is not None
    text = (SHARED / "corpus" / "koordinator" / "quota-parent-child.yaml").read_text(encoding="utf-8")
    parent, child = map(quotas.read, loaded_all(text))
    assert parent == ElasticQuota(
        *("parentA", "default", "", True),
        {"cpu": 100000, "memory": 200 * GIB},
        {"cpu": 100000, "memory": 200 * GIB},
    )
    assert child == ElasticQuota(
        *("childA1", "default", "parentA", False),
        {"cpu": 20000, "memory": 40 * GIB},
        {"cpu": 40000, "memory": 100 * GIB},
    )


@pytest.mark.parametrize("data", [{}, {"metadata": 7, "spec": []}, {"metadata": {"labels": {"x": 1}}}])
def test_other_shapes_say_nothing(data: Any) -> None:
    assert quotas.read(data) == ElasticQuota("")
