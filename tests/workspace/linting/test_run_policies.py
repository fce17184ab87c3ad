"""`lint` of policies and of what they generate: PK901, PK902, and findings in the right file of a policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import Result, Shell, process

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
priorities:
  urgent: {value: 10000}
generate: {out: generated}
"""
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
LAST = "preemptionPolicy: PreemptLowerPriority\n"
PRIORITIES = "generated/kubernetes/priorities.yaml"
STALE = f"{PRIORITIES}:1:1 PK901 was edited by hand: line 9 is 'value: 20000', but should be 'value: 10000'"


def findings(folder: Path, *paths: str, code: int) -> list[str]:
    """As a new process sees the folder: within one, policies are read once."""
    result = process("lint", "--format", "json", *paths, cwd=folder)
    assert result.code == code, result.err
    found = json.loads(result.out)["findings"]
    return [f"{f['path']}:{f['line']}:{f['column']} {f['code']} {f['message']}" for f in found]


@pytest.fixture
def generated(shell: Shell) -> Path:
    """A repository with a policy, and all that it generates."""
    shell.write({"policykit.yaml": POLICY, "apps/config.yaml": CONFIG})
    assert shell.run("gen").code == 0
    return shell.folder


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def test_what_gen_writes_is_fine(generated: Path) -> None:
    assert findings(generated, code=0) == []


@pytest.mark.parametrize("command", ["lint", "baseline"])
@pytest.mark.parametrize("out", ["", "generate: {}\n", "generate: {out: ''}\n"])
def test_a_policy_that_generates_nothing(shell: Shell, command: str, out: str) -> None:
    policy = POLICY.replace("generate: {out: generated}\n", out)
    shell.write({"policykit.yaml": policy, "my-policykit.yaml": CONFIG})
    result = shell.run(command, "-p", "policykit.yaml", ".")
    assert (result.code, result.out) == (0, "")
    assert "internal error" not in result.err


def test_an_edit_by_hand(generated: Path) -> None:
    edit(generated, PRIORITIES, "10000", "20000")
    assert findings(generated, code=1) == [STALE]
    assert findings(generated, "policykit.yaml", code=1) == [STALE]
    assert findings(generated, PRIORITIES, code=1) == [STALE]
    assert findings(generated, "apps", code=0) == []
    assert findings(generated, "generated/kustomization.yaml", code=0) == []


def test_files_are_named_as_they_were_given(generated: Path) -> None:
    edit(generated, PRIORITIES, "10000", "20000")
    absolute = str(generated / PRIORITIES)
    assert findings(generated, absolute, code=1) == [STALE.replace(PRIORITIES, absolute)]
    below = findings(generated / "generated", "kubernetes", code=1)
    assert below == [STALE.replace("generated/kubernetes", "kubernetes")]


def test_what_the_policy_dropped(generated: Path) -> None:
    edit(generated, "policykit.yaml", "priorities:\n  urgent: {value: 10000}\n", "")
    found = findings(generated, "policykit.yaml", code=1)
    assert [line.split(" policy ")[0] for line in found] == [
        "generated/README.md:1:1 PK901 the",
        f"{PRIORITIES}:1:1 PK902",
        "generated/kustomization.yaml:1:1 PK902",
    ]
    assert findings(generated, PRIORITIES, code=1) == [
        f"{PRIORITIES}:1:1 PK902 policy policykit.yaml no longer generates this file"
    ]


def test_line_endings_of_a_checkout_are_no_edit(generated: Path) -> None:
    path = generated / PRIORITIES
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert findings(generated, code=0) == []


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        (LAST, f"{LAST}# more\n", "line 11, '# more', is not generated"),
        (LAST, "", "line 10, 'preemptionPolicy: PreemptLowerPriority', is missing"),
        (LAST, LAST.rstrip(), "the line endings differ"),
        ("value: 10000", f"value: 10000 # {'x' * 80}", f"line 9 is 'value: 10000 # {'x' * 45}...'"),
    ],
    ids=["more", "less", "end", "long"],
)
def test_the_first_difference(generated: Path, old: str, new: str, result: str) -> None:
    edit(generated, PRIORITIES, old, new)
    [found] = findings(generated, PRIORITIES, code=1)
    assert result in found


