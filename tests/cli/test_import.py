"""`policykit import`: a policy on standard output or in a new file; what it cannot say on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policykit.policy.load import load
from policykit.workspace.files import read
from tests.cli.commands import Shell, process
from tests.clusters import profile
from tests.importer.cluster_files import as_file, generated, nodes_of
from tests.importer.unusual_nodes import ODD, gpu, node, with_cards

USAGE = "ai.example.com/node.usage"


def worker(name: str, usage: str) -> dict[str, object]:
    taints = [(USAGE, usage, "NoSchedule"), ("nvidia.com/gpu.product", "NVIDIA-H20", "NoSchedule")]
    return node(name, {USAGE: usage, **gpu("NVIDIA-H20")}, taints, with_cards(8))


NODES = as_file(
    [
        ODD["control plane"],
        *(worker(f"train-{number:02}", "training") for number in range(1, 5)),
        worker("both-1", "hybrid"),
        node("web-1", {"team": "web"}),
    ]
)
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 3, capability: {nvidia.com/gpu: 32}}
"""
POLICY = """\
# Written by `policykit import` from existing objects. Review it before use: guesses are marked,
# and `policykit nodes --check` compares the policy with the nodes.
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: imported}  # choose the name of the cluster
domain: ai.example.com
kubernetes: "1.33"

# How nodes are labelled and tainted: a preset, and the differences from it.
scheme:
  preset: seed
  controlPlane: {key: node-role.kubernetes.io/control-plane}

# Set it to complete once the pools below include every node of the cluster.
coverage: partial

# Cards, by the names used in this file.
cards:
  h20: {product: NVIDIA-H20}

# Groups of similar nodes. `allocatable` is the least that each node offers.
pools:
  training-h20:
    usage: training
    card: h20
    nodes: {names: ["train-[01-04]"]}
    allocatable: {cpu: 180, memory: 1900Gi}
  hybrid-h20:
    usage: hybrid
    card: h20
    nodes: {names: [both-1]}
    allocatable: {cpu: 180, memory: 1900Gi}
  web:
    nodes: {names: [web-1]}
    allocatable: {cpu: 30, memory: 120Gi}
    labels: {team: web}

# Workload kinds: where each may run, and where it prefers to run.
workloads:
  training:  # guessed from the usages of the pools
    role: training
    usages: [training, hybrid]
    prefer: {training: 100}
queues:
  research:
    weight: 3
    limit: {nvidia.com/gpu: 32}

# Systems that `policykit gen` writes configuration for, besides nodes and Kubernetes.
targets:
  volcano: {}
generate: {out: generated}
"""
SAID = "policykit: node cp-1: control plane, reserved by a taint; not in any pool\n"


def test_a_policy_of_nodes_and_queues(shell: Shell) -> None:
    shell.write({"nodes.json": NODES, "queues.yaml": QUEUE})
    result = shell.run("import", "nodes.json", "queues.yaml")
    assert (result.code, result.err) == (0, SAID)
    assert result.out == POLICY


def test_guesses_are_marked_on_their_line(shell: Shell) -> None:
    nodes = [
        node(
            "gpu-1",
            {"eks.amazonaws.com/nodegroup": "llm-serving", **gpu("NVIDIA-L20-SHARED", 4)},
            [],
            with_cards(16),
        ),
        node("train-a-1", gpu("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", 56), [], with_cards(56)),
    ]
    shell.write({"nodes.json": as_file(nodes)})
    lines = [line.strip() for line in shell.run("import", "nodes.json").out.splitlines() if "guessed" in line]
    assert lines == [
        "usage: training  # guessed from the node name train-a-1",
        "sharing:  # guessed: 56 partitions of 1g.10gb on a node",
        "usage: inference  # guessed from eks.amazonaws.com/nodegroup=llm-serving",
        "sharing: {mode: time-slicing, replicas: 4}  # guessed: no strategy label, 16 replicas on a node",
        "training:  # guessed from the usages of the pools",
        "inference:  # guessed from the usages of the pools",
    ]


