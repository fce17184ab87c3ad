"""Whatever a repository calls its files, objects and policies: no command hands on what would be obeyed."""

from __future__ import annotations

import io
import json

import pytest

from policykit.formats import FORMATS
from policykit.manifests.writer import dump, dump_all
from tests.cli.commands import Result, Shell
from tests.hostile import HOSTILE, obeyed

FOLDER = HOSTILE
FILE = f"{HOSTILE}.yaml"
LEADING = "::add-mask::pwn.yaml"
CONTAINER = {
    "name": HOSTILE,
    "image": HOSTILE,
    "resources": {"requests": {"nvidia.com/gpu": 1, HOSTILE: HOSTILE}},
}
SPEC = {
    "containers": [CONTAINER],
    "nodeSelector": {HOSTILE: HOSTILE, "nvidia.com/gpu.product": HOSTILE},
    "tolerations": [{"key": HOSTILE, "operator": HOSTILE, "value": HOSTILE}],
    "schedulerName": HOSTILE,
    "priorityClassName": HOSTILE,
    HOSTILE: HOSTILE,
}
META = {
    "name": HOSTILE,
    "namespace": HOSTILE,
    "labels": {HOSTILE: HOSTILE, "policykit.io/workload": HOSTILE, "kueue.x-k8s.io/queue-name": HOSTILE},
    "annotations": {
        HOSTILE: HOSTILE,
        "policykit.io/ignore": f"{HOSTILE} until {HOSTILE} -- {HOSTILE}",
        "scheduling.volcano.sh/queue-name": HOSTILE,
        "scheduling.k8s.io/group-name": HOSTILE,
        "yunikorn.apache.org/task-groups": HOSTILE,
        "gang.scheduling.koordinator.sh/name": HOSTILE,
        "gang.scheduling.koordinator.sh/min-available": HOSTILE,
    },
}
TEMPLATE = {"metadata": META, "spec": SPEC}
SCHEDULER = {"actions": HOSTILE, "tiers": [{"plugins": [{"name": HOSTILE, HOSTILE: HOSTILE}]}]}
OBJECTS = [
    {"apiVersion": "v1", "kind": "Pod", "metadata": META, "spec": SPEC},
    {"apiVersion": "batch/v1", "kind": "Job", "metadata": META, "spec": {"template": TEMPLATE}},
    {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": META,
        "spec": {
            "queue": HOSTILE,
            "plugins": {HOSTILE: []},
            "tasks": [{"name": HOSTILE, "template": TEMPLATE}],
        },
    },
    {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": META,
        "spec": {"parent": HOSTILE, "capability": {HOSTILE: HOSTILE}},
    },
    {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": META, "spec": {}},
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": META,
        "spec": {"taints": [{"key": HOSTILE, "effect": HOSTILE}]},
    },
    {"apiVersion": HOSTILE, "kind": HOSTILE, "metadata": META},
    {"apiVersion": "apps/v1", "kind": f"Deployment{HOSTILE}", "metadata": META},
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "volcano-scheduler-configmap"},
        "data": {"volcano-scheduler.conf": dump(SCHEDULER)},
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "yunikorn-configs"},
        "data": {
            "queues.yaml": dump(
                {
                    "partitions": [
                        {"name": HOSTILE, "queues": [{"name": HOSTILE, "submitacl": HOSTILE, HOSTILE: 1}]}
                    ]
                }
            )
        },
    },
]
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": HOSTILE,
        "names": {"kind": HOSTILE},
        "versions": [{"name": HOSTILE, "schema": {"openAPIV3Schema": {"required": [HOSTILE]}}}],
    },
}
POLICY = {
    "apiVersion": "policykit.io/v1alpha1",
    "kind": "Policy",
    "metadata": {"name": "a"},
    "extends": ["profile:hybrid-volcano"],
    "queues": {"default": {"weight": 1}},
    "generate": {"out": HOSTILE},
    "workloads": {
        "training": {
            "scheduler": HOSTILE,
            "match": [{"names": ["*"]}],
            "autoscaling": {"min": 1, "max": 2, "metrics": [{"pods": HOSTILE, "average": 1}]},
        }
    },
}
WRONG = {
    **POLICY,
    "pools": {HOSTILE: {"usage": HOSTILE, HOSTILE: HOSTILE}},
    "extends": [HOSTILE, f"profile:{HOSTILE}"],
}
NODES = {
    "kind": "List",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {HOSTILE: HOSTILE, "nvidia.com/gpu.product": HOSTILE}},
            "spec": {"taints": [{"key": HOSTILE, "value": HOSTILE, "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "8", "memory": "64Gi", HOSTILE: HOSTILE}},
        }
        for name in (HOSTILE, "--all", f"b{HOSTILE}")
    ],
}
KUSTOMIZATION = {
    "resources": [FILE, HOSTILE],
    "namespace": HOSTILE,
    "patches": [{"path": HOSTILE}],
    HOSTILE: HOSTILE,
}
REPOSITORY = {
    FILE: dump_all(OBJECTS),
    LEADING: "a: [\n",
    f"{FOLDER}/{FILE}": f"a: [ # {HOSTILE}",
    f"{FOLDER}/kustomization.yaml": dump(KUSTOMIZATION),
    f"{FOLDER}/.policykit-baseline.json": json.dumps({"kind": "policykit-baseline", "version": HOSTILE}),
    "settings/pyproject.toml": f"[tool.policykit.lint]\n{json.dumps(HOSTILE)} = 1\n",
    "settings/a.yaml": dump(OBJECTS[0]),
    "wrong/policykit.yaml": dump(WRONG),
    "wrong/a.yaml": "{{ template }}",
    "right/policykit.yaml": dump(POLICY),
    "right/a.yaml": dump_all(OBJECTS),
    "nodes.json": json.dumps(NODES),
    "crd.yaml": dump(CRD),
    "broken.yaml": f"# {HOSTILE}\na: [\n##[error]pwn\n::error::pwn\n",
}


