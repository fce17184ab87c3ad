"""Koordinator's Reservations as a policy generates them: who may use what they keep, and for how long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.model.cluster import Cluster as Policy
from tests.cluster.api_server import PODS, ApiServer, api_server
from tests.cluster.cluster import Cluster, Object
from tests.cluster.fills import Draw, Fill, Room
from tests.cluster.kubelet import kubelet
from tests.cluster.scheduler import KOORDINATOR
from tests.cluster.test_apply import generated
from tests.cluster.test_fills import filled

RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
_JOBS = "/apis/batch/v1/namespaces/default/jobs"
_JOB = "batch.kubernetes.io/job-name"
_PATIENCE = 60
_HEARD = 3
"""Seconds in which the scheduler hears of the status that it wrote: a pod before that may go anywhere."""
_WAITS = 8
"""Seconds in which a pod without room is still not bound."""
DRAW = Draw(Random(0), KOORDINATOR, Room(2, 8, 8))


def policy_of(**reservation: Any) -> Policy:
    """Two nodes of eight cards, one of them reserved for workload kind training; every pod takes a node."""
    kinds = {name: {"gang": "none"} for name in ("training", "other")}
    stated = {"workload": "training", "pool": "train", "requests": {"h20": 8}, **reservation}
    return DRAW.policy(kinds=kinds, reservations={"kept": stated})


@contextmanager
def reserved(policy: Policy, cluster: Cluster, server: ApiServer) -> Iterator[str]:
    """A running cluster with the reservation; yields the node that it is on."""
    with (
        kubelet(cluster.plane),
        filled(cluster, server, Fill("reservation", policy, ())),
        KOORDINATOR.run(cluster.plane, cluster.folder / "scheduler", KOORDINATOR.configuration(policy)),
    ):
        there = phase_of(server, "kept", "Available")
        time.sleep(_HEARD)
        yield there


def phase_of(server: ApiServer, name: str, wanted: str) -> str:
    """The node of a reservation, once it has this phase."""
    end = time.monotonic() + _PATIENCE
    while True:
        status = server.request("GET", f"{RESERVATIONS}/{name}").get("status", {})
        if status.get("phase") == wanted:
            return str(status.get("nodeName", ""))
        assert time.monotonic() < end, status
        time.sleep(0.2)


def node_of(server: ApiServer, job: str, *, waits: bool = False) -> str:
    """The node of a job's pod. `waits`: it is expected to have none, now and some seconds later."""
    end = time.monotonic() + (_WAITS if waits else _PATIENCE)
    while True:
        for pod in server.items(PODS):
            if pod["metadata"]["labels"].get(_JOB) == job and pod["spec"].get("nodeName"):
                return str(pod["spec"]["nodeName"])
        if time.monotonic() > end:
            return ""
        time.sleep(0.2)


def submit(server: ApiServer, policy: Policy, name: str, kind: str) -> None:
    server.create(_JOBS, DRAW.job(policy, name, kind, 1))


def remove(server: ApiServer, job: str) -> None:
    server.request("DELETE", f"{_JOBS}/{job}?propagationPolicy=Background")
    while any(pod["metadata"]["labels"].get(_JOB) == job for pod in server.items(PODS)):
        time.sleep(0.2)


@pytest.mark.usefixtures("defined")
def test_only_its_owners_may_use_it(cluster: Cluster) -> None:
    """It has no ttl: it is free again after each pod."""
    KOORDINATOR.require()
    policy = policy_of()
    with api_server(cluster.plane) as server, reserved(policy, cluster, server) as there:
        submit(server, policy, "first", "other")
        assert node_of(server, "first") not in ("", there)
        for name in ("second", "third"):
            submit(server, policy, name, "training")
            assert node_of(server, name) == there
            remove(server, name)
            time.sleep(_HEARD)
        # A pod that waits when an owner ends may be faster than the reservation: none waits here.
        submit(server, policy, "fourth", "other")
        assert node_of(server, "fourth", waits=True) == ""


@pytest.mark.usefixtures("defined")
def test_one_with_a_ttl_ends_with_the_first_pod(cluster: Cluster) -> None:
    KOORDINATOR.require()
    policy = policy_of(ttl="1h")
    with api_server(cluster.plane) as server, reserved(policy, cluster, server) as there:
        submit(server, policy, "first", "training")
        assert node_of(server, "first") == there
        phase_of(server, "kept", "Succeeded")
        remove(server, "first")
        for name in ("second", "third"):
            submit(server, policy, name, "other")
            assert node_of(server, name)


@pytest.mark.usefixtures("defined")
def test_what_lint_finds_is_not_placed(cluster: Cluster, tmp_path: Path) -> None:
    """Beside the one that is generated: it has the same pods, for another scheduler."""
    KOORDINATOR.require()
    policy = policy_of()
    (right,) = (one for one in generated(policy) if one["kind"] == "Reservation")
    wrong: Object = yaml.safe_load(yaml.safe_dump(right))
    wrong["metadata"]["name"] = "lost"
    wrong["spec"]["template"]["spec"]["schedulerName"] = "default-scheduler"
    for one, found in ((right, []), (wrong, ["invalid-reservation"])):
        text = yaml.safe_dump(one).encode()
        report = api.lint_texts({"reservation.yaml": text}, policy, ["invalid-reservation"])
        assert [each.name for each in report.findings] == found
    with api_server(cluster.plane) as server:
        cluster.apply([wrong])
        with reserved(policy, cluster, server):
            time.sleep(_WAITS)
            status = server.request("GET", f"{RESERVATIONS}/lost").get("status", {})
        cluster.delete([wrong])
    assert status.get("nodeName", "") == ""
