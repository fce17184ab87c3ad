"""Koordinator's objects, read back into the policy they were made from, and as people write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policykit.importer.files import objects
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.inventory import Inventory
from policykit.model.queue import Queue, Reservation, Tenant
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.importing import KoordinatorReader
from policykit.targets.koordinator.objects import files
from policykit.targets.koordinator.objects.quotas import ROOT
from tests.targets.koordinator.options import koordinator_options
from tests.targets.koordinator.strategies import AMOUNTS, NAMES, queue_trees

NEWEST = Version(1, 8, 0)


def found_in(*texts: str) -> Inventory:
    reader = KoordinatorReader(Inventory())
    for text in texts:
        for manifest in objects(text, "objects.yaml"):
            assert reader.read_object(manifest, "objects.yaml")
    reader.finish()
    return reader.inventory


def generated(cluster: Cluster) -> Inventory:
    artifacts, _ = files.generate(cluster, NEWEST, "koordinator-system")
    return found_in(*(artifact.text for artifact in artifacts))


def cluster(**fields: Any) -> Cluster:
    target = TargetSettings("koordinator", options=fields.pop("options", None))
    return Cluster("c", (), targets={"koordinator": target}, **fields)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(queue_trees())
def test_what_is_generated_from_what_was_read_is_the_same(queues: tuple[Queue, ...]) -> None:
    """Priorities, submitters and pools of queues are in no ElasticQuota, and are said at generation."""
    first, _ = files.generate(cluster(queues=queues), NEWEST, "x")
    again = found_in(*(artifact.text for artifact in first))
    second, _ = files.generate(cluster(queues=tuple(again.queues.values())), NEWEST, "x")
    third = found_in(*(artifact.text for artifact in second))
    assert third.queues == again.queues
    assert again.remarks == []


def test_queues_come_back_as_they_were() -> None:
    queues = (
        Queue("research", limit={"koordinator.sh/gpu": 800}),
        Queue("team-a", "research", 2, {"koordinator.sh/gpu": 200}, limit={"cpu": 64000}),
        Queue("team-b", "research", 3, deserved={"koordinator.sh/gpu": 400}),
        Queue("open", weight=4, deserved={"memory": 2**40}),
    )
    tenants = (Tenant("a", ("a-dev", "a-prod"), "team-a"), Tenant("b", ("b",), "team-b"))
    found = generated(cluster(queues=queues, tenants=tenants))
    assert tuple(found.queues.values()) == queues
    assert tuple(found.tenants.values()) == tenants
    assert found.remarks == []


RESERVATIONS = st.builds(
    Reservation,
    NAMES,
    AMOUNTS.map(
        lambda amounts: {n: a for n, a in amounts.items() if "koordinator" not in n} or {"cpu": 1000}
    ),
    st.integers(1, 3),
    st.sampled_from(["", "a"]),
    st.sampled_from(["", "train"]),
    st.sampled_from(["", "pool"]),
    st.integers(0, 10**7),
)


@given(st.lists(RESERVATIONS, unique_by=lambda each: each.name, max_size=3))
def test_reservations_come_back(stated: list[Reservation]) -> None:
    made = cluster(
        reservations=tuple(stated),
        tenants=(Tenant("a", ("a-dev",)),),
        workloads={"train": WorkloadKind("train", scheduler="koord-scheduler")},
    )
    assert list(generated(made).reservations.values()) == stated


def test_classes_come_back() -> None:
    stated = {
        "train": {"priority": "batch", "qos": "BE", "tenants": ["a"], "namespaces": ["extra"]},
        "web": {"priority": "mid", "qos": "BE", "order": 5},
    }
    made = cluster(
        queues=(Queue("q"),),
        tenants=(Tenant("a", ("a-dev", "a-prod"), "q"),),
        workloads={"train": WorkloadKind("train"), "web": WorkloadKind("web")},
        options=koordinator_options(classes=stated),
    )
    assert generated(made).targets["koordinator"] == {
        "colocation": {
            "workloads": {
                "train": {"priority": "batch", "tenants": ["a"], "namespaces": ["extra"]},
                "web": {"priority": "mid", "qos": "BE", "order": 5},
            }
        }
    }


def quota(name: str, *, labels: str = "", annotations: str = "", low: str = "{}", high: str = "{}") -> str:
    prefix = "quota.scheduling.koordinator.sh"
    return (
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\n"
        f"metadata: {{name: {name}, namespace: n, labels: {{{labels.replace('@', prefix)}}}, "
        f"annotations: {{{annotations.replace('@', prefix)}}}}}\nspec: {{min: {low}, max: {high}}}\n"
    )


@pytest.mark.parametrize(
    ("text", "queue", "said"),
    [
        (
            quota("a", low="{cpu: 4}", high="{cpu: 8}"),
            Queue("a", deserved={"cpu": 4000}, limit={"cpu": 8000}),
            "",
        ),
        (
            quota("a", labels='"@/allow-lent-resource": "false", "@/parent": p', low="{cpu: 4}"),
            Queue("a", "p", guarantee={"cpu": 4000}),
            "",
        ),
        (quota("a", annotations="""'@/shared-weight': '{"cpu":"2","memory":2}'"""), Queue("a", weight=2), ""),
        (
            quota("a", annotations="""'@/shared-weight': '{"cpu":"40","memory":"40Gi"}'"""),
            Queue("a"),
            "ElasticQuota a has a different shared-weight for each resource, which a policy cannot "
            "express; left out",
        ),
        (
            quota("a", labels='"@/tree-id": x'),
            Queue("a"),
            "ElasticQuota a is in tree x, but a policy has only one tree of queues",
        ),
        (quota(ROOT), None, ""),
    ],
    ids=["lent", "kept", "weight", "weights", "tree", "built in"],
)
def test_quotas_people_wrote(text: str, queue: Queue | None, said: str) -> None:
    found = found_in(text)
    assert list(found.queues.values()) == ([queue] if queue else [])
    assert found.remarks == ([said] if said else [])


def test_namespaces_of_a_quota_are_a_tenants() -> None:
    found = found_in(quota("a", annotations="""'@/namespaces': '["x","y"]'"""))
    assert list(found.tenants.values()) == [Tenant("a", ("x", "y"), "a")]


def test_a_system_that_says_more_of_a_queue_comes_first() -> None:
    reader = KoordinatorReader(Inventory())
    full = Queue("a", priority=3, limit={"cpu": 8000})
    reader.inventory.add_queue(full)
    (manifest,) = objects(quota("a", high="{cpu: 8}"), "quota.yaml")
    assert reader.read_object(manifest, "quota.yaml")
    reader.finish()
    assert (reader.inventory.queues["a"], reader.inventory.remarks) == (full, [])


RESERVATION = """\
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata: {name: r}
spec:
  owners: OWNERS
  template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}
