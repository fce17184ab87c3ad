"""Labels and taints of nodes that exist: objects and commands."""

import pytest
import yaml

from policykit.model.pool import Shape, Taint
from policykit.targets.nodes.existing_nodes import BATCH, nodes
from tests.clusters import policy
from tests.targets.nodes.clusters import NAMED, RACK, SELECTED, USAGE, ZONE, cluster, pool, texts

FOLDER = "nodes/train-h20/"

LABELS_YAML = """\
---
# kubectl apply --server-side --field-manager=policykit -f labels.yaml
# Apply only after the nodes have joined, and never with pruning.
apiVersion: v1
kind: Node
metadata:
  name: gpu-01
  labels:
    maip.mxsf.io/node.usage: training
---
apiVersion: v1
kind: Node
metadata:
  name: gpu-02
  labels:
    maip.mxsf.io/node.usage: training
"""

LABELS_SH = """\
#!/bin/sh
# Labels of the nodes of pool train-h20; safe to run again.
set -eu

kubectl label nodes --overwrite \\
  gpu-01 gpu-02 \\
  maip.mxsf.io/node.usage=training
"""

TAINTS_SH = """\
#!/bin/sh
# Taints of the nodes of pool train-h20; safe to run again.
# The last step: see the order in nodes/README.md.
set -eu

kubectl taint nodes --overwrite \\
  -l maip.mxsf.io/pool=a \\
  maip.mxsf.io/node.usage=training:NoSchedule nvidia.com/gpu.product=NVIDIA-H20:NoSchedule
"""


def test_objects_hold_labels_only_and_not_those_of_discovery() -> None:
    assert texts(cluster(pool(NAMED)))[f"{FOLDER}labels.yaml"] == LABELS_YAML


def test_labels_as_commands() -> None:
    assert texts(cluster(pool(NAMED)))[f"{FOLDER}labels.sh"] == LABELS_SH


def test_taints_as_commands() -> None:
    assert texts(cluster(pool(SELECTED)))[f"{FOLDER}taints.sh"] == TAINTS_SH


def test_the_label_nodes_are_found_by_is_not_set_again() -> None:
    text = texts(cluster(pool(SELECTED)))[f"{FOLDER}labels.sh"]
    assert text.endswith("  -l maip.mxsf.io/pool=a \\\n  maip.mxsf.io/node.usage=training\n")


def test_every_node_has_the_labels_of_its_place() -> None:
    shapes = [Shape({}, 1, 1, (name,), labels={RACK: f"r{name}"}) for name in ("1", "2")]
    documents = yaml.safe_load_all(texts(cluster(pool(*shapes)))[f"{FOLDER}labels.yaml"])
    assert [(node["metadata"]["name"], node["metadata"]["labels"][RACK]) for node in documents] == [
        ("1", "r1"),
        ("2", "r2"),
    ]


@pytest.mark.parametrize(
    ("provider", "key", "ours"),
    [
        ("", ZONE, True),
        ("eks", ZONE, False),
        ("", "kubernetes.io/arch", False),
        ("", "kubernetes.io/hostname", False),
        ("gke", "cloud.google.com/gke-nodepool", False),
        ("eks", "karpenter.sh/capacity-type", False),
        ("gke", "team", True),
    ],
    ids=["zone", "zone in a cloud", "arch", "hostname", "cloud's own", "provisioner's own", "yours"],
)
def test_labels_that_others_set(provider: str, key: str, ours: bool) -> None:
    made = cluster(pool(NAMED, labels={USAGE: "training", key: "v"}), provider=provider)
    assert (f"{key}=v" in texts(made)[f"{FOLDER}labels.sh"]) is ours


def test_the_taint_gke_sets_is_not_set_again() -> None:
    taints = (Taint("nvidia.com/gpu", "present"), Taint("team", "a"))
    text = texts(cluster(pool(NAMED, taints=taints), provider="gke"))
    assert text[f"{FOLDER}taints.sh"].endswith("  team=a:NoSchedule\n")
    assert "nvidia.com/gpu=present" not in text[f"{FOLDER}gke.sh"]


def test_many_nodes_are_named_in_batches() -> None:
    names = tuple(f"n{number:03d}" for number in range(BATCH + 1))
    text = texts(cluster(pool(Shape({}, len(names), len(names), names))))[f"{FOLDER}taints.sh"]
    commands = text.split("kubectl taint nodes --overwrite")[1:]
    assert [command.count(" n0") for command in commands] == [BATCH, 1]


@pytest.mark.parametrize(("effect", "evicts"), [("NoExecute", True), ("NoSchedule", False)])
def test_a_script_whose_taints_evict_says_so(effect: str, evicts: bool) -> None:
    text = texts(cluster(pool(NAMED, taints=(Taint("team", "a", effect),))))[f"{FOLDER}taints.sh"]
    warning = "# NoExecute evicts running pods that do not tolerate the taint, at once.\n"
    assert (warning in text.partition("set -eu")[0]) == evicts


@pytest.mark.parametrize(
    ("discovery", "written"),
    [
        ({}, {"a.example.com/node.usage", "team"}),
        ({"discovery": "manual"}, {"a.example.com/node.usage", "team", "nvidia.com/gpu.family"}),
    ],
    ids=["GPU Feature Discovery", "by hand"],
)
def test_labels_that_discovery_sets_are_not_written_although_the_pool_states_them(
    discovery: dict[str, str], written: set[str]
) -> None:
    labels = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/cuda.driver.major": "550",
        "nvidia.com/gpu.family": "hopper",
        "team": "a",
    }
    demo = policy(
        {
            "domain": "a.example.com",
            "scheme": discovery,
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": {
                "train": {"usage": "training", "card": "h20", "nodes": {"names": ["n"]}, "labels": labels}
            },
        }
    )
    (node,) = nodes(demo, demo.pools[0])
    found = set(node["metadata"]["labels"])
    assert found & {*labels, "a.example.com/node.usage"} >= written
    assert not found & {"feature.node.kubernetes.io/pci-10de.present"}
    assert ("nvidia.com/gpu.family" in found) == ("nvidia.com/gpu.family" in written)
