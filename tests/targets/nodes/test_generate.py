"""Which files a policy's nodes allow, and what is said of the others."""

import subprocess

import pytest
import yaml
from yamllint import linter  # it ships no types
from yamllint.config import YamlLintConfig  # it ships no types

from policykit.generator.artifact import Role
from policykit.generator.bundle import bundle
from policykit.model.cluster import Cluster
from policykit.model.pool import Shape, Taint
from policykit.targets.nodes.generate import generate
from tests.clusters import policy, profile
from tests.targets.nodes.clusters import (
    COUNTED,
    NAMED,
    SCALED,
    SELECTED,
    USAGE,
    cluster,
    notices,
    pool,
    texts,
)

YAMLLINT = YamlLintConfig("extends: default")
FOLDER = "nodes/train-h20/"
DAEMONS = "nodes/daemons/"


def files(made: Cluster) -> list[str]:
    return sorted(path.removeprefix(FOLDER) for path in texts(made) if path.startswith(FOLDER))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (cluster(pool(COUNTED)), ["kubeadm.yaml", "kubelet.env"]),
        (cluster(pool(SCALED)), ["kubeadm.yaml", "kubelet.env"]),
        (cluster(pool(NAMED)), ["kubeadm.yaml", "kubelet.env", "labels.sh", "labels.yaml", "taints.sh"]),
        (cluster(pool(SELECTED)), ["kubeadm.yaml", "kubelet.env", "labels.sh", "taints.sh"]),
        (cluster(pool(NAMED), provider="gke"), ["gke.sh", "labels.sh", "labels.yaml", "taints.sh"]),
        (cluster(pool(COUNTED), provider="aks"), ["aks.sh"]),
        (cluster(pool(COUNTED), provider="ack"), ["ack.yaml"]),
        (cluster(pool(COUNTED), provider="eks"), ["eksctl.yaml"]),
        (cluster(pool(SCALED), provider="eks"), ["eksctl.yaml", "karpenter.yaml"]),
        (cluster(pool(SCALED), provider="aks", forms=("karpenter",)), ["karpenter.yaml"]),
        (cluster(pool(SCALED), provider="eks", forms=("kubelet",)), ["kubelet.env"]),
        (cluster(pool(NAMED), forms=("labels",)), ["labels.sh", "labels.yaml"]),
        (cluster(pool(NAMED), forms=()), []),
        (cluster(pool(NAMED, labels={}, taints=())), []),
    ],
    ids=[
        "count",
        "range",
        "names",
        "selector",
        "gke",
        "aks",
        "ack",
        "eks",
        "eks, range",
        "karpenter asked for",
        "kubelet asked for in a cloud",
        "labels only",
        "no form",
        "nothing to set",
    ],
)
def test_files_of_a_pool(made: Cluster, expected: list[str]) -> None:
    assert files(made) == expected


def test_nothing_of_the_node_side_is_applied_by_a_kustomization() -> None:
    made = cluster(pool(NAMED), control_plane=Taint("maip.mxsf.io/control-plane"))
    roles = {artifact.path: artifact.role for artifact in generate(made).artifacts}
    assert set(roles.values()) == {Role.NODE, Role.VALUES, Role.PAGE}
    assert roles["nodes/README.md"] is Role.PAGE
    assert {role for path, role in roles.items() if path.startswith(DAEMONS)} == {Role.VALUES}


def test_nodes_that_no_command_can_name_are_told_once() -> None:
    made = cluster(pool(COUNTED), pool(SCALED, name="more"), pool(NAMED, name="named"))
    assert notices(generate(made)) == [
        "pools train-h20, more: the policy does not identify these nodes, so labels.yaml, labels.sh and "
        "taints.sh are not written; give names"
        " or a selector under nodes, or use the join-time files"
    ]


def test_that_nothing_can_be_written_is_told_too() -> None:
    generated = generate(cluster(pool(COUNTED, card=""), forms=("labels",)))
    assert generated.artifacts == ()
    assert len(generated.notices) == 1


def test_a_label_no_kubelet_may_set_is_left_out_and_told() -> None:
    made = cluster(pool(NAMED, labels={"node-role.kubernetes.io/gpu": "", USAGE: "training"}))
    text = texts(made)
    assert "node-role" not in text[f"{FOLDER}kubelet.env"]
    assert "node-role" not in text[f"{FOLDER}kubeadm.yaml"]
    assert "node-role.kubernetes.io/gpu=" in text[f"{FOLDER}labels.sh"]
    assert notices(generate(made)) == [
        "pool train-h20: a kubelet may not set node-role.kubernetes.io/gpu on its own node "
        "(NodeRestriction), so the join-time files omit it; set it after the node has joined"
    ]


