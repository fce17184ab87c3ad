"""`lint` says once which objects request cards and have no workload kind."""

from __future__ import annotations

import pytest

from tests.cli.commands import Shell

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: a}
domain: ai.example.com
cards: {h20: {product: NVIDIA-H20}}
pools:
  t: {usage: training, card: h20, nodes: 2}
  i: {usage: inference, card: h20, nodes: 2}
workloads:
  train: {usages: [training]}
  serve: {usages: [inference]}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
      - name: a
        image: registry.example/a:1
        resources: {limits: {nvidia.com/gpu: 1}}
"""
LABELLED = DEPLOYMENT.replace("{app: a}}\n    spec", "{app: a, policykit.io/workload: serve}}\n    spec")
HOW = (
    "name one of the policy's in the label policykit.io/workload of its pods, or add `match` or `role` to one"
)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"a.yaml": LABELLED}, "", id="labelled"),
        pytest.param({"a.yaml": DEPLOYMENT.replace("nvidia.com/gpu", "cpu")}, "", id="no card"),
        pytest.param({"a.yaml": f"# policykit: partial\n{DEPLOYMENT}"}, "", id="a patch"),
        pytest.param(
            {"a.yaml": DEPLOYMENT},
            "policykit: Deployment NAME in a.yaml has no workload kind, although the pods request cards: "
            f"rules about workload kinds skip it; {HOW}\n",
            id="one",
        ),
        pytest.param(
            {"a.yaml": DEPLOYMENT, "b.yaml": f"{DEPLOYMENT}---\n{DEPLOYMENT.replace('NAME', 'b')}"},
            "policykit: Deployment NAME in a.yaml and 2 more have no workload kind, although the pods "
            f"request cards: rules about workload kinds skip them; {HOW}\n",
            id="three",
        ),
    ],
)
def test_once_for_a_run(shell: Shell, files: dict[str, str], said: str) -> None:
    shell.write({"policykit.yaml": POLICY, **files})
    err = shell.run("lint").err
    assert "".join(line + "\n" for line in err.splitlines() if "workload kind" in line) == said


def test_not_without_a_policy_or_its_kinds(shell: Shell) -> None:
    shell.write({"a.yaml": DEPLOYMENT})
    assert "workload kind" not in shell.run("lint").err
    shell.write({"policykit.yaml": POLICY.partition("workloads:")[0]})
    assert "workload kind" not in shell.run("lint").err


def test_where_says_it_for_each(shell: Shell) -> None:
    shell.write({"policykit.yaml": POLICY, "a.yaml": DEPLOYMENT, "b.yaml": LABELLED})
    said = [line for line in shell.run("where").out.splitlines() if "workload kind" in line]
    assert said == [f"  no workload kind; {HOW}", "  workload kind serve: label policykit.io/workload"]
