"""Fixing files until still: which fixes go together, what is left alone, what is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import yaml

from policykit import api
from policykit.linter.baseline_pass import earlier_amounts
from policykit.linter.finding import Report
from policykit.linter.fix_files import FixResult, fixed_once
from policykit.linter.workspace import EarlierFindings, Options, Workspace
from policykit.model.cluster import LintSettings
from tests.clusters import profile

CLUSTER = profile("hybrid-volcano")
USAGE, PRODUCT = "maip.mxsf.io/node.usage", "nvidia.com/gpu.product"
FIXABLE = ["PK101", "PK105", "PK106", "PK113", "PK125", "PK201", "PK301"]

TOLERATED = f"""\
  - {{key: {USAGE}, operator: Equal, value: training, effect: NoSchedule}}
  - {{key: {USAGE}, operator: Equal, value: hybrid, effect: NoSchedule}}
  - {{key: {PRODUCT}, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: app
  labels: {policykit.io/workload: training}
spec:
  containers:
  - name: main
    image: registry.example/app:1
    resources: {limits: {nvidia.com/gpu: 1}}
"""
WRONG_CARD = POD.replace("spec:\n", f"spec:\n  nodeSelector:\n    {PRODUCT}: H20\n").replace(
    "  labels: {policykit.io/workload: training}\n", ""
)
RIGHT_CARD = WRONG_CARD.replace(": H20", ": NVIDIA-H20")
CONTROL_PLANE = POD.replace(
    "  containers:",
    "  tolerations:\n"
    + "  - {key: maip.mxsf.io/control-plane, operator: Exists, effect: NoSchedule}\n"
    + "  - {key: maip.mxsf.io/control-plane, operator: Exists}\n"
    + TOLERATED
    + "  containers:",
)


def fix_text(
    text: str | bytes, select: Sequence[str] = FIXABLE, *, unsafe: bool = True, ignore: Sequence[str] = ()
) -> tuple[str, FixResult]:
    raw = text.encode() if isinstance(text, str) else text
    texts = {"a.yaml": raw}
    workspace = api.workspace_of(texts, api.setting(CLUSTER, LintSettings(), select, ignore))
    found = api.fix(workspace, Options(workers=1), unsafe=unsafe)
    assert found.before == {name: texts[name] for name in found.after}
    return found.after.get("a.yaml", raw).decode(), found


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def test_a_file_without_findings_is_not_written() -> None:
    text, found = fix_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert (text, found.fixed, found.after) == (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        0,
        {},
    )


def test_only_its_own_document_changes() -> None:
    head, tail = (
        f"# first\n{WRONG_CARD}---\n",
        "---\n# nothing\n---\nkind:  ConfigMap # odd\napiVersion: v1\n",
    )
    text, found = fix_text(f"{head.replace(': H20', ': NVIDIA-H20')}{WRONG_CARD}{tail}", ["PK106"])
    assert text == f"{head.replace(': H20', ': NVIDIA-H20')}{RIGHT_CARD}{tail}"
    assert found.fixed == 1


def test_several_documents_are_fixed_at_once() -> None:
    text, found = fix_text("---\n".join([WRONG_CARD] * 3), ["PK106"])
    assert text == "---\n".join([RIGHT_CARD] * 3)
    assert found.fixed == 3


@pytest.mark.parametrize("broken", ["a: [\n", "a: 1\n a: 2\n", "\ta: 1\n", "'\n"])
def test_beside_a_broken_document(broken: str) -> None:
    before = f"{WRONG_CARD}---\n{broken}"
    text, found = fix_text(before, ["PK001", "PK106"])
    assert text == before.replace(": H20", ": NVIDIA-H20")
    assert codes(found.report) == ["PK001"]
    assert fix_text(text, ["PK001", "PK106"])[0] == text


def test_bytes_are_counted_as_bytes() -> None:
    lines = f"# 训练 → 𝟙\n{WRONG_CARD}".replace("name: app", "name: app # 卡 é")
    before = b"\xef\xbb\xbf" + lines.replace("\n", "\r\n").encode()
    _, found = fix_text(before, ["PK106"])
    assert found.after["a.yaml"] == before.replace(b": H20", b": NVIDIA-H20")
    workspace = api.workspace_of({"a.yaml": before}, api.setting(CLUSTER, select=["PK106"]))
    (finding,) = api.lint(workspace, Options(fixes=True, workers=1)).findings
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert before[edit.start : edit.end] + edit.text.encode() == b"NVIDIA-"
    assert before[: edit.start].endswith(PRODUCT.encode() + b": ")


def test_fixes_in_each_others_way_are_made_one_after_another() -> None:
    text, found = fix_text(CONTROL_PLANE, ["PK113"])
    assert text == POD.replace("  containers:", "  tolerations:\n" + TOLERATED + "  containers:")
    assert found.fixed == 2
    assert codes(found.report) == []


def test_fixed_once_leaves_the_second_of_two_that_touch() -> None:
    raw = CONTROL_PLANE.encode()
    workspace = api.workspace_of({"a.yaml": raw}, api.setting(CLUSTER, select=["PK113"]))
    found = api.lint(workspace, Options(fixes=True, workers=1)).findings
    assert len(found) == 2
    new, amount = fixed_once(raw, found)
    assert amount == 1
    assert new.count(b"control-plane") == 1


def test_two_findings_of_one_fix_are_both_fixed() -> None:
    before = POD.replace(
        "  containers:", "  tolerations:\n" + TOLERATED.replace("hybrid", "Hybrid") + "  containers:"
    )
    found = api.lint_texts({"a.yaml": before.encode()}, CLUSTER, ["PK105", "PK125"])
    assert codes(found) == ["PK105", "PK125"]
    text, result = fix_text(before, ["PK105", "PK125"])
    assert result.fixed == 2
    assert codes(result.report) == []
    assert text.count("value: hybrid") == 1


def test_safe_fixes_alone() -> None:
    before = f"{CONTROL_PLANE}---\n{POD}"
    text, found = fix_text(before, ["PK101", "PK113"], unsafe=False)
    assert text.startswith(f"{CONTROL_PLANE}---\n{POD}")
    assert codes(found.report) == ["PK113", "PK113"]
    assert found.fixed == 1


def test_what_nobody_wants_to_see_is_not_fixed() -> None:
    hidden = WRONG_CARD.replace(": H20\n", ": H20 # policykit: ignore[PK106] -- not ours\n")
    assert fix_text(hidden, ["PK106"])[0] == hidden
    assert fix_text(WRONG_CARD, ["PK1"], ignore=["PK106"])[0] == WRONG_CARD
    assert fix_text(WRONG_CARD, ["PK2"])[0] == WRONG_CARD


def test_what_an_earlier_revision_had_is_neither_fixed_nor_told() -> None:
    workspace: Workspace = api.workspace_of(
        {"a.yaml": WRONG_CARD.encode()}, api.setting(CLUSTER, select=["PK106"])
    )
    found = api.unit_findings(workspace).findings
    earlier = EarlierFindings(earlier_amounts(found, ["a"], str), ("a",), str)
    workspace = workspace._replace(earlier=earlier)
    fixed = api.fix(workspace, Options(workers=1), unsafe=True)
    assert (fixed.after, fixed.report.findings) == ({}, ())


JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
  labels: {policykit.io/workload: training}
spec:
  schedulerName: volcano
  tasks:
  - name: master
    replicas: 1
    template:
      spec: &pod
        restartPolicy: Never
        tolerations: &spot
        - {key: example.com/spot, operator: Exists}
        containers:
        - name: main
          image: registry.example/train:1
          resources: {limits: {nvidia.com/gpu: 8}}
  - name: worker
    replicas: 4
    template:
      spec: WORKER
"""
SHARED = {
    "an alias": JOB.replace("spec: WORKER", "spec: *pod"),
    "a merge key": JOB.replace("spec: WORKER", "spec:\n        <<: *pod\n        priorityClassName: high"),
}


@pytest.mark.parametrize("before", list(SHARED.values()), ids=list(SHARED))
def test_a_fix_that_would_change_another_pod_set_is_left_out_and_told(before: str) -> None:
    text, found = fix_text(before, ["PK101"])
    assert text == before
    assert [line.partition(": ")[0] for line in found.dropped] == ["a.yaml:14:9", "a.yaml:14:9"]
    assert all(": PK101 fix left out: " in line for line in found.dropped)
    assert codes(found.report) == ["PK101"]


def test_an_alias_of_one_list_leaves_the_rest_fixable() -> None:
    worker = """\
spec:
        restartPolicy: Never
        tolerations: *spot
        containers:
        - name: main
          image: registry.example/train:1
          resources: {limits: {nvidia.com/gpu: 8}}"""
    before = JOB.replace("spec: WORKER", worker)
    text, found = fix_text(before, ["PK101"])
    assert text == before
    assert len(found.dropped) == 2
    own = before.replace("tolerations: *spot", "priority: 1")
    text, found = fix_text(own, ["PK101"])
    assert found.dropped == ()
    tasks = yaml.safe_load(text)["spec"]["tasks"]
    spot, rest = (
        tasks[0]["template"]["spec"]["tolerations"][:1],
        tasks[0]["template"]["spec"]["tolerations"][1:],
    )
    assert spot == [{"key": "example.com/spot", "operator": "Exists"}]
    assert tasks[1]["template"]["spec"]["tolerations"] == rest


def test_files_of_a_scope_are_read_as_they_have_become() -> None:
    """The gang in one file follows the pods in another; nothing is fixed twice."""
    head = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
    group = f"{head}metadata: {{name: g}}\nspec: {{minMember: 4}}\n"
    pods = "\n---\n".join(
        "apiVersion: v1\nkind: Pod\n"
        f"metadata: {{name: p{n}, annotations: {{scheduling.k8s.io/group-name: g}}}}\n"
        "spec: {schedulerName: volcano, containers: [{name: a, image: b}]}"
        for n in range(3)
    )
    texts = {"group.yaml": group.encode(), "pods.yaml": pods.encode()}
    found = api.fix_texts(texts, None, ["PK301"], unsafe=True)
    assert found.after == {"group.yaml": group.replace("4", "3").encode()}
    assert found.fixed == 1
    assert codes(found.report) == []
