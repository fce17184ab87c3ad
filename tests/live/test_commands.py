"""What commands say of a running cluster: objects by name, exit codes as for files."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from policykit.formats import FORMATS
from tests.cli.commands import Shell
from tests.live.api_server import ApiServer
from tests.live.objects import NODES, POLICY, URGENT, deployment, node, pod, pod_spec

NOT_INSTALLED = re.compile(r"policykit: not installed, so not read: .*\n")


def told(text: str) -> str:
    """Standard error without the kinds that are not installed."""
    return NOT_INSTALLED.sub("", text)


def clean(server: ApiServer) -> None:
    server.add(*NODES, URGENT, deployment("chat", pod_spec(4)))
    server.serve("v1", "Pod", "ConfigMap")


def test_a_cluster_as_the_policy_wants_it(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    for words in (["audit"], ["audit", "-A"], ["lint", "--live"], ["where", "--live"], ["nodes", "--live"]):
        assert shell.run(*words).code == 0, shell.run(*words)
    result = shell.run("audit", "-A")
    assert result.out == ""
    assert told(result.err) == "no findings (5 objects) in all namespaces of context test\n"
    assert shell.run("gen", "--diff", "--check", "--live").out == ""


def broken(server: ApiServer) -> None:
    clean(server)
    server.objects["v1", "Node"][0]["spec"] = {}
    server.objects["scheduling.k8s.io/v1", "PriorityClass"][0]["value"] = 5
    server.add(deployment("lost", pod_spec(4, placed=False)))


def test_audit_names_objects(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("audit", "-A", "--format", "concise")
    assert result.code == 1
    codes = {tuple(re.findall(r"^(.*?): (PK\d+)", line)[0]) for line in result.out.splitlines()}
    assert {
        ("Deployment default/lost", "PK101"),
        ("Node train-1", "PK129"),
        ("PriorityClass urgent", "PK901"),
    } <= codes


def test_audit_as_text(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("audit", "--select", "PK129,PK901", "--statistics")
    taint = (
        "is missing [node-off-policy]\n"
        "    /spec/taints | spec: {}\n"
        "                 | ^^^^\n"
        "    help: `policykit nodes --check --live` prints the commands\n"
    )
    assert result.out == (
        f"Node train-1: PK129 warning: taint a.example.com/node.usage=training:NoSchedule {taint}"
        f"Node train-1: PK129 warning: taint nvidia.com/gpu.product=NVIDIA-H20:NoSchedule {taint}"
        "PriorityClass urgent: PK901 error: differs from what the policy generates: line 5 is 'value: 5', but"
        " should be 'value: 1000' [generated-file-stale]\n"
        "    help: apply what `policykit gen -p policykit.yaml` writes; `policykit gen --diff --live -p"
        " policykit.yaml` shows all differences\n"
    )
    assert told(result.err) == (
        "2  PK129  node-off-policy\n"
        "1  PK901  generated-file-stale\n"
        "1 error, 2 warnings (6 objects) in namespace default of context test\n"
    )


def test_lint_shows_the_field(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("lint", "--live", "--select", "PK101")
    lines = result.out.splitlines()
    assert lines[0].startswith("Deployment default/lost: PK101 ")
    assert lines[1].startswith("    /spec/template/spec/tolerations | ")
    assert result.code == 1


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_names_objects(name: str, server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("audit", "-A", "--format", name)
    assert result.code == 1
    assert ("lost" in result.out) is (name != "metrics")
    if name in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(result.out)
    elif name == "junit":
        ElementTree.fromstring(result.out)


def test_metrics(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("audit", "--select", "PK129,PK901", "--format", "metrics")
    assert result.out == (
        "# HELP policykit_findings Findings by rule.\n"
        "# TYPE policykit_findings gauge\n"
        'policykit_findings{code="PK129",name="node-off-policy",severity="warning"} 2\n'
        'policykit_findings{code="PK901",name="generated-file-stale",severity="error"} 1\n'
        "# HELP policykit_findings_by_severity Findings by severity.\n"
        "# TYPE policykit_findings_by_severity gauge\n"
        'policykit_findings_by_severity{severity="error"} 1\n'
        'policykit_findings_by_severity{severity="warning"} 2\n'
        'policykit_findings_by_severity{severity="info"} 0\n'
        "# HELP policykit_objects Kubernetes objects looked at.\n"
        "# TYPE policykit_objects gauge\n"
        "policykit_objects 6\n"
        "# HELP policykit_suppressed Findings that are suppressed.\n"
        "# TYPE policykit_suppressed gauge\n"
        "policykit_suppressed 0\n"
        "# HELP policykit_failures What could not be read.\n"
        "# TYPE policykit_failures gauge\n"
        "policykit_failures 0\n"
    )


def test_nodes_that_accept_no_pods_now(server: ApiServer, shell: Shell) -> None:
    """That will change again: it is said, and does not fail the audit."""
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    server.objects["v1", "Node"][0]["spec"]["unschedulable"] = True
    ready = server.objects["v1", "Node"][1]["status"]["conditions"]
    ready[0] |= {"status": "False", "reason": "KubeletNotReady"}
    server.objects["v1", "Node"][1]["spec"]["taints"].append(
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    )
    result = shell.run("audit", "--format", "concise", "--select", "PK129")
    assert "Node train-1: PK129 info: accepts no new pods: it is cordoned" in result.out
    assert "Node train-2: PK129 info: " in result.out


def test_missing_objects_and_missing_nodes(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    server.add(NODES[0], NODES[2])
    server.serve("scheduling.k8s.io/v1", "PriorityClass")
    result = shell.run("audit", "--format", "concise")
    assert result.out == (
        "Node train-2: PK129 warning: node is in the policy but not in the cluster [node-off-policy]\n"
        "PriorityClass urgent: PK901 error: the policy generates it, but it is not in the cluster"
        " [generated-file-stale]\n"
    )


def test_gen_compares_with_the_cluster(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("gen", "--diff", "--live")
    assert result.code == 0
    assert result.out == (
        "--- a/PriorityClass urgent\n"
        "+++ b/PriorityClass urgent\n"
        "@@ -2,5 +2,5 @@\n"
        " kind: PriorityClass\n"
        " metadata:\n"
        "   name: urgent\n"
        "-value: 5\n"
        "+value: 1000\n"
        " preemptionPolicy: PreemptLowerPriority\n"
    )
    result = shell.run("gen", "--check", "--live")
    assert result.code == 1
    assert result.err == "PriorityClass urgent differs\n"
    assert shell.run("gen", "--live").code == 2


@pytest.mark.parametrize(
    ("stated", "server_version", "line"),
    [
        ("", "", ""),
        (
            "",
            "v1.34.2-eks-1",
            'kubernetes not set, but the server runs v1.34.2-eks-1: write kubernetes: "1.34", to be told what'
            " that release lacks",
        ),
        ("1.36", "v1.34.2", "judged as Kubernetes 1.36, but the server runs v1.34.2"),
        ("1.36", "v1.36.1", ""),
    ],
)
def test_the_release_of_the_server(
    stated: str, server_version: str, line: str, server: ApiServer, shell: Shell
) -> None:
    shell.write({"policykit.yaml": POLICY + (f'kubernetes: "{stated}"\n' if stated else "")})
    clean(server)
    server.version = server_version
    for command in ("audit", "lint --live"):
        said = told(shell.run(*command.split(), "-A").err).splitlines()
        assert said[:-1] == ([f"policykit: policykit.yaml: {line}"] if line else [])


def left_over(name: str, **labels: str) -> dict[str, Any]:
    """A PriorityClass with labels."""
    return {**URGENT, "metadata": {"name": name, "labels": labels}}


def test_what_is_no_longer_generated(server: ApiServer, shell: Shell) -> None:
    """By the label that the generated kustomization gives objects; others belong to somebody else."""
    shell.write({"policykit.yaml": f"{POLICY}formerly: {{name: {{demo: [trial]}}}}\n"})
    clean(server)
    label = "policykit.io/policy"
    server.objects[("scheduling.k8s.io/v1", "PriorityClass")] = [left_over("urgent", **{label: "demo"})]
    server.add(
        left_over("normal", **{label: "demo"}),
        left_over("older", **{label: "trial"}),
        left_over("other", **{label: "another"}),
        left_over("unlabelled"),
    )
    result = shell.run("audit", "-A")
    assert result.code == 1
    assert result.out == "".join(
        f"PriorityClass {name}: PK902 error: policy policykit.yaml no longer generates it"
        " [generated-file-orphaned]\n"
        "    help: move what uses it, then delete it with `kubectl delete`, or let the tool that applies the"
        " folder prune it\n"
        for name in ("normal", "older")
    )
    result = shell.run("gen", "--check", "--live")
    assert result.code == 1
    assert (
        result.err
        == "PriorityClass normal is no longer generated; PriorityClass older is no longer generated\n"
    )
    assert shell.run("gen", "--diff", "--live").out.startswith(
        "--- a/PriorityClass normal\n"
        "+++ b/PriorityClass normal\n"
        "@@ -1,8 +0,0 @@\n"
        "-apiVersion: scheduling.k8s.io/v1\n"
        "-kind: PriorityClass\n"
    )


def test_nodes_are_compared(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    broken(server)
    result = shell.run("nodes", "--check", "--live")
    assert result.code == 1
    assert "train: taint a.example.com/node.usage=training:NoSchedule is missing (train-1)\n" in result.out
    assert shell.run("nodes", "--check", "-", "--live").code == 2


def test_import_from_a_cluster(server: ApiServer, shell: Shell) -> None:
    clean(server)
    result = shell.run("import", "--live", "-o", "policykit.yaml")
    assert result.code == 0
    text = (shell.folder / "policykit.yaml").read_text()
    assert "NVIDIA-H20" in text
    assert "urgent" in text
    assert shell.run("nodes", "--live").code == 0
    assert shell.run("import", "--live", "policykit.yaml").code == 2


def test_where_on_live_nodes(server: ApiServer, shell: Shell) -> None:
    clean(server)
    shell.write({"chat.json": json.dumps(deployment("chat", pod_spec(4)))})
    result = shell.run("where", "--live", "chat.json")
    assert "  accepted     train-1\n" in result.out
    assert shell.run("where", "--live").out.startswith("Deployment default/chat  pod  (1 pod, ")
    shell.write({"policykit.yaml": POLICY})
    assert "  accepted     train\n" in shell.run("where", "--live").out
    assert shell.run("where", "--live", "-p", "policykit.yaml", "chat.json").code == 2


OWNED = {"kind": "ReplicaSet", "name": "chat-1", "uid": "a"}
UNKNOWN = {"kind": "Elephant", "name": "e", "uid": "b"}


@pytest.mark.parametrize(
    ("objects", "names"),
    [
        ([pod("alone", pod_spec(4, placed=False))], ["Pod default/alone"]),
        ([pod("owned", pod_spec(4, placed=False), owner=OWNED)], []),
        (
            [pod(f"e-{n}", pod_spec(4, placed=False), owner=UNKNOWN) for n in range(3)],
            ["Pod default/e-0"],
        ),
        ([pod("over", pod_spec(4, placed=False), phase="Succeeded")], []),
        ([{**pod("bound", {**pod_spec(4), "nodeName": "train-1"}), "status": {"phase": "Running"}}], []),
        (
            [
                pod(
                    "tolerant",
                    {
                        **pod_spec(4),
                        "tolerations": [
                            *pod_spec(4)["tolerations"],
                            {
                                "key": "node.kubernetes.io/not-ready",
                                "operator": "Exists",
                                "effect": "NoExecute",
                                "tolerationSeconds": 300,
                            },
                        ],
                    },
                )
            ],
            [],
        ),
        ([deployment("elsewhere", pod_spec(4, placed=False), "other")], []),
    ],
    ids=[
        "a pod",
        "of a known kind",
        "of an unknown kind",
        "ended",
        "bound",
        "changed by admission",
        "elsewhere",
    ],
)
def test_what_is_judged(objects: list[Any], names: list[str], server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    server.add(*objects)
    result = shell.run("lint", "--live", "--format", "jsonl")
    found = [json.loads(line) for line in result.out.splitlines()]
    assert sorted({each["path"] for each in found if "path" in each}) == names


def test_namespaces(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    server.add(deployment("a", pod_spec(4, placed=False), "other"))
    assert shell.run("lint", "--live").code == 0
    assert shell.run("lint", "--live", "-n", "other").code == 1
    assert shell.run("lint", "--live", "-A").code == 1
    assert shell.run("lint", "--live", "-A", "-n", "other").code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lint", "--live", "a.yaml"], "PATH cannot be combined with --live"),
        (["lint", "--live", "--fix"], "--fix cannot be combined with --live"),
        (["lint", "--live", "--since", "HEAD"], "--since cannot be combined with --live"),
        (["lint", "--live", "-p", "a", "-p", "b"], "a cluster has one policy, but -p is repeated"),
        (["lint", "-A"], "--all-namespaces works only with --live"),
        (["lint", "--context", "a"], "--context and --kubeconfig work only with --live"),
        (["gen", "--kubeconfig", "a"], "--context and --kubeconfig work only with --live"),
        (["nodes"], "name either a file or --live"),
        (["import"], "name either files or --live"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_contradict(words: list[str], message: str, server: ApiServer, shell: Shell) -> None:
    result = shell.run(*words)
    assert result.code == 2
    assert result.err.startswith(f"policykit: {message}\n")
    assert not server.requests


def test_only_reading(server: ApiServer, shell: Shell) -> None:
    """The server answers nothing but GET; no Secret is ever asked for."""
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    server.serve("v1", "Secret")
    for words in (
        ["audit", "-A"],
        ["lint", "--live", "-A"],
        ["import", "--live"],
        ["why", "deployment/chat"],
    ):
        shell.run(*words)
    assert server.requests
    assert not [line for line in server.requests if "secret" in line]


def test_lists_are_paged(server: ApiServer, shell: Shell) -> None:
    server.add(*(node(f"n-{number}") for number in range(1201)))
    shell.run("lint", "--live")
    assert [line.partition("?")[2] for line in server.lists("nodes")] == [
        "limit=500",
        "limit=500&continue=500",
        "limit=500&continue=1000",
    ]


def test_names_from_the_cluster_are_escaped(server: ApiServer, shell: Shell) -> None:
    """No server should allow them."""
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    server.add(deployment("a\x1b[31m\n::error::b", pod_spec(4, placed=False)))
    result = shell.run("lint", "--live", "--select", "PK1")
    assert "\x1b" not in result.out + result.err
    assert "Deployment default/a\\x1b[31m\\n::error::b: PK101" in result.out


def test_live_configurations_are_linted(server: ApiServer, shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY})
    clean(server)
    scheduler = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
        "data": {"volcano-scheduler.conf": 'actions: "enqueue, allokate"\ntiers: []\n'},
    }
    other = {**scheduler, "metadata": {"name": "other", "namespace": "volcano-system"}, "data": {"a": "b"}}
    server.add(scheduler, other)
    result = shell.run("lint", "--live", "--format", "concise")
    assert "ConfigMap volcano-system/volcano-scheduler-configmap: PK" in result.out
    assert all("namespaces/" in line for line in server.lists("configmaps"))
