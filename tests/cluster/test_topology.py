"""Gangs that must, or would rather, stay within one rack: Volcano's HyperNodes and Koordinator's topology."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest
import yaml

from policykit import api
from policykit.gates import REFUSED
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster as Policy
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.cluster.api_server import PODS, ApiServer, api_server
from tests.cluster.cluster import Cluster, Object
from tests.cluster.fills import CARD, Draw, Fill, Room
from tests.cluster.kubelet import kubelet
from tests.cluster.scheduler import KOORDINATOR, VOLCANO, System
from tests.cluster.test_fills import filled

RACKS = {"node-1": "one", "node-2": "one", "node-3": "two", "node-4": "two"}
_PATIENCE = 60
_WAITS = 10
"""Seconds in which a gang that must wait is still not bound."""


def policy_of(system: System, mode: str) -> Policy:
    """Four nodes of eight cards in two racks; every pod takes a node."""
    pool = {
        "usage": "training",
        "card": "h20",
        "cardsPerNode": 8,
        "nodes": {"names": sorted(RACKS)},
        "allocatable": {"cpu": 32, "memory": "512Gi"},
        "topology": [
            {"nodes": [name for name in RACKS if RACKS[name] == rack], "rack": rack}
            for rack in sorted(set(RACKS.values()))
        ],
    }
    kind = {"gang": "all", "within": {"level": "rack", "mode": mode}}
    draw = Draw(Random(0), system, Room(4, 8, 8))
    return draw.policy(kinds={"training": kind}, pools={"train": pool})


def gang(policy: Policy, pods: int) -> bytes:
    """A Job as `patch` writes it, with what belongs to it."""
    amounts = {"limits": {CARD: "8"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    container = {"name": "main", "image": "registry.example/app:1", "resources": amounts}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "gang", "labels": {"policykit.io/workload": "training"}},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
    return patch(ManifestText("job.yaml", dump(job).encode()), policy, PatchOptions()).raw


def occupied(name: str) -> Object:
    """A pod that has a whole node."""
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"limits": {CARD: "8"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"on-{name}"},
        "spec": {"nodeName": name, "containers": [container]},
    }


def nodes_of_the_gang(server: ApiServer) -> list[str]:
    return [
        pod["spec"]["nodeName"]
        for pod in server.items(PODS)
        if pod["metadata"]["name"].startswith("gang-") and "nodeName" in pod["spec"]
    ]


def becomes(server: ApiServer, pods: int) -> list[str]:
    """Nodes of the gang once it is bound; of one that must wait, after a while."""
    if not pods:
        time.sleep(_WAITS)
        return nodes_of_the_gang(server)
    end = time.monotonic() + _PATIENCE
    while len(found := nodes_of_the_gang(server)) < pods:
        assert time.monotonic() < end, found
        time.sleep(0.2)
    return found


CASES = (
    ("hard", 2, (), 2, 1),
    ("hard", 2, ("node-1", "node-3"), 0, 0),
    ("hard", 3, (), 0, 0),
    ("soft", 2, ("node-3",), 2, 1),
    ("soft", 2, ("node-1", "node-3"), 2, 2),
    ("soft", 3, (), 3, 2),
)
"""Mode, pods, nodes in use; then pods bound, and the number of their racks."""


def refusals(policy: Policy, text: bytes) -> list[str]:
    """Why `where` says that the gang never starts."""
    reviewed = [("job.yaml", review) for review in api.where(text, policy)]
    answers = api.answers(reviewed, api.facts("job.yaml", text, policy), policy, complete=True)
    return [gate.detail for answer in answers for gate in answer.gates if gate.state == REFUSED]


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("system", [VOLCANO, KOORDINATOR], ids=lambda system: system.target)
def test_a_gang_within_a_rack(
    system: System, case: tuple[str, int, tuple[str, ...], int, int], cluster: Cluster, tmp_path: Path
) -> None:
    system.require()
    mode, pods, in_use, expected, racks = case
    policy = policy_of(system, mode)
    text = gang(policy, pods)
    # `where` sees empty pools: it says so only of a gang that no rack can hold.
    never = [why for why in refusals(policy, text) if "must stay within one rack" in why]
    assert len(never) == (not expected and not in_use)
    objects = [each for each in yaml.safe_load_all(text) if each]
    with (
        api_server(cluster.plane) as server,
        kubelet(cluster.plane),
        filled(cluster, server, Fill("topology", policy, ())),
    ):
        for name in in_use:
            server.create(PODS, occupied(name))
        with system.run(cluster.plane, tmp_path / "scheduler", system.configuration(policy)):
            cluster.apply(objects)
            found = becomes(server, expected)
        cluster.delete([each for each in objects if each["kind"] != "Job"])
    assert len(found) == expected
    assert len({RACKS[name] for name in found}) == racks