@pytest.fixture
def repository(shell: Shell) -> Shell:
    shell.write({name: text.encode("utf-8", errors="surrogatepass") for name, text in REPOSITORY.items()})
    return shell


LINT = [
    *(["lint", "--format", name, "--select", "ALL", "."] for name in FORMATS),
    *(
        ["lint", "--format", name, "--select", "ALL", "-p", "right/policykit.yaml", "."]
        for name in ("text", "json")
    ),
    ["lint", "--color", "always", "--show-files", "--statistics", "--timings", "."],
    ["lint", "--kustomize", "never", "--namespace", HOSTILE, "."],
    ["lint", "--crd", "crd.yaml", FILE],
    ["lint", "--jobs", "2", "--baseline", HOSTILE, "."],
    ["lint", "--stdin-filename", HOSTILE, FILE, LEADING],
]
WORDS = [
    ["lint", HOSTILE],
    ["lint", "--select", HOSTILE],
    ["lint", "--format", HOSTILE],
    ["lint", f"--{HOSTILE}"],
    ["lint", "-p", HOSTILE],
    ["lint", "--crd", HOSTILE],
    ["lint", "--since", HOSTILE, "."],
    ["lint", "--jobs", HOSTILE],
    ["lint", "--output", f"{HOSTILE}/x/y", "."],
    [HOSTILE],
    ["explain", HOSTILE],
    ["cards", HOSTILE],
    ["schema", HOSTILE],
    ["profiles", HOSTILE],
    ["init", "--profile", HOSTILE, HOSTILE],
    ["init", FOLDER],
    ["where", HOSTILE, "."],
    ["where", "-p", "right/policykit.yaml", "."],
    ["where", "-p", "right/policykit.yaml", "--format", "json", "."],
    ["where", "--nodes", "nodes.json", FILE],
    ["where", "--nodes", "nodes.json", "--format", "json", FILE],
    ["nodes", "--check", "nodes.json", "-p", "right/policykit.yaml"],
    ["nodes", "--check", "nodes.json", "-p", "right/policykit.yaml", "--format", "json"],
    ["nodes", "--check", HOSTILE],
    ["import", "nodes.json"],
    ["import", FILE],
    ["import", "."],
    ["import", "nodes.json", "-o", FILE],
    ["baseline", "settings"],
    ["baseline", "-o", f"{HOSTILE}.json", FILE],
    ["baseline", "--prune", "-o", HOSTILE],
    ["gen", "-p", "wrong/policykit.yaml"],
    ["gen", "-p", "right/policykit.yaml"],
    ["gen", "-p", "right/policykit.yaml", "--check"],
    ["gen", "-p", "right/policykit.yaml", "--target", HOSTILE],
    ["gen", "--all"],
]
DATA = [
    ["lint", "--diff", "--unsafe-fixes", "."],
    ["lint", "--fix", "."],
    ["patch", "-p", "right/policykit.yaml", FILE],
    ["patch", "-p", "right/policykit.yaml", "--diff", FILE],
    ["patch", "-p", "right/policykit.yaml", "--in-place", FILE],
    ["patch", "-p", "right/policykit.yaml", "--only", HOSTILE, FILE],
    ["patch", "-p", "right/policykit.yaml", "--workload", HOSTILE, FILE],
    ["gen", "-p", "right/policykit.yaml", "-o", "-"],
    ["gen", "-p", "right/policykit.yaml", "--diff"],
]
"""Commands whose standard output is what files hold, to the byte."""


