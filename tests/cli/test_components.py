"""Objects in kustomizations that include generated components, and the label that components select by."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell
from tests.tools import tool

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
  training: {usages: [training]}
  inference: {usages: [inference]}
generate: {out: generated}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: a
spec:
  template:
    metadata:
      labels: {policykit.io/workload: training}
    spec:
      restartPolicy: Never
      containers:
      - name: a
        image: registry.example/a:1
        resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}
"""
BARE = JOB.replace("    metadata:\n      labels: {policykit.io/workload: training}\n", "")
OTHER = JOB.replace("policykit.io/workload: training", "policykit.io/workload: inference")
LABELLED = JOB.replace("  name: a\nspec", "  name: a\n  labels:\n    policykit.io/workload: training\nspec")
MISNAMED = LABELLED.replace(
    "    policykit.io/workload: training\nspec", "    policykit.io/workload: inference\nspec"
)
DAEMONS = JOB.replace("batch/v1", "apps/v1").replace("kind: Job", "kind: DaemonSet")
TORCH = JOB.replace("batch/v1", "kubeflow.org/v1").replace("kind: Job", "kind: PyTorchJob")
KUSTOMIZATION = "resources: [a.yaml]\ncomponents: [../generated/workloads/training-h20]\n"
LACKS = (
    "3:1 the component of workload kind training does not patch this Job, which lacks the label "
    "policykit.io/workload"
)


@pytest.fixture
def repository(shell: Shell) -> Shell:
    tool("kustomize")
    shell.write({"policykit.yaml": POLICY, "app/kustomization.yaml": KUSTOMIZATION})
    assert shell.run("gen").code == 0
    return shell


def found(shell: Shell) -> list[str]:
    report = json.loads(shell.run("lint", "--format", "json", "--select", "PK140", "app").out)
    return [f"{each['line']}:{each['column']} {each['message']}" for each in report["findings"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(JOB, [LACKS], id="labelled template"),
        pytest.param(BARE, [LACKS], id="not recognized, but there is one component"),
        pytest.param(
            MISNAMED,
            [LACKS.replace("3:1", "6:28").replace("lacks the label", "has the label") + ": inference"],
            id="label of another kind",
        ),
        pytest.param(LABELLED, [], id="labelled object"),
        pytest.param(OTHER, [], id="another kind"),
        pytest.param(DAEMONS, [], id="DaemonSets are not patched"),
        pytest.param(TORCH, [], id="a kind without components"),
    ],
)
def test_an_object_without_the_label(repository: Shell, text: str, expected: list[str]) -> None:
    repository.write({"app/a.yaml": text})
    assert found(repository) == expected


def test_the_label_is_added(repository: Shell) -> None:
    repository.write({"app/a.yaml": JOB})
    assert repository.run("lint", "--select", "PK140", "--unsafe-fixes", "app").code == 0
    assert (repository.folder / "app/a.yaml").read_text() == LABELLED


def test_only_what_the_component_applies_to(repository: Shell) -> None:
    repository.write(
        {
            "app/a.yaml": JOB,
            "app/kustomization.yaml": "resources: [a.yaml]\n",
            "top/kustomization.yaml": KUSTOMIZATION.replace("a.yaml", "../app"),
        }
    )
    assert found(repository) == [LACKS]
    repository.write({"top/kustomization.yaml": KUSTOMIZATION.replace("[a.yaml]", "[]")})
    repository.write({"whole/kustomization.yaml": "resources: [../app, ../top]\n"})
    assert found(repository) == []


def test_a_label_that_the_base_adds(repository: Shell) -> None:
    labels = "labels: [{pairs: {policykit.io/workload: training}}]\n"
    repository.write(
        {
            "app/a.yaml": JOB,
            "app/kustomization.yaml": f"resources: [a.yaml]\n{labels}",
            "top/kustomization.yaml": KUSTOMIZATION.replace("a.yaml", "../app"),
        }
    )
    assert found(repository) == []


def test_gen_says_which_components_used_to_patch_everything(repository: Shell) -> None:
    folder = repository.folder / "generated/workloads/training-h20"
    text = (folder / "kustomization.yaml").read_text()
    lines = [line for line in text.splitlines(keepends=True) if "labelSelector" not in line]
    (folder / "kustomization.yaml").write_text("".join(lines))
    said = repository.run("gen").err
    assert (
        "generated: workloads/training-h20 patched every object, and now only objects labelled "
        "policykit.io/workload: before you apply this, add the label with "
        "`policykit lint --select PK140 --unsafe-fixes`\n"
    ) in said
    assert "patched every object" not in repository.run("gen").err
