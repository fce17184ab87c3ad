"""`policykit nodes --check`: differences and commands as text and JSON, and the exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Shell, process
from tests.importer.cluster_files import as_file
from tests.importer.unusual_nodes import ODD, gpu, node, with_cards

USAGE = "a.example.com/node.usage"
POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: a.example.com
scheme: {preset: seed, controlPlane: false}
cards: {h20: {product: NVIDIA-H20}}
pools:
  train: {usage: training, card: h20, nodes: {names: ["train-[1-2]"]}, allocatable: {cpu: 100, memory: 1Ti}}
  web: {nodes: 1}
"""
TAINTS = [(USAGE, "training", "NoSchedule"), ("nvidia.com/gpu.product", "NVIDIA-H20", "NoSchedule")]
RIGHT = [
    *(node(f"train-{n}", {USAGE: "training", **gpu("NVIDIA-H20")}, TAINTS, with_cards(8)) for n in (1, 2)),
    node("web-1"),
]
WRONG = [
    node("train-1", {USAGE: "hybrid"}, [(USAGE, "training", "NoExecute"), TAINTS[1]], with_cards(7)),
    node("train-2", gpu("NVIDIA-H20"), TAINTS[1:], with_cards(8)),
    node("odd 'one'", {USAGE: "batch"}),
]
PLUGIN = (
    "check that the device plugin runs there and its devices are healthy, "
    "or change `cardsPerNode` in the policy"
)
TEXT = f"""\
train: label {USAGE} is 'hybrid', not 'training' (train-1)
train: label nvidia.com/gpu.count=8 is missing (train-1)
    help: gpu-feature-discovery of NVIDIA sets it: check that its pod runs on the node
train: label nvidia.com/gpu.product=NVIDIA-H20 is missing (train-1)
    help: gpu-feature-discovery of NVIDIA sets it: check that its pod runs on the node
train: taint {USAGE}=training:NoSchedule is missing (train-1, train-2)
train: taint {USAGE}=training:NoExecute is not in the policy (train-1)
train: nvidia.com/gpu: 7 allocatable, the policy has 8 (train-1)
    help: {PLUGIN}
train: label {USAGE}=training is missing (train-2)
web: no nodes in the cluster, at least 1 in the policy
    help: change `nodes` in the policy, or the number of nodes
no pool: node is in no pool of the policy (odd 'one')
    help: add a pool for it, or list it in one
10 differences

# These commands fix the differences; none has been run.

# Labels. They do not move any pod by themselves.
kubectl label nodes --overwrite \\
  train-1 train-2 \\
  {USAGE}=training

# Taints. Before this step, node daemons (nodes/daemons of `policykit gen`) and workloads that
# should stay (workloads/) must tolerate them.
kubectl taint nodes --overwrite \\
  train-1 train-2 \\
  {USAGE}=training:NoSchedule

# Removal of taints that are not in the policy, after its own taints are set.
kubectl taint nodes \\
  train-1 \\
  {USAGE}=training:NoExecute-
"""


def test_nodes_that_agree(shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY, "nodes.json": as_file(RIGHT)})
    result = shell.run("nodes", "--check", "nodes.json")
    assert (result.code, result.out, result.err) == (0, "", "3 nodes match policy demo\n")


def test_nodes_that_differ(shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY, "nodes.json": as_file(WRONG)})
    result = shell.run("nodes", "--check", "nodes.json")
    assert (result.code, result.err) == (1, "")
    assert result.out == TEXT


def test_a_cordoned_node_is_named_and_fails_nothing(shell: Shell) -> None:
    cordoned = node("train-2", {USAGE: "training", **gpu("NVIDIA-H20")}, TAINTS, with_cards(8), cordoned=True)
    shell.write({"policykit.yaml": POLICY, "nodes.json": as_file([RIGHT[0], cordoned, RIGHT[2]])})
    result = shell.run("nodes", "--check", "nodes.json")
    assert (result.code, result.out) == (0, "train: accepts no new pods: it is cordoned (train-2)\n")
    assert result.err == "3 nodes match policy demo\n"


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_is_not_ready_counts_as_unusable_before_it_has_the_taint(
    shell: Shell, status: str
) -> None:
    """The taint comes later, and not at all where the controller that sets it is off."""
    ready = {"type": "Ready", "status": status}
    others = [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}]
    nodes = [json.loads(json.dumps(each)) for each in RIGHT]
    nodes[0]["status"]["conditions"] = others
    nodes[1]["status"]["conditions"] = nodes[2]["status"]["conditions"] = [others[0], ready]
    shell.write({"policykit.yaml": POLICY, "nodes.json": as_file(nodes)})
    result = shell.run("nodes", "--check", "nodes.json")
    assert (result.code, result.out) == (
        1,
        "train: accepts no new pods: its condition Ready is not True (train-2)\n"
        "web: accepts no new pods: its condition Ready is not True (web-1)\n"
        "web: its only node accepts no new pods\n"
        "    help: uncordon or repair one, or add a node\n"
        "1 difference\n",
    )