def test_missing_files_break_the_kustomization_that_lists_them(generated: Path) -> None:
    (generated / PRIORITIES).unlink()
    assert [line.split(":")[0] for line in findings(generated, code=1)] == ["generated/kustomization.yaml"]
    assert "PK009 lists kubernetes/priorities.yaml, which does not exist" in findings(generated, code=1)[0]


def test_files_of_others_are_left_alone(generated: Path) -> None:
    (generated / "generated" / "mine.yaml").write_text(CONFIG)
    edit(generated, PRIORITIES, "policy demo:", "policy other:")
    assert findings(generated, code=0) == []


def test_not_looked_for_where_not_selected(generated: Path) -> None:
    edit(generated, PRIORITIES, "10000", "20000")
    result = process("lint", "--select", "PK1,PK90", "--ignore", "generated-file-stale", cwd=generated)
    assert (result.code, result.out) == (0, "")


def test_a_policy_that_cannot_be_generated_any_more(generated: Path) -> None:
    edit(
        generated,
        "policykit.yaml",
        "generate:",
        'targets: {volcano: {version: "1.15.1", plugins: {gang: {enabledX: 1}}}}\ngenerate:',
    )
    result = process("lint", cwd=generated)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("policykit: policykit.yaml:")


BASE = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
domain: ai.example.com
cards: {h20: {product: NVIDIA-H20}, l20: {product: NVIDIA-L20}}
pools:
  hybrid: {usage: hybrid, card: h20, nodes: 4}
workloads:
  training: {usages: [hybrid], scheduler: volcano}
"""
OVERLAY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
extends: [../base/policykit.yaml]
metadata: {name: prod}
workloads:
  inference: {usages: [hybrid], scheduler: default-scheduler}
"""
SHARED = "base/policykit.yaml:6:3: PK911 warning: volcano (training) and default-scheduler (inference)"


@pytest.fixture
def fleet(shell: Shell) -> Shell:
    shell.write({"base/policykit.yaml": BASE, "prod/policykit.yaml": OVERLAY})
    return shell


def told(result: Result) -> list[str]:
    return [line.split(" can ")[0] for line in result.out.splitlines() if " PK" in line]


@pytest.mark.parametrize("paths", [(), ("prod",), ("prod/policykit.yaml", "base")])
def test_told_in_the_file_that_said_it_once(fleet: Shell, paths: tuple[str, ...]) -> None:
    result = fleet.run("lint", *paths)
    assert (result.code, told(result)) == (1, [SHARED])


def test_a_base_need_not_stand_by_itself(fleet: Shell) -> None:
    result = fleet.run("lint", "base")
    assert (result.code, result.out, result.err) == (0, "", "no findings (1 object in 1 file)\n")


def test_a_policy_is_only_looked_at_where_it_is_linted(fleet: Shell) -> None:
    fleet.write({"prod/apps/config.yaml": CONFIG})
    assert fleet.run("lint", "--select", "PK9", "prod/apps").out == ""


def test_a_baseline_accepts_it(fleet: Shell) -> None:
    assert fleet.run("baseline").code == 0
    assert fleet.run("lint").code == 0
    assert fleet.run("lint", "prod").code == 0


def test_a_suppression_of_the_base_is_not_called_unused(shell: Shell) -> None:
    base = BASE.replace("nodes: 4}", "nodes: 4}  # policykit: ignore[PK911] -- at night")
    shell.write({"base/policykit.yaml": base, "prod/policykit.yaml": OVERLAY})
    for paths in ((), ("base",), ("prod",)):
        assert told(shell.run("lint", *paths)) == []
