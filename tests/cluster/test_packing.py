"""Scores with which Koordinator and Volcano pack, as their logs give them, beside the formulas that weights
are computed from; and the nodes where pods therefore go."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from policykit.kube import scores
from policykit.targets.koordinator.options import koordinator_options
from policykit.targets.koordinator.scheduler.plugins import FIT_PLUS
from policykit.targets.koordinator.scheduler.weights import margin
from tests.cluster.api_server import PODS, ApiServer, api_server
from tests.cluster.cluster import Cluster, Object, node
from tests.cluster.fills import CARD, Draw, Room
from tests.cluster.scheduler import KOORDINATOR, VOLCANO, koord_scheduler
from tests.clusters import profile
from tests.shared import ROOT
from tests.targets.volcano.node_scores import binpack

SEEDS = ROOT / "tests/seeds"
DONGLE = "example.com/dongle"
_PATIENCE = 60
_KOORDINATOR = re.compile(
    rf'"Plugin scored node for pod" pod="default/([^"]+)" plugin="{FIT_PLUS}" node="([^"]+)" score=(\d+)'
)
_VOLCANO = re.compile(r"Binpack score for Task default/(\S+) on node (\S+) is: (\S+)")


def scored(pattern: re.Pattern[str], log: str) -> dict[str, dict[str, float]]:
    """Scores by pod, in the order in which pods were placed, and by node. The last try of a pod counts."""
    found: dict[str, dict[str, float]] = {}
    for pod, there, score in pattern.findall(log):
        if there in found.get(pod, {}):
            del found[pod]
        found.setdefault(pod, {})[there] = float(score)
    return found


def bound(server: ApiServer, count: int) -> dict[str, str]:
    """Pods to their nodes, once so many are bound."""
    end = time.monotonic() + _PATIENCE
    while True:
        found = {
            pod["metadata"]["name"]: pod["spec"]["nodeName"]
            for pod in server.items(PODS)
            if "nodeName" in pod["spec"]
        }
        if len(found) >= count:
            return found
        assert time.monotonic() < end, found
        time.sleep(0.2)


@pytest.mark.usefixtures("defined")
def test_koordinator_packs_a_gang_by_dongles(cluster: Cluster, tmp_path: Path) -> None:
    """Three pods of two dongles on one node of eight, then five: the numbers are those of the weights."""
    KOORDINATOR.require()
    policy = profile("koordinator-binpack")
    (text,) = KOORDINATOR.configuration(policy).values()
    configuration = yaml.safe_load(text)
    (settings,) = (
        each["args"] for each in configuration["profiles"][0]["pluginConfig"] if each["name"] == FIT_PLUS
    )
    listed = configuration["profiles"][0]["plugins"]["score"]["enabled"]
    (weight,) = (each["weight"] for each in listed if each["name"] == FIT_PLUS)
    fit = settings["resources"]
    there = {DONGLE: 8, "cpu": 2000, "memory": 2_200_000_000}
    asked = {DONGLE: 2, "cpu": 40, "memory": 40 << 20}
    deployment, group = (
        yaml.safe_load((SEEDS / f"{name}.yaml").read_text())
        for name in ("deployment-dongle", "koordinator-podgroup")
    )
    template = deployment["spec"]["template"]
    template["metadata"]["labels"]["pod-group.scheduling.sigs.k8s.io"] = group["metadata"]["name"]
    template["spec"]["schedulerName"] = KOORDINATOR.scheduler_name
    deployment["spec"]["replicas"] = 3
    amounts = {DONGLE: "8", "cpu": "2", "memory": "2200M", "pods": "110"}
    with api_server(cluster.plane) as server:
        server.create_nodes(node(name, {}, [], amounts) for name in ("minikube-m02", "minikube-m03"))
        cluster.apply([group, deployment])
        with koord_scheduler(cluster.plane, tmp_path / "scheduler", configuration, "--v=10") as scheduler:
            three = bound(server, 3)
            cluster.kubectl("scale", "deployment", "vgpu-job", "--replicas=5")
            five = bound(server, 5)
            given = scored(_KOORDINATOR, scheduler.log())
    cluster.delete([group])
    assert list(Counter(three.values()).values()) == [3]
    assert sorted(Counter(five.values()).values()) == [1, 4]
    # The fifth has no choice, and no scores: one node is full.
    assert len(given) == 4
    used: Counter[str] = Counter()
    sure = margin(DONGLE, 8, koordinator_options(policy.targets["koordinator"]).fit, ("cpu", "memory"))
    for pod, nodes in given.items():
        for name, score in nodes.items():
            assert score == weight * fit_plus(fit, there, {r: asked[r] * (used[name] + 1) for r in asked})
        ahead, *behind = sorted(nodes, key=lambda name: used[name], reverse=True)
        if behind and (used[ahead] - used[behind[0]]) * asked[DONGLE] >= sure.step:
            assert nodes[ahead] - nodes[behind[0]] >= weight * sure.points
        used[five[pod]] += 1
    print(f"NodeResourcesFitPlus, weight {weight}: {given}")


def fit_plus(fit: Mapping[str, Any], there: Mapping[str, int], filled: Mapping[str, int]) -> int:
    """The weighted mean of what is allocated, or free, of each resource."""
    kinds = {"MostAllocated": scores.most, "LeastAllocated": scores.least}
    total = sum(kinds[each["type"]](filled[r], there[r]) * each["weight"] for r, each in fit.items())
    return int(total // sum(each["weight"] for each in fit.values()))


def pod(name: str, cards: int, **spec: Any) -> Object:
    amounts = {"limits": {CARD: str(cards)}}
    container = {"name": "main", "image": "registry.example/app:1", "resources": amounts}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"schedulerName": VOLCANO.scheduler_name, "containers": [container], **spec},
    }


def configured(placement: str) -> dict[str, str]:
    """Volcano's configuration for a policy with one kind of workloads."""
    draw = Draw(Random(0), VOLCANO, Room(2, 8, 1))
    policy = draw.policy(kinds={"training": {"gang": "none", "placement": placement}})
    return VOLCANO.configuration(policy)