OLD = ("a.example.com/node.usage", "batch", "NoSchedule")


@pytest.mark.parametrize(("taints", "done"), [(TAINTS, True), ([OLD, TAINTS[1]], False)], ids=["new", "old"])
def test_former_names_can_go_when_no_node_has_one(shell: Shell, taints: list[Any], done: bool) -> None:
    former = POLICY + "formerly: {usages: {training: [batch]}}\n"
    usage = taints[0][1]
    nodes = [node(f"train-{n}", {USAGE: usage, **gpu("NVIDIA-H20")}, taints, with_cards(8)) for n in (1, 2)]
    shell.write({"policykit.yaml": former, "nodes.json": as_file([*nodes, RIGHT[2]])})
    result = shell.run("nodes", "--check", "nodes.json")
    assert result.code == int(not done)
    assert ("remove domain, usages and products from `formerly:`" in result.err) == done


def test_the_commands_are_a_script(shell: Shell, tmp_path: Path) -> None:
    """A shell reads them as they are meant: here kubectl is something that shows its arguments."""
    shell.write({"policykit.yaml": POLICY, "nodes.json": as_file(WRONG)})
    script = shell.run("nodes", "--check", "nodes.json").out.partition("10 differences\n")[2]
    shown = 'kubectl() { printf "<%s>" "$@"; echo; }\n'
    done = subprocess.run(
        ["sh", "-eu"], input=shown + script, capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.splitlines() == [
        f"<label><nodes><--overwrite><train-1><train-2><{USAGE}=training>",
        f"<taint><nodes><--overwrite><train-1><train-2><{USAGE}=training:NoSchedule>",
        f"<taint><nodes><train-1><{USAGE}=training:NoExecute->",
    ]


def test_as_json(shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY, "nodes.json": as_file(WRONG)})
    result = shell.run("nodes", "--check", "nodes.json", "--format", "json")
    data = json.loads(result.out)
    assert (result.code, data["schema_version"], data["summary"]) == (1, 1, {"differences": 10, "nodes": 3})
    assert data["differences"][0] == {
        "pool": "train",
        "kind": "wrong-label",
        "node": "train-1",
        "message": f"label {USAGE} is 'hybrid', not 'training'",
        "help": None,
        "fails": True,
    }
    assert data["differences"][-1]["pool"] is None
    assert (
        data["commands"][0] == f"kubectl label nodes --overwrite \\\n  train-1 train-2 \\\n  {USAGE}=training"
    )
    agree = shell.run("nodes", "--check", "nodes.json", "-p", "policykit.yaml", "--format", "json")
    assert agree == result


def test_standard_input_and_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(POLICY)
    raw = as_file([*WRONG, *ODD.values()])
    words = ("nodes", "--check", "-", "-p", "policykit.yaml")
    made = {seed: process(*words, cwd=tmp_path, stdin=raw, PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert made["1"] == made["2"]
    assert made["1"].code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nodes",), "policykit: name either a file or --live"),
        (("nodes", "--check", "nope.json"), "policykit: nope.json: cannot be read: "),
        (("nodes", "--check", "empty.json"), "policykit: empty.json: contains no Node objects\n"),
        (("nodes", "--check", "cut.json"), "policykit: cut.json:1:301: not YAML: "),
        (("nodes", "--check", "nodes.json"), "policykit: "),
        (
            ("nodes", "--check", "nodes.json", "-p", "profile:nope"),
            "policykit: profile:nope: unknown profile",
        ),
    ],
    ids=["no file", "no such file", "no nodes", "cut off", "no policy", "no profile"],
)
def test_what_fails(shell: Shell, words: tuple[str, ...], message: str) -> None:
    shell.write({"empty.json": "{}", "nodes.json": as_file(RIGHT), "cut.json": as_file(RIGHT)[:300]})
    result = shell.run(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(message)
    assert "no policy in this or any parent folder" in result.err or words[-1] != "nodes.json"