def test_an_autoscaler_cannot_foresee_a_discovered_label() -> None:
    untainted = pool(SCALED, taints=())
    (told,) = notices(generate(cluster(untainted, provider="eks", forms=("provider",))))
    assert told.startswith("pool train-h20: discovery sets the product label")
    one = pool(Shape({}, 1, 6), taints=())
    assert notices(generate(cluster(one, provider="eks", forms=("provider",)))) == []
    assert notices(generate(cluster(pool(SCALED), provider="eks", forms=("provider",)))) == []


@pytest.mark.parametrize("provider", ["", "gke", "eks", "aks", "ack"])
def test_scripts_are_shell_and_files_are_yaml(provider: str) -> None:
    zoned = Shape({}, 2, 2, labels={"maip.mxsf.io/hall": "1"})
    made = cluster(
        pool(NAMED), pool(SELECTED, SCALED, zoned, name="x.y"), provider=provider, control_plane=Taint("k")
    )
    for path, text in texts(made).items():
        if path.endswith(".sh"):
            assert text.startswith("#!/bin/sh\n")
            assert "\nset -eu\n" in text
        if path.endswith((".sh", ".env")):
            done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), path
        if path.endswith(".yaml"):
            assert None not in list(yaml.safe_load_all(text)), path


def test_same_cluster_same_text() -> None:
    made = cluster(pool(NAMED), pool(SCALED, name="b"), provider="eks")
    turned = pool(NAMED, labels=dict(reversed([*pool().labels.items()])), taints=pool().taints[::-1])
    again = cluster(turned, pool(SCALED, name="b"), provider="eks")
    assert texts(made) == texts(again)


def test_hybrid_volcano() -> None:
    text = texts(profile("hybrid-volcano"))
    assert sorted(path for path in text if not path.startswith(DAEMONS)) == [
        "nodes/README.md",
        "nodes/control-plane/taint.sh",
        *(f"nodes/{name}/{file}" for name in ("hybrid-h20", "infer-h20", "train-h20") for file in KUBELET),
    ]
    assert text["nodes/train-h20/kubelet.env"].splitlines()[-1] == (
        "KUBELET_EXTRA_ARGS='--node-labels=maip.mxsf.io/node.usage=training "
        "--register-with-taints=maip.mxsf.io/node.usage=training:NoSchedule,"
        "nvidia.com/gpu.product=NVIDIA-H20:NoSchedule'"
    )


KUBELET = ("kubeadm.yaml", "kubelet.env")


def test_koordinator_binpack_taints_its_control_plane_only() -> None:
    text = texts(profile("koordinator-binpack"))
    assert sorted(text) == ["nodes/README.md", "nodes/control-plane/taint.sh"]
    assert text["nodes/control-plane/taint.sh"].endswith(
        "kubectl taint nodes --overwrite \\\n"
        "  -l node-role.kubernetes.io/control-plane \\\n"
        "  node-role.kubernetes.io/control-plane=true:NoSchedule\n"
    )


def test_labels_that_somebody_must_set_by_hand() -> None:
    made = policy(
        {
            "domain": "maip.mxsf.io",
            "scheme": {"preset": "plain", "discovery": "manual"},
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": {
                "a": {
                    "card": "h20",
                    "usage": "training",
                    "nodes": {"names": ["n1", "n2"]},
                    "topology": [{"nodes": ["n1"], "rack": "r1"}, {"nodes": ["n2"], "rack": "r2"}],
                }
            },
        }
    )
    first, second = yaml.safe_load_all(texts(made)["nodes/a/labels.yaml"])
    assert first["metadata"]["labels"]["nvidia.com/gpu.product"] == "NVIDIA-H20"
    assert first["metadata"]["labels"]["maip.mxsf.io/rack"] == "r1"
    assert second["metadata"]["labels"]["maip.mxsf.io/rack"] == "r2"


@pytest.mark.parametrize("provider", ["", "eks", "ack"])
def test_yamllint_is_content(provider: str) -> None:
    made = cluster(pool(NAMED), pool(SCALED, name="b"), provider=provider)
    for path, text in bundle(made, generate(made)).items():
        if path.endswith(".yaml"):
            assert [str(problem) for problem in linter.run(text, YAMLLINT)] == [], path
