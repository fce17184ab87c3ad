"""`where` against kube-scheduler."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api_server import api_server
from tests.cluster.cluster import Cluster
from tests.cluster.conftest import UNTIL
from tests.cluster.scenarios import PODS_OF_A_POLICY, scenarios
from tests.cluster.scheduler import kube_scheduler
from tests.cluster.verdicts import Judge, Table

SCENARIOS = int(os.environ.get("POLICYKIT_CLUSTER_SCENARIOS", "1040"))
_BATCH = 260
_OF_A_BATCH = 120
"""Seconds that a batch may take."""
SCHEDULER = "by-preference"
CONFIGURATION: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 100,
    "profiles": [
        {
            "schedulerName": SCHEDULER,
            # Preferred affinity alone decides: nothing else adds up to one point of it.
            "plugins": {"score": {"enabled": [{"name": "NodeAffinity", "weight": 10000}]}},
        }
    ],
}


def test_verdicts_are_those_of_kube_scheduler(cluster: Cluster, tmp_path: Path) -> None:
    drawn = scenarios(SCENARIOS // PODS_OF_A_POLICY)
    table = Table("kube-scheduler")
    with (
        api_server(cluster.plane) as server,
        kube_scheduler(cluster.plane, tmp_path / "scheduler", CONFIGURATION),
    ):
        for start in range(0, len(drawn), _BATCH):
            if time.time() > UNTIL - _OF_A_BATCH:
                break
            Judge(server, SCHEDULER, table).judge(drawn[start : start + _BATCH])
    print(table.show())
    assert not table.disagreed, table.show()
    if time.time() > UNTIL - _OF_A_BATCH:
        pytest.skip(f"left out: the scenarios after {table.scenarios}, no time left")
    assert table.scenarios >= min(1000, SCENARIOS * 9 // 10)
