"""Every object reads back as the value it was written from, whatever the release."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.model.pool import Taint, Toleration
from policykit.model.queue import Priority
from policykit.targets.kueue import versions
from policykit.targets.kueue.objects import READERS, queues, resource_flavors
from policykit.targets.kueue.objects.queues import ClusterQueue, Cohort, Fungibility, LocalQueue, Preemption
from policykit.targets.kueue.objects.resource_flavors import (
    Quota,
    ResourceFlavor,
    ResourceGroup,
    StatedResources,
    Topology,
)
from tests.targets.kueue.clusters import GIB, GPU

NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?", fullmatch=True)
RELEASES = st.sampled_from([versions.parse(f"0.{minor}") for minor in range(9, 20)])
AMOUNTS = st.integers(0, 2**50)
QUOTAS = st.builds(Quota, AMOUNTS, st.none() | AMOUNTS, st.none() | AMOUNTS)
RESOURCES = st.lists(st.sampled_from(["cpu", "memory", GPU, "rdma/hca"]), min_size=1, unique=True).map(tuple)


@st.composite
def groups(draw: st.DrawFn) -> ResourceGroup:
    resources = draw(RESOURCES)
    flavors = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    return ResourceGroup(resources, {name: {each: draw(QUOTAS) for each in resources} for name in flavors})


GROUPS = st.lists(groups(), max_size=2).map(tuple)
STATED = st.none() | st.builds(StatedResources, RESOURCES, RESOURCES, RESOURCES)
WEIGHTS = st.none() | st.integers(0, 100)
QUEUES = st.builds(
    ClusterQueue,
    NAMES,
    GROUPS,
    st.just("") | NAMES,
    st.none() | st.lists(NAMES, min_size=1, max_size=3).map(tuple),
    st.sampled_from(["", "StrictFIFO"]),
    st.builds(
        Preemption,
        st.sampled_from(["", "LowerPriority"]),
        st.sampled_from(["", "Any"]),
        st.just("LowerPriority"),
        st.none() | st.integers(-5, 5),
    ),
    st.builds(Fungibility, st.sampled_from(["", "TryNextFlavor"]), st.just(""), st.just("")),
    WEIGHTS,
    STATED,
)
COHORTS = st.builds(Cohort, NAMES, st.just("") | NAMES, GROUPS, WEIGHTS, STATED)
LOCAL_QUEUES = st.builds(LocalQueue, NAMES, NAMES, NAMES, st.none() | st.just("") | NAMES)
TOPOLOGIES = st.builds(Topology, NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple))
FLAVORS = st.builds(
    ResourceFlavor,
    NAMES,
    st.dictionaries(NAMES, NAMES, max_size=2),
    st.lists(st.builds(Taint, NAMES, NAMES, st.just("NoExecute")), max_size=2).map(tuple),
    st.lists(st.builds(Toleration, NAMES, st.just("Exists")), max_size=2).map(tuple),
    st.just("") | NAMES,
)
PRIORITIES = st.builds(Priority, NAMES, st.integers(-5, 5), st.just(value=True), st.just(value=False), NAMES)
VALUES = st.one_of(
    *(
        st.tuples(st.just(queues.write_cluster_queue), QUEUES),
        st.tuples(st.just(queues.write_cohort), COHORTS),
    ),
    *(
        st.tuples(st.just(queues.write_local_queue), LOCAL_QUEUES),
        st.tuples(st.just(resource_flavors.write_topology), TOPOLOGIES),
    ),
    *(
        st.tuples(st.just(resource_flavors.write_flavor), FLAVORS),
        st.tuples(st.just(queues.write_priority_class), PRIORITIES),
    ),
)


@given(VALUES, RELEASES)
def test_what_is_written_reads_back(made: tuple[Any, Any], version: Any) -> None:
    write, value = made
    written = write(value, version)
    assert READERS[written["kind"]](written) == value
    assert yaml.safe_load(writer.dump(written)) == written


def test_a_queue_in_full() -> None:
    queue = ClusterQueue(
        "a",
        (ResourceGroup(("cpu", "memory"), {"h20": {"cpu": Quota(1500), "memory": Quota(8 * GIB, GIB, 0)}}),),
        "research",
        ("team-a",),
        "StrictFIFO",
        Preemption("LowerPriority", "Any", "LowerPriority", 10),
        Fungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing"),
        3,
        StatedResources(("memory",)),
    )
    namespace = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team-a"]}
    assert queues.write_cluster_queue(queue, versions.parse("0.15")) == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "a", "annotations": {"policykit.io/stated": '{"guarantee":["memory"]}'}},
        "spec": {
            "cohortName": "research",
            "namespaceSelector": {"matchExpressions": [namespace]},
            "queueingStrategy": "StrictFIFO",
            "preemption": {
                "withinClusterQueue": "LowerPriority",
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 10},
            },
            "flavorFungibility": {
                "whenCanBorrow": "TryNextFlavor",
                "whenCanPreempt": "TryNextFlavor",
                "preference": "PreemptionOverBorrowing",
            },
            "fairSharing": {"weight": "3"},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu", "memory"],
                    "flavors": [
                        {
                            "name": "h20",
                            "resources": [
                                {"name": "cpu", "nominalQuota": "1500m"},
                                {
                                    "name": "memory",
                                    "nominalQuota": "8Gi",
                                    "borrowingLimit": "1Gi",
                                    "lendingLimit": "0",
                                },
                            ],
                        }
                    ],
                }
            ],
        },
    }


@pytest.mark.parametrize(
    ("release", "queue", "cohort"),
    [("0.12", "cohort", "parent"), ("0.14", "cohort", "parentName"), ("0.15", "cohortName", "parentName")],
)
def test_names_of_fields_by_release(release: str, queue: str, cohort: str) -> None:
    version = versions.parse(release)
    written = queues.write_cluster_queue(ClusterQueue("a", cohort="c"), version)["spec"]
    assert written == {queue: "c", "namespaceSelector": {}}
    assert queues.write_cohort(Cohort("a", "c"), version)["spec"] == {cohort: "c"}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, None),
        ({"matchLabels": {"kubernetes.io/metadata.name": "a"}}, ("a",)),
        ({"matchLabels": {"team": "a"}}, None),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]}, None),
        ("all", None),
    ],
)
def test_namespaces(selector: Any, expected: Any) -> None:
    assert queues.read_cluster_queue({"spec": {"namespaceSelector": selector}}).namespaces == expected


@pytest.mark.parametrize("kind", sorted(READERS))
@pytest.mark.parametrize("data", [{}, {"spec": 3}, {"metadata": [], "spec": {"resourceGroups": [1, {}]}}])
def test_any_shape_is_read(kind: str, data: dict[str, Any]) -> None:
    assert READERS[kind](data).name == ""