def held(result: Result) -> None:
    assert result.code in (0, 1, 2)
    assert "internal error" not in result.err
    assert obeyed(result.err) == []


@pytest.mark.parametrize(
    "words", [*LINT, *WORDS], ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:60]
)
def test_nothing_is_obeyed(repository: Shell, words: list[str]) -> None:
    result = repository.run(*words)
    held(result)
    assert obeyed(result.out) == []


@pytest.mark.parametrize(
    "words", DATA, ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:60]
)
def test_nothing_of_what_is_said_beside_data(repository: Shell, words: list[str]) -> None:
    held(repository.run(*words))


def test_the_right_policy_is_right(repository: Shell) -> None:
    result = repository.run("where", "-p", "right/policykit.yaml", "right")
    assert (result.code, result.err) == (0, "")


CHANGED = """\
apiVersion: v1
kind: Pod
metadata: {name: a} # \u202egnp.exe
##[error]pwn
spec:\t
  containers: [{name: a, image: b, resources: {requests: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}]
"""
DIFF = ["lint", "--diff", "--select", "PK201", "a.yaml"]


def test_a_diff_is_exact_in_a_pipe(shell: Shell) -> None:
    shell.write({"a.yaml": CHANGED})
    out = shell.run(*DIFF).out
    assert "\n metadata: {name: a} # \u202egnp.exe\n" in out
    assert "\n ##[error]pwn\n spec:\t\n" in out


class Terminal(io.TextIOWrapper):
    """Takes what is printed for itself, and says that somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "words",
    [DIFF, ["patch", "-p", "profile:hybrid-volcano", "a.yaml"], ["lint", "--fix", "-"]],
    ids=["diff", "patch", "standard input"],
)
def test_nothing_of_files_is_obeyed_by_a_terminal(
    shell: Shell, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write({"a.yaml": CHANGED})
    terminal = Terminal(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CHANGED.encode())))
    shell.run(*words)
    shown = terminal.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert obeyed(shown.replace("\t", " ")) == []
    assert "metadata: {name: a} # \\u202egnp.exe\n" in shown
    assert "\\x23#[error]pwn\n" in shown
    assert "spec:\t\n" in shown
