"""Pools in the form of each cloud."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.model.pool import Card, Shape, Taint
from policykit.targets.nodes.clouds import NameRule, pool_names
from policykit.targets.nodes.generate import generate
from tests.targets.nodes.clusters import (
    COUNTED,
    GPU,
    PRODUCT,
    SCALED,
    SELECTED,
    USAGE,
    cluster,
    notices,
    pool,
    texts,
)

FOLDER = "nodes/train-h20/"
TAINTS = [
    {"key": USAGE, "value": "training", "effect": "NoSchedule"},
    {"key": PRODUCT, "value": "NVIDIA-H20", "effect": "NoSchedule"},
]

GKE = """\
case "${1:-}" in
create)
  shift
  gcloud container node-pools create train-h20 \\
    --node-labels=maip.mxsf.io/node.usage=training \\
    --node-taints=maip.mxsf.io/node.usage=training:NoSchedule,nvidia.com/gpu.product=NVIDIA-H20:NoSchedule \\
    --enable-autoscaling \\
    --total-min-nodes=0 \\
    --total-max-nodes=6 \\
    "$@"
  ;;
update)
  shift
  gcloud container node-pools update train-h20 \\
    --node-labels=maip.mxsf.io/node.usage=training \\
    "$@"
  gcloud container node-pools update train-h20 \\
    --node-taints=maip.mxsf.io/node.usage=training:NoSchedule,nvidia.com/gpu.product=NVIDIA-H20:NoSchedule \\
    "$@"
  ;;
*)
  echo "usage: sh gke.sh create|update [ARGUMENT]..." >&2
  exit 2
  ;;
esac
"""

AKS = """\
create)
  shift
  az aks nodepool add --name trainh20 \\
    --labels maip.mxsf.io/node.usage=training \\
    --node-taints maip.mxsf.io/node.usage=training:NoSchedule,nvidia.com/gpu.product=NVIDIA-H20:NoSchedule \\
    --node-count 4 \\
    "$@"
  ;;
"""


def document(made: dict[str, str], file: str) -> Any:
    return yaml.safe_load(made[FOLDER + file])


def test_gke() -> None:
    assert texts(cluster(pool(SCALED), provider="gke"))[f"{FOLDER}gke.sh"].endswith(GKE)


def run(text: str, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script where the cloud's command prints its arguments, one per line."""
    for name in ("gcloud", "az"):
        stub = tmp_path / name
        stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        stub.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = ["sh", "-s", "--", *arguments]
    return subprocess.run(script, input=text, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("provider", ["gke", "aks"])
def test_scripts_pass_on_what_they_are_given(provider: str, tmp_path: Path) -> None:
    text = texts(cluster(provider=provider))[f"{FOLDER}{provider}.sh"]
    done = run(text, tmp_path, "create", "--zones", "a b")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2:] == ["--zones", "a b"]
    assert any("maip.mxsf.io/node.usage=training" in line for line in done.stdout.splitlines())
    wrong = run(text, tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == f"usage: sh {provider}.sh create|update [ARGUMENT]...\n"


def test_gcloud_wants_the_equals_sign_and_takes_one_taint_per_key() -> None:
    taints = (Taint("k", "", "NoSchedule"), Taint("k", "", "NoExecute"))
    made = cluster(pool(taints=taints), provider="gke")
    assert "--node-taints=k=:NoExecute \\" in texts(made)[f"{FOLDER}gke.sh"]
    assert notices(generate(made))[0] == (
        "pool train-h20: gcloud takes one taint per key, so gke.sh omits k:NoSchedule"
    )


def test_aks() -> None:
    assert AKS in texts(cluster(provider="aks"))[f"{FOLDER}aks.sh"]


def test_az_takes_no_taint_without_value() -> None:
    made = cluster(pool(taints=(Taint(GPU),)), provider="aks")
    assert "--node-taints" not in texts(made)[f"{FOLDER}aks.sh"]
    assert notices(generate(made))[0] == (
        "pool train-h20: az rejects taints without a value, so aks.sh omits taint "
        "nvidia.com/gpu:NoSchedule; give it a value in the policy"
    )


def test_eks() -> None:
    made = texts(cluster(pool(SCALED), provider="eks"))
    assert document(made, "eksctl.yaml") == {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "managedNodeGroups": [
            {
                "name": "train-h20",
                "minSize": 0,
                "maxSize": 6,
                "propagateASGTags": True,
                "labels": {USAGE: "training"},
                "taints": TAINTS,
            }
        ],
    }


def test_eks_keeps_some_domains_for_itself() -> None:
    labels = {"node.kubernetes.io/pool": "a", "team": "b"}
    made = cluster(pool(labels=labels, taints=(Taint("x.k8s.io/a"),)), provider="eks")
    (group,) = document(texts(made), "eksctl.yaml")["managedNodeGroups"]
    assert group == {
        "name": "train-h20",
        "minSize": 4,
        "maxSize": 4,
        "desiredCapacity": 4,
        "labels": {"team": "b"},
    }
    assert notices(generate(made))[0] == (
        "pool train-h20: EKS refuses label node.kubernetes.io/pool, taint x.k8s.io/a:NoSchedule on node "
        "groups, so eksctl.yaml omits it"
    )


def test_ack() -> None:
    assert document(texts(cluster(provider="ack")), "ack.yaml") == {
        "nodepool_info": {"name": "train-h20"},
        "kubernetes_config": {"labels": [{"key": USAGE, "value": "training"}], "taints": TAINTS},
        "scaling_group": {"desired_size": 4},
    }
    scaled = document(texts(cluster(pool(SCALED), provider="ack")), "ack.yaml")
    assert scaled["auto_scaling"] == {"enable": True, "type": "gpu", "min_instances": 0, "max_instances": 6}


@pytest.mark.parametrize("provider", ["gke", "eks", "aks", "ack"])
def test_a_size_nobody_stated_is_not_made_up(provider: str) -> None:
    text = "".join(texts(cluster(pool(SELECTED), provider=provider)).values()).lower()
    for word in ("--node-count", "desired", "minsize", "maxsize", "autoscal", "auto_scaling"):
        assert word not in text


H100 = Card("h20", GPU, "nvidia", "NVIDIA-H100-80GB-HBM3", PRODUCT, per_node=8)
A100 = H100._replace(product="NVIDIA-A100-SXM4-40GB")
GH200 = H100._replace(product="NVIDIA-GH200-480GB", arch="arm64")
NAME = "karpenter.k8s.aws/instance-gpu-name"
MEMORY = "karpenter.k8s.aws/instance-gpu-memory"


def test_karpenter() -> None:
    labels = {USAGE: "training", PRODUCT: H100.product}
    made = texts(cluster(pool(SCALED, labels=labels), provider="eks", card=H100))
    assert document(made, "karpenter.yaml") == {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "train-h20"},
        "spec": {
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": [{"key": NAME, "operator": "In", "values": ["h100"]}],
                    "taints": TAINTS,
                },
            },
            "limits": {GPU: 48},
        },
    }


