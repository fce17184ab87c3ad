"""`where` against Volcano, Koordinator and YuniKorn, each with the configuration that a policy generates."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

import pytest

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster as Policy
from tests.cluster.api_server import PODS, ApiServer, api_server
from tests.cluster.cluster import Cluster, Object, node
from tests.cluster.pods import Words
from tests.cluster.scenarios import PODS_OF_A_POLICY, Scenario, scenarios
from tests.cluster.scheduler import SYSTEMS, VOLCANO, YUNIKORN, Scheduler, System
from tests.cluster.verdicts import Judge, Table, has_error

SCENARIOS = int(os.environ.get("POLICYKIT_CLUSTER_SCENARIOS", "200"))
_OF_VOLCANO = re.compile(r"Predicates failed: task default/(\S+) on node (\S+) fit failed: (.*)")
_OF_YUNIKORN = re.compile(
    r'running predicates failed\t.*"allocationKey": "([^"]+)", "nodeID": "([^"]+)".*"error": (.*)'
)
_SKIPPED_BY_YUNIKORN = re.compile(
    r'skipping node for ask as state is unschedulable\t.*"allocationKey": "([^"]+)", "node": "([^"]+)"'
)
_TOO_SMALL = "Insufficient: YuniKorn passes over a node that is too small without a word"


def words(system: System, scheduler: Scheduler, server: ApiServer) -> Words | None:
    """Koordinator writes its words into the pods, Volcano one sentence about all nodes, YuniKorn none."""
    if system is VOLCANO:
        return lambda: _said_by_volcano(scheduler.log())
    if system is YUNIKORN:
        return lambda: _said_by_yunikorn(scheduler.log(), server)
    return None


def _said_by_volcano(log: str) -> Mapping[str, str]:
    """The first that is said, by action allocate: preempt asks again, whatever amounts are free."""
    return {pod: why for pod, node, why in reversed(_OF_VOLCANO.findall(log)) if pod == node}


def _said_by_yunikorn(log: str, server: ApiServer) -> Mapping[str, str]:
    names = {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in server.items(PODS)}
    found = dict.fromkeys(names.values(), _TOO_SMALL)
    for uid, there, why in _OF_YUNIKORN.findall(log):
        if names.get(uid) == there:
            found[there] = why
    for uid, there in _SKIPPED_BY_YUNIKORN.findall(log):
        if names.get(uid) == there:
            found[there] = "node(s) were unschedulable"
    return found


def survived(scenario: Scenario) -> bool:
    """Whether Volcano can score nodes for the pod. It ends over a preferred term that cannot be read (see
    claims/), and over shared cards of nodes where its device plugin does not run."""
    return not has_error(scenario) and not any("volcano.sh/vgpu" in name for name in scenario.review.requests)


def spare(policy: Policy) -> Object:
    """A node that no pod may go to. With it the cluster has enough for all pods that are tried at once:
    Volcano admits no more than that, whether they fit a node or not."""
    names = {"nvidia.com/gpu", *(name for pool in policy.pools for name in pool.resources)}
    amounts = dict.fromkeys(sorted(names), "100000")
    return node("spare", {}, [], {**amounts, "cpu": "1000000", "memory": "1Pi", "pods": "1000"})


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.target)
def test_verdicts(system: System, cluster: Cluster, tmp_path: Path) -> None:
    system.require()

    def suited(policy: Policy) -> Policy | None:
        target = policy.targets.get(system.target)
        if target is None or target.scheduler_name not in ("", system.scheduler_name):
            return None
        tried = policy._replace(targets={system.target: target._replace(version=system.version)})
        try:
            return tried if system.configuration(tried) else None
        except PolicykitError:
            return None

    table = Table(f"{system.target} {system.version}")
    drawn = scenarios(SCENARIOS // PODS_OF_A_POLICY, system.scheduler_name, suited)
    with api_server(cluster.plane) as server:
        for number, batch in groupby(drawn, lambda one: one.number // PODS_OF_A_POLICY):
            judged = list(batch)
            configuration = system.configuration(judged[0].policy)
            with system.run(cluster.plane, tmp_path / str(number), configuration) as scheduler:
                server.create_nodes([spare(judged[0].policy)])
                judge = Judge(server, system.scheduler_name, table, words(system, scheduler, server))
                tried = survived if system is VOLCANO else judge.tried
                judge._replace(weighed=True, tried=tried).judge(judged)
    print(table.show())
    assert not table.disagreed, table.show()
    assert table.scenarios >= SCENARIOS * 9 // 10