"""


@pytest.mark.parametrize(
    ("owners", "tenant", "said"),
    [
        ("[{object: {namespace: x}}]", "x", False),
        ("[{labelSelector: {}}]", "", False),
        ("[{labelSelector: {matchLabels: {policykit.io/workload: w}}}]", "", False),
        ("[{object: {namespace: x, name: pod}}]", None, True),
        ("[{labelSelector: {matchLabels: {app: web}}}]", None, True),
        ("[{controller: {kind: Job, name: j, apiVersion: batch/v1, uid: u}}]", None, True),
        ("[]", None, True),
    ],
    ids=["namespace", "anybody", "kind", "one pod", "other labels", "controller", "nobody"],
)
def test_reservations_people_wrote(owners: str, tenant: str | None, said: bool) -> None:
    found = found_in(RESERVATION.replace("OWNERS", owners))
    assert [each.tenant for each in found.reservations.values()] == ([] if tenant is None else [tenant])
    assert bool(found.remarks) == said


def test_profiles_people_wrote_stay_theirs() -> None:
    found = found_in(
        "apiVersion: config.koordinator.sh/v1alpha1\nkind: ClusterColocationProfile\nmetadata: {name: p}\n"
        "spec: {qosClass: BE, priorityClassName: koord-batch}\n"
    )
    assert found.targets == {"koordinator": {}}
    assert found.remarks[0].startswith("ClusterColocationProfile p does not select one workload kind")


def test_layers_are_levels() -> None:
    found = found_in(
        "apiVersion: scheduling.koordinator.sh/v1alpha1\nkind: ClusterNetworkTopology\n"
        "metadata: {name: default}\n"
        "spec:\n  networkTopologySpec:\n  - {topologyLayer: spine, labelKey: [s]}\n"
        "  - {topologyLayer: rack, parentTopologyLayer: spine, labelKey: [example.com/rack]}\n"
        "  - {topologyLayer: NodeTopologyLayer, parentTopologyLayer: rack}\n"
    )
    assert found.levels == {"rack": "example.com/rack"}
    assert found.remarks == [
        "network layer spine: a policy has levels zone, domain, rack, switch, nvlink only"
    ]