def test_to_a_new_file_and_never_over_one(shell: Shell, tmp_path: Path) -> None:
    shell.write({"nodes.json": NODES, "queues.yaml": QUEUE})
    result = shell.run("import", "nodes.json", "queues.yaml", "-o", "policykit.yaml")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"{SAID}wrote policykit.yaml; review it, then run: policykit lint, policykit gen\n"
    assert (tmp_path / "policykit.yaml").read_text() == POLICY
    shell.write({"policykit.yaml": "mine\n"})
    result = shell.run("import", "nodes.json", "-o", "policykit.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("policykit: policykit.yaml: the file already exists\n")
    assert (tmp_path / "policykit.yaml").read_text() == "mine\n"


def test_the_folder_that_gen_wrote(shell: Shell, tmp_path: Path) -> None:
    cluster = profile("hybrid-volcano")
    assert shell.run("gen", "-p", "profile:hybrid-volcano", "-o", "out").code == 0
    shell.write({"nodes.json": as_file(nodes_of(cluster))})
    assert shell.run("import", "out", "nodes.json", "-o", "policykit.yaml").code == 0
    made = load(str(tmp_path / "policykit.yaml"), read).cluster
    # Why a pool is shared is for people: no file carries it.
    pools = tuple(pool._replace(shared_by_schedulers="") for pool in cluster.pools)
    assert (made.name, made.pools, made.cards) == (cluster.name, pools, cluster.cards)
    result = shell.run("nodes", "--check", "nodes.json")
    assert (result.code, result.out, result.err) == (0, "", "29 nodes match policy maip\n")


def test_other_files_of_a_folder_do_no_harm(shell: Shell) -> None:
    files: dict[str, str | bytes] = {}
    files |= {f"clusters/{path}": text for path, text in generated(profile("hybrid-volcano")).items()}
    alone = ("import", "clusters")
    shell.write(files)
    first = shell.run(*alone)
    shell.write(
        {
            "clusters/README.md": "| pool | nodes |\n",
            "clusters/run.sh": "kubectl label nodes a b=c\n",
            "clusters/policykit.yaml": "apiVersion: policykit.io/v1alpha1\nkind: Policy\n",
            "clusters/.git/config.yaml": "kind: Queue\n",
            "clusters/image.bin": b"\xff",
        }
    )
    assert shell.run(*alone) == first
    assert first.code == 0


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"a.json": '{"kind": "List", "items": []}'},
            "a.json: contains no Node objects\n  help: pass the output of",
        ),
        ({"a.json": QUEUE}, "a.json: contains no Node objects\n"),
        ({}, "a.json: cannot be read: No such file or directory\n"),
        ({"a.json": NODES.decode()[:400]}, "a.json:1:401: not YAML: "),
        ({"a.json": b"\xff\xfe\x00"}, "a.json: the file is UTF-16, which is not UTF-8\n"),
        ({"a.json/b.txt": "x"}, "no file contains Node objects\n"),
    ],
    ids=["empty list", "no nodes", "no file", "cut off", "not text", "empty folder"],
)
def test_what_fails(shell: Shell, files: dict[str, str | bytes], message: str) -> None:
    shell.write(files)
    result = shell.run("import", "a.json")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"policykit: {message}")


def test_standard_input_and_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    raw = as_file(list(ODD.values()))
    made = {seed: process("import", "-", cwd=tmp_path, stdin=raw, PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert made["1"] == made["2"]
    assert made["1"].code == 0
    assert "apiVersion: policykit.io/v1alpha1" in made["1"].out


def test_many_nodes(shell: Shell) -> None:
    """A large cluster is one import, and short."""
    nodes = [worker(f"train-{number:04}", "training") for number in range(3000)]
    shell.write({"nodes.json": json.dumps({"kind": "List", "items": nodes})})
    result = shell.run("import", "nodes.json")
    assert result.code == 0
    assert 'nodes: {names: ["train-[0000-2999]"]}' in result.out