AMOUNTS = {CARD: "8", "cpu": "96", "memory": "512Gi", "pods": "110"}


@pytest.mark.usefixtures("defined")
def test_volcano_prefers_the_fuller_node(cluster: Cluster, tmp_path: Path) -> None:
    """Of nodes with 6 and 2 of 8 cards in use, by its own number."""
    VOLCANO.require()
    configuration = configured("binpack")
    plugins = yaml.safe_load(next(iter(configuration.values())))["tiers"]
    (arguments,) = (
        each["arguments"] for tier in plugins for each in tier["plugins"] if each["name"] == "binpack"
    )
    weights = {
        name.removeprefix("binpack.resources."): value
        for name, value in arguments.items()
        if name.startswith("binpack.resources.")
    }
    used = {"node-a": 6, "node-b": 2}
    with api_server(cluster.plane) as server:
        server.create_nodes(node(name, {}, [], AMOUNTS) for name in used)
        for name, cards in used.items():
            server.create(PODS, pod(f"on-{name}", cards, nodeName=name))
        server.create(PODS, pod("one", 1))
        with VOLCANO.run(cluster.plane, tmp_path / "scheduler", configuration) as scheduler:
            found = bound(server, 3)
            given = scored(_VOLCANO, scheduler.log())["one"]
    assert found["one"] == "node-a"
    weight = arguments["binpack.weight"]
    wanted = {
        name: binpack({CARD: 1}, {CARD: cards}, {CARD: 8}, weights, weight) for name, cards in used.items()
    }
    assert given == pytest.approx(wanted)
    assert wanted == pytest.approx({"node-a": weight * 87.5, "node-b": weight * 37.5})
    print(f"binpack, weight {weight}: {given}")


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize(("placement", "whole"), [("binpack", True), ("spread", False)])
def test_what_eight_small_pods_leave(placement: str, whole: bool, cluster: Cluster, tmp_path: Path) -> None:
    """Packed they leave a node for a pod of 8 cards; spread they leave 4 cards on each of two."""
    VOLCANO.require()
    names = [f"small-{number}" for number in range(8)]
    with api_server(cluster.plane) as server:
        server.create_nodes(node(name, {}, [], AMOUNTS) for name in ("node-a", "node-b"))
        with VOLCANO.run(cluster.plane, tmp_path / "scheduler", configured(placement)):
            for number, name in enumerate(names, 1):
                server.create(PODS, pod(name, 1))
                found = bound(server, number)
            server.create(PODS, pod("large", 8))
            if whole:
                assert bound(server, 9)["large"] not in {found[name] for name in names}
            else:
                time.sleep(5)
                assert "large" not in bound(server, 8)
    assert sorted(Counter(found.values()).values()) == ([8] if whole else [4, 4])
