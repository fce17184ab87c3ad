"""Real nodes as a cluster, and the verdicts of `where --nodes` against those of the vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.cli import run
from policykit.errors import SourceError
from policykit.sources.nodes import cluster_of_nodes
from tests.shared import ROOT

CASES = yaml.safe_load((ROOT / "tests/kube/vectors/filters.yaml").read_text(encoding="utf-8"))
UNGATED = [case for case in CASES if not any(case.get("feature_gates", {}).values())]
"""Gates off, as clusters have them."""

REASONS = {
    "NodeUnschedulable": {"unschedulable"},
    "TaintToleration": {"untolerated-taint"},
    "NodeAffinity": {"selector", "affinity"},
}
"""Filter, in the scheduler's order, to the reasons it gives."""


def node(case: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", **case["node"]}


def written(path: Path, data: object) -> str:
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("case", UNGATED, ids=lambda case: case["name"])
def test_verdicts_of_the_vectors(
    case: dict[str, Any], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    nodes = written(tmp_path / "nodes.json", {"apiVersion": "v1", "kind": "List", "items": [node(case)]})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": case["pod"]}
    code = run(["where", written(tmp_path / "pod.json", pod), "--nodes", nodes, "--format", "json"])
    assert code == 0
    ((said,),) = (pod_set["pools"] for pod_set in json.loads(capsysbinary.readouterr().out)["pod_sets"])
    expected = case["expected"]
    assert said["pool"] == case["node"]["metadata"]["name"]
    assert (said["verdict"] in ("accepted", "preferred")) is expected["schedulable"]
    if not expected["schedulable"]:
        assert said["verdict"] == "refused"
        assert said["reason"] in REASONS[expected["blocked_by"][0]]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}}', ["a"]),
        (
            "kind: Node\nmetadata: {name: a}\n---\nkind: Pod\n---\nkind: Node\nmetadata: {name: b}\n",
            ["a", "b"],
        ),
        ('{"kind": "NodeList", "items": [{"kind": "Node", "metadata": {"name": "a"}}]}', ["a"]),
        ("kind: Node\nmetadata: {name: a}\nstatus: 3\nspec: [1]\n---\na: [\n", ["a"]),
    ],
    ids=["one", "documents", "list", "wrong shapes"],
)
def test_nodes_of_a_file(tmp_path: Path, text: str, names: list[str]) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(text)
    cluster = cluster_of_nodes(str(path))
    assert [pool.name for pool in cluster.pools] == names
    assert (cluster.complete, cluster.observed, cluster.source) == (True, True, str(path))


@pytest.mark.parametrize("text", ["", "a: [", "kind: Pod\n", "\x00"], ids=["empty", "broken", "pod", "nul"])
def test_a_file_without_nodes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(text)
    with pytest.raises(SourceError, match=r"nodes\.json: holds no Node"):
        cluster_of_nodes(str(path))