@pytest.mark.parametrize(
    ("card", "pinned"),
    [
        (H100, {NAME: ["h100"]}),
        (A100, {NAME: ["a100"], MEMORY: ["40960"]}),
        (GH200, {"kubernetes.io/arch": ["arm64"]}),
    ],
    ids=["h100", "a100", "gh200"],
)
def test_karpenter_pins_the_instances_it_knows(card: Card, pinned: dict[str, list[str]]) -> None:
    made = cluster(pool(SCALED), provider="eks", card=card)
    template = document(texts(made), "karpenter.yaml")["spec"]["template"]
    assert {each["key"]: each["values"] for each in template["spec"]["requirements"]} == pinned
    known = NAME in pinned
    assert (PRODUCT in template["metadata"]["labels"]) is known
    assert any("add them under requirements" in told for told in notices(generate(made))) is not known


def test_karpenter_needs_a_cloud_it_knows() -> None:
    told = notices(generate(cluster(pool(SCALED), forms=("karpenter",))))
    assert (
        "pool train-h20: a Karpenter NodePool needs provider eks or aks, so karpenter.yaml is not written"
        in told
    )


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (NameRule(12, ""), {"train-h20": "trainh20", "x.y": "xy", "1a": "p1a"}),
        (NameRule(36), {"train-h20": "train-h20", "x.y": "x-y", "1a": "p-1a"}),
    ],
    ids=["aks", "gke"],
)
def test_names(rule: NameRule, names: dict[str, str]) -> None:
    made = cluster(*(pool(COUNTED, name=name) for name in names))
    assert pool_names(made, rule) == names


def test_names_that_had_to_be_cut_stay_apart() -> None:
    names = ["inference-h20-a", "inference-h20-b", "a-b", "ab"]
    made = pool_names(cluster(*(pool(name=name) for name in names)), NameRule(12, ""))
    assert len(set(made.values())) == len(names)
    assert all(len(name) <= 12 and name.isalnum() and name[0].isalpha() for name in made.values())


def test_groups_of_a_pool_have_names_of_their_own() -> None:
    shapes = (Shape({}, 2, 2, labels={"hall": "a"}), Shape({}, 0, 3, labels={"hall": "b"}))
    made = texts(cluster(pool(*shapes), provider="aks"))
    assert "az aks nodepool add --name trainh20 " in made[f"{FOLDER}aks-1.sh"]
    assert "az aks nodepool add --name trainh2002 " in made[f"{FOLDER}aks-2.sh"]
