"""`policykit where`: verdicts as text and JSON, by policy and by nodes."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {zone: z1}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
"""
NODES = """\
{"kind": "List", "apiVersion": "v1", "items": [
 {"kind": "Node", "metadata": {"name": "n1", "labels": {"zone": "z1"}},
  "status": {"allocatable": {"cpu": "8", "pods": "110", "nvidia.com/gpu": "1"}}},
 {"kind": "Node", "metadata": {"name": "n2", "labels": {"zone": "z2"}}, "spec": {"taints": []}},
 {"kind": "Node", "metadata": {"name": "n3"}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
 {"kind": "Node", "metadata": {"name": "n4"}, "spec": {"unschedulable": true}}]}
"""


def test_by_nodes(shell: Shell) -> None:
    shell.write({"a.yaml": POD, "nodes.json": NODES})
    result = shell.run("where", "a.yaml", "--nodes", "nodes.json")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "a.yaml:1  Pod a  pod  (1 pod, each requests 1 x nvidia.com/gpu)\n"
        "  no workload kind\n"
        "  accepted     n1\n"
        "  refused      n2  selector: nodeSelector zone=z1, but the node has 'z2'\n"
        "  refused      n3  untolerated-taint: taint a:NoSchedule is not tolerated\n"
        "  refused      n4  unschedulable: cordoned\n"
    )


def test_a_daemon_set_tolerates_that_a_node_is_cordoned(shell: Shell) -> None:
    daemons = (
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: log}\n"
        "spec: {selector: {matchLabels: {app: log}}, template: {metadata: {labels: {app: log}},"
        ' spec: {containers: [{name: main, image: "registry.example/log:1"}]}}}\n'
    )
    shell.write({"a.yaml": daemons, "nodes.json": NODES})
    result = shell.run("where", "a.yaml", "--nodes", "nodes.json")
    assert "  accepted     n4\n" in result.out
    assert "  refused      n3  untolerated-taint" in result.out


def test_as_json(shell: Shell) -> None:
    shell.write({"a.yaml": POD, "nodes.json": NODES})
    result = shell.run("where", "a.yaml", "--nodes", "nodes.json", "--format", "json")
    (pod_set,) = json.loads(result.out)["pod_sets"]
    assert pod_set["pools"][:2] == [
        {"pool": "n1", "verdict": "accepted", "reason": None, "detail": None},
        {
            "pool": "n2",
            "verdict": "refused",
            "reason": "selector",
            "detail": "nodeSelector zone=z1, but the node has 'z2'",
        },
    ]
    del pod_set["pools"]
    assert pod_set == {
        "path": "a.yaml",
        "line": 1,
        "clusters": [],
        "built_from": [],
        "resource": {"api_version": "v1", "kind": "Pod", "namespace": None, "name": "a"},
        "pointer": "",
        "name": "pod",
        "replicas": 1,
        "workload": None,
        "decided_by": None,
        "gang": None,
        "state": "accepted",
        "gates": [],
    }


def test_the_nearest_policy_governs(shell: Shell) -> None:
    policy = (
        "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: test}\n"
        "pools:\n  NAME: {nodes: 2, allocatable: {cpu: 8, memory: 32Gi}}\n"
    )
    shell.write(
        {
            "a/policykit.yaml": policy.replace("NAME", "pool-a"),
            "b/policykit.yaml": policy.replace("NAME", "pool-b"),
            "a/a.yaml": POD,
            "b/a.yaml": POD,
        }
    )
    result = shell.run("where", "a/a.yaml", "b/a.yaml", "--format", "json")
    names = [pools["pools"][0]["pool"] for pools in json.loads(result.out)["pod_sets"]]
    assert names == ["pool-a", "pool-b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.yaml"], "policykit: a.yaml: no policy in this or any parent folder\n"),
        (["nope.yaml", "--nodes", "nodes.json"], "policykit: nope.yaml: no such file or folder\n"),
        (["a.yaml", "--nodes", "nope.json"], "policykit: nope.json: cannot be read: "),
        (["a.yaml", "--nodes", "a.yaml"], "policykit: a.yaml: contains no Node objects\n"),
        (["a.yaml", "--nodes", "nodes.json", "-p", "x"], "policykit: -p and --nodes cannot be combined\n"),
        (["a.yaml", "-p", "profile:nope"], "policykit: profile:nope: unknown profile 'nope'\n"),
    ],
    ids=["no policy", "no file", "no nodes file", "no nodes", "both", "no profile"],
)
def test_usage(shell: Shell, arguments: list[str], message: str) -> None:
    shell.write({"a.yaml": POD, "nodes.json": NODES})
    result = shell.run("where", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(message)


def test_what_is_not_yaml_fails_after_the_rest(shell: Shell) -> None:
    """Its pods may be anywhere; a template is left out."""
    shell.write({"a.yaml": "a: [\n", "b.yaml": POD, "c.yaml": "a: {{ .Values.a }}\nb: [\n"})
    result = shell.run("where", ".", "-p", "profile:hybrid-volcano")
    assert (result.code, result.out.count("b.yaml:")) == (2, 1)
    assert result.err.startswith("policykit: a.yaml:1:4: ")
    assert "c.yaml" not in result.err


@pytest.mark.parametrize("text", ["", "a: 1\n", "kind: Service\napiVersion: v1\n"])
def test_no_pods_in_there(shell: Shell, text: str) -> None:
    shell.write({"a.yaml": text})
    result = shell.run("where", "a.yaml", "-p", "profile:hybrid-volcano")
    assert (result.code, result.out, result.err) == (0, "", "policykit: no pods found\n")


def test_a_name_does_not_break_lines(shell: Shell) -> None:
    shell.write({"a.yaml": POD.replace("name: a}", 'name: "a\\nb\\e"}'), "nodes.json": NODES})
    result = shell.run("where", "a.yaml", "--nodes", "nodes.json")
    assert result.out.startswith(r"a.yaml:1  Pod a\nb\x1b  pod  (1 pod, ")
