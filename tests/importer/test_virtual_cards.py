"""Nodes whose cards HAMi or Volcano shares: imported, compared, linted against, and scheduled."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.importer.node_differences import differences
from policykit.importer.node_membership import membership
from policykit.importer.policy import policy_of
from policykit.manifests.writer import dump
from policykit.targets.volcano.generate import generate
from policykit.workspace.inputs import cluster_of_text

GFD = {"nvidia.com/gpu.product": "NVIDIA-A800-SXM4-80GB", "nvidia.com/gpu.count": "8"}
HAMI = json.dumps([{"id": f"GPU-{n}", "count": 10, "devmem": 81559, "devcore": 100} for n in range(8)])
VOLCANO = "".join(f"GPU-{n},4,32768,NVIDIA-Tesla V100-PCIE-32GB,true,hami-core:" for n in range(4))
OFFERS = {"volcano.sh/vgpu-number": "16", "volcano.sh/vgpu-memory": "131072", "volcano.sh/vgpu-cores": "400"}


def node(name: str, labels: dict[str, str], offers: dict[str, str], annotations: dict[str, str]) -> Any:
    amounts = {"cpu": "96", "memory": "1000Gi", "pods": "110", **offers}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


NODES = {
    "hami": node("n1", GFD, {"nvidia.com/gpu": "80"}, {"hami.io/node-nvidia-register": HAMI}),
    "hami without labels": node("n1", {}, {"nvidia.com/gpu": "80"}, {"hami.io/node-nvidia-register": HAMI}),
    "volcano": node("n1", {}, OFFERS, {"volcano.sh/node-vgpu-register": VOLCANO}),
}
PODS = {
    "hami": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000, "nvidia.com/gpucores": 30},
    "volcano": {"volcano.sh/vgpu-number": 1, "volcano.sh/vgpu-memory": 3000, "volcano.sh/vgpu-cores": 50},
}


def files(name: str) -> dict[str, bytes]:
    return {"nodes.json": json.dumps({"kind": "List", "apiVersion": "v1", "items": [NODES[name]]}).encode()}


def pod(limits: dict[str, int], scheduler: str = "volcano") -> bytes:
    container = {
        "name": "a",
        "image": "registry.example/a:1",
        "resources": {"limits": {"cpu": 1, "memory": "1Gi", **limits}},
    }
    spec = {"schedulerName": scheduler, "containers": [container]}
    return dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}).encode()


@pytest.mark.parametrize(
    ("name", "sharing", "offers"),
    [
        ("hami", {"mode": "hami"}, {"nvidia.com/gpu": 80, "nvidia.com/gpucores": 800}),
        ("hami without labels", {"mode": "hami"}, {"nvidia.com/gpu": 80, "nvidia.com/gpucores": 800}),
        (
            "volcano",
            {"mode": "volcano-vgpu", "slots": 4},
            {"volcano.sh/vgpu-number": 16, "volcano.sh/vgpu-memory": 131072, "volcano.sh/vgpu-cores": 400},
        ),
    ],
)
def test_cards_are_counted_not_slots(name: str, sharing: dict[str, Any], offers: dict[str, int]) -> None:
    made = policy_of(files(name))
    (found,) = yaml.safe_load(made.text)["pools"].values()
    assert found["sharing"] == sharing
    (shape,) = made.cluster.pools[0].shapes
    assert offers.items() <= shape.allocatable.items()
    seen = cluster_of_text(files(name)["nodes.json"], "nodes.json")
    assert differences(made.cluster, membership(made.cluster, seen.pools)) == ()


@pytest.mark.parametrize(("name", "kind"), [("hami", "hami"), ("volcano", "volcano")])
def test_pods_land_on_the_policy_and_on_the_nodes(name: str, kind: str) -> None:
    seen = cluster_of_text(files(name)["nodes.json"], "nodes.json")
    for cluster in (policy_of(files(name)).cluster, seen):
        for other, limits in PODS.items():
            (review,) = api.where(pod(limits), cluster)
            assert bool(review.accepting) == (other == kind)


def test_no_rule_speaks_about_parts_of_virtual_cards() -> None:
    made = policy_of(files("hami"))
    findings = api.lint_texts({"a.yaml": pod(PODS["hami"], "hami-scheduler")}, made.cluster).findings
    assert [finding.code for finding in findings if finding.code != "PK205"] == []


def test_volcano_is_told_to_share() -> None:
    made = policy_of(files("volcano"))
    assert "volcano" in made.cluster.targets
    texts = "".join(artifact.text for artifact in generate(made.cluster).artifacts)
    assert "deviceshare.VGPUEnable: true" in texts
