"""Queues, gangs, packing, reclaim and preemption, with what a policy generates and `patch` writes."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.cluster.api_server import NODES, PODS, ApiServer, api_server
from tests.cluster.cluster import Cluster, node
from tests.cluster.fills import FAMILIES, Fill, Object, Step, fills
from tests.cluster.kubelet import kubelet
from tests.cluster.scheduler import SYSTEMS, System
from tests.cluster.test_apply import generated

FILLS = int(os.environ.get("POLICYKIT_CLUSTER_FILLS", "42"))
_JOBS = "/apis/batch/v1/namespaces/default/jobs"
_JOB = "batch.kubernetes.io/job-name"
_PATIENCE = 60
"""Seconds until a state must be reached."""


class State(NamedTuple):
    """Bound pods of each job, and the nodes that have any."""

    bound: Mapping[str, int]
    nodes: int


def state(server: ApiServer) -> State:
    jobs = dict.fromkeys((job["metadata"]["name"] for job in server.items(_JOBS)), 0)
    nodes = set()
    for pod in server.items(PODS):
        job = pod["metadata"].get("labels", {}).get(_JOB)
        if job in jobs and "nodeName" in pod["spec"] and "deletionTimestamp" not in pod["metadata"]:
            jobs[job] += 1
            nodes.add(pod["spec"]["nodeName"])
    return State(jobs, len(nodes))


def reached(server: ApiServer, step: Step) -> State | None:
    """None if the jobs came to a state that is allowed and stayed there, else how they are."""
    end = time.monotonic() + _PATIENCE + step.waits
    since = None
    while True:
        found, now = state(server), time.monotonic()
        if found.bound in step.allowed and step.nodes in (None, found.nodes):
            since = since or now
            if now - since >= step.waits:
                return None
        else:
            since = None
        if now > end:
            return found
        time.sleep(0.25)


def run(server: ApiServer, fill: Fill) -> str:
    """What went wrong; empty: nothing."""
    for number, step in enumerate(fill.steps, 1):
        if step.ends:
            for name, count in state(server).bound.items():
                if count:
                    server.request("DELETE", f"{_JOBS}/{name}?propagationPolicy=Background")
        for job in step.jobs:
            server.create(_JOBS, job)
        if found := reached(server, step):
            return f"step {number} of {len(fill.steps)}: {found}, not {step.allowed} on {step.nodes} nodes"
    return ""


@contextmanager
def filled(cluster: Cluster, server: ApiServer, fill: Fill) -> Iterator[None]:
    """The nodes of a policy and what it generates; afterwards neither those nor any job."""
    objects = generated(fill.policy)
    stated = {one["metadata"].get("namespace", "") for one in objects}
    cluster.create_namespaces(sorted(stated - {"", "kube-system", "default"}))
    made = [one for one in objects if one["kind"] != "ConfigMap"]
    if made:
        cluster.apply(made)
    server.create_nodes(nodes(fill))
    try:
        yield
    finally:
        server.request("DELETE", f"{_JOBS}?propagationPolicy=Background")
        end = time.monotonic() + _PATIENCE
        while server.items(PODS):
            server.delete_all(PODS)
            assert time.monotonic() < end
            time.sleep(0.2)
        server.delete_all(NODES)
        if made:
            cluster.delete(made)


def nodes(fill: Fill) -> Iterator[Object]:
    for pool in fill.policy.pools:
        taints = [taint._asdict() for taint in pool.taints]
        for shape in pool.shapes:
            amounts = {name: str(amount) for name, amount in shape.allocatable.items()}
            for name in shape.node_names:
                yield node(name, {**pool.labels, **shape.labels}, taints, {"pods": "110", **amounts})


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize("family", range(len(FAMILIES)), ids=lambda at: FAMILIES[at].__name__.strip("_"))
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.target)
def test_fills(system: System, family: int, cluster: Cluster, tmp_path: Path) -> None:
    system.require()
    of_family = fills(system, FILLS)[family :: len(FAMILIES)]
    agreed: Counter[str] = Counter()
    disagreed: list[str] = []
    with api_server(cluster.plane) as server, kubelet(cluster.plane):
        for number, fill in enumerate(of_family):
            configuration = system.configuration(fill.policy)
            with (
                filled(cluster, server, fill),
                system.run(cluster.plane, tmp_path / str(number), configuration),
            ):
                wrong = run(server, fill)
            print(number, fill.family, wrong or "as the policy says", flush=True)
            if wrong:
                jobs = yaml.safe_dump_all(fill.steps[-1].jobs)
                disagreed.append(f"{number} {fill.family}: {wrong}\n{fill.policy.queues}\n{jobs}")
            else:
                agreed[fill.family] += 1
    table = [f"{system.target} {system.version}: {len(of_family)} fills"]
    table += [f"{count:6} {family}" for family, count in sorted(agreed.items())]
    table += [f"{len(disagreed):6} disagreements", *disagreed]
    print("\n".join(table))
    assert not disagreed, "\n".join(table)
