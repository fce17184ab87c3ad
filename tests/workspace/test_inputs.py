"""Real nodes as a cluster, and the verdicts of `where --nodes` against those of the vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policykit.cli import run
from policykit.errors import SourceError
from policykit.workspace.inputs import cluster_of_nodes, custom_kinds_of
from tests.loaded import loaded
from tests.shared import ROOT

CASES = loaded((ROOT / "tests/kube/vectors/filters.yaml").read_text(encoding="utf-8"))
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
    assert code == int(not case["expected"]["schedulable"])
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
        ('{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}', ["a"]),
        ('[{"kind": "Node", "metadata": {"name": "a"}}, 3, null]', ["a"]),
        ("kind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata: {name: a}\n", ["a"]),
        ("kind: Node\nmetadata: {name: a}\nstatus: 3\nspec: [1]\n", ["a"]),
    ],
    ids=["one", "documents", "list", "an API server's list", "array", "given twice", "wrong shapes"],
)
def test_nodes_of_a_file(tmp_path: Path, text: str, names: list[str]) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(text)
    cluster = cluster_of_nodes(str(path))
    assert [pool.name for pool in cluster.pools] == names
    assert (cluster.complete, cluster.observed, cluster.source) == (True, True, str(path))


@pytest.mark.parametrize(
    ("raw", "message", "hint"),
    [
        (b"", "nodes.json: contains no Node objects", "pass the output of `kubectl get nodes -o json`"),
        (
            b"kind: Pod\n",
            "nodes.json: contains no Node objects",
            "pass the output of `kubectl get nodes -o json`",
        ),
        (b"a: [", "nodes.json:2:1: not YAML: ", "check that the file is complete"),
        (b"\x00", "nodes.json:1:1: not YAML: control character U+0000", "check that the file is complete"),
        (b"a: caf\xe9", "nodes.json: byte 0xe9 is not UTF-8", "save it as UTF-8"),
        (
            b'{"kind": "Node"}\n{"kind": "Node"}\n',
            "nodes.json:2:1: not YAML: ",
            "separate the objects with ---, ",
        ),
    ],
    ids=["empty", "pod", "broken", "nul", "Latin-1", "one object after the other"],
)
def test_a_file_without_nodes(tmp_path: Path, raw: bytes, message: str, hint: str) -> None:
    path = tmp_path / "nodes.json"
    path.write_bytes(raw)
    with pytest.raises(SourceError) as caught:
        cluster_of_nodes(str(path))
    assert message in str(caught.value)
    assert caught.value.hint.startswith(hint)


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: KINDs.example.com}
spec:
  group: example.com
  names: {kind: KIND}
  versions:
  - name: v1
    served: true
    schema: {openAPIV3Schema: {type: object}}
"""
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def kinds(*paths: Path) -> list[tuple[str, str]]:
    return sorted(custom_kinds_of([str(path) for path in paths]))


def test_a_file_with_several_documents(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"{CRD.replace('KIND', 'A')}---\n{OTHER}---\n{CRD.replace('KIND', 'B')}")
    assert kinds(file) == [("example.com/v1", "A"), ("example.com/v1", "B")]


def test_a_list(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    crd = '{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": SPEC}'
    spec = '{"group": "example.com", "names": {"kind": "A"}, "versions": [{"name": "v1", "served": true}]}'
    file.write_text(f'{{"apiVersion": "v1", "kind": "List", "items": [{crd.replace("SPEC", spec)}]}}')
    assert kinds(file) == [("example.com/v1", "A")]


def test_a_folder_whatever_else_stands_there(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/a.yaml").write_text(CRD.replace("KIND", "A"))
    (tmp_path / "other.yaml").write_text(OTHER)
    (tmp_path / "chart.yaml").write_text("{{ not yaml\n")
    assert kinds(tmp_path) == [("example.com/v1", "A")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (OTHER, "contains no CustomResourceDefinition"),
        (CRD + "a: [\n", "is not YAML"),
    ],
    ids=["missing", "none in it", "broken"],
)
def test_nothing_to_read(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "a.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SourceError) as raised:
        kinds(file)
    assert (raised.value.message, raised.value.place) == (message, str(file))
