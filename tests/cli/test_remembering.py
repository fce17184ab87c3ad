"""Runs with and without what earlier runs left: the same bytes, less work (contract 6)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policykit.cli.linting import remembered
from policykit.sources import cache, kept
from tests.cli.commands import Shell, process
from tests.shared import ROOT, SHARED

POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
extends: [base.yaml]
cards: {h20: {product: NVIDIA-H20}}
pools: {train: {usage: training, card: h20, nodes: 2, allocatable: {cpu: 8, memory: 32Gi}}}
workloads: {training: {usages: [training]}}
"""
BASE = "apiVersion: policykit.io/v1alpha1\nkind: Policy\ndomain: a.example.com\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {a.example.com/node.usage: training}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
"""


@pytest.fixture
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path.parent / f"{tmp_path.name}-kept"
    monkeypatch.setenv(cache.VARIABLE, str(folder))
    monkeypatch.setattr(remembered, "_WORTH", 0)
    monkeypatch.setattr(cache, "_off", [])
    return folder


def entries(folder: Path, kind: str) -> list[Path]:
    return sorted(folder.glob(f"{kind}-*"))


def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process would compile the policy anew."""
    from policykit.cli import policy

    policy._loaded.cache_clear()


def test_the_same_findings_again(shell: Shell, kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write({"policykit.yaml": POLICY, "base.yaml": BASE, "a.yaml": POD, "b.yaml": POD + "x: 1\n"})
    first = shell.run("lint", "a.yaml", "b.yaml", "--format", "json")
    assert first.code == 1
    assert len(entries(kept_in, "results")) == len(entries(kept_in, "policy")) == 1
    for words in ([], ["--jobs", "2"], ["--no-cache"]):
        compiled(monkeypatch)
        again = shell.run("lint", "a.yaml", "b.yaml", "--format", "json", *words)
        assert (again.code, again.out) == (first.code, first.out)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", POD.replace("node.usage: training", "node.usage: trainnig")),
        ("policykit.yaml", POLICY.replace("training", "inference")),
        ("base.yaml", BASE.replace("a.example", "b.example")),
    ],
    ids=["the file", "the policy", "what the policy extends"],
)
def test_a_change_is_seen(
    name: str, text: str, shell: Shell, kept_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write({"policykit.yaml": POLICY, "base.yaml": BASE, "a.yaml": POD})
    first = shell.run("lint", "a.yaml")
    compiled(monkeypatch)
    shell.write({name: text})
    changed = shell.run("lint", "a.yaml")
    compiled(monkeypatch)
    assert changed.out != first.out
    assert changed.out == shell.run("lint", "a.yaml", "--no-cache").out


def test_damaged_files_are_as_good_as_none(
    shell: Shell, kept_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write({"policykit.yaml": POLICY, "base.yaml": BASE, "a.yaml": POD})
    first = shell.run("lint", "a.yaml")
    for damage in (b"", b"\x80\x05}", os.urandom(200)):
        for path in kept_in.iterdir():
            path.write_bytes(damage)
        compiled(monkeypatch)
        again = shell.run("lint", "a.yaml")
        assert (again.code, again.out, again.err) == (first.code, first.out, first.err)


def test_a_policy_is_not_compiled_again(shell: Shell, kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write({"policykit.yaml": POLICY, "base.yaml": BASE, "a.yaml": POD})
    shell.run("lint", "a.yaml")
    from policykit.sources.files import read

    assert kept.policy("policykit.yaml", read) is not None
    shell.write({"base.yaml": BASE.replace("a.example", "c.example")})
    assert kept.policy("policykit.yaml", read) is None


def test_the_corpus_is_judged_the_same(tmp_path: Path) -> None:
    if SHARED is None:
        pytest.skip("the shared corpus is not beside this checkout")
    words = [
        "lint",
        str(SHARED / "corpus"),
        "-p",
        "profile:hybrid-volcano",
        "--format",
        "jsonl",
        "--jobs",
        "1",
    ]
    without = process(*words, "--no-cache", cwd=ROOT)
    for _ in range(2):
        again = process(*words, cwd=ROOT, POLICYKIT_CACHE_DIR=str(tmp_path / "kept"))
        assert (again.code, again.out, again.err) == (without.code, without.out, without.err)


GROUP = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\nspec: {minMember: 1}\n"
)


def test_a_whole_folder(shell: Shell, kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report itself is kept: every change that could matter makes it anew."""
    shell.write({"apps/a.yaml": POD, "apps/group.yaml": GROUP})
    first = shell.run("lint", "apps", "--format", "json")
    assert len(entries(kept_in, "report")) == 1
    assert shell.run("lint", "apps", "--format", "json") == first

    def anew(*words: str) -> str:
        said = shell.run("lint", "apps", "--format", "json", *words)
        assert said.out == shell.run("lint", "apps", "--format", "json", "--no-cache", *words).out
        monkeypatch.setattr(cache, "_off", [])
        assert said.out != first.out
        return said.out

    assert '"PK306"' in first.out
    assert '"PK306"' not in anew("--ignore", "PK306")
    anew("--namespace", "team")
    shell.write({"apps/b.yaml": "a: ["})
    assert '"PK001"' in anew()
    (shell.folder / "apps" / "b.yaml").unlink()
    assert shell.run("lint", "apps", "--format", "json").out == first.out
    shell.write({"apps/a.yaml": POD.replace("metadata: {name: a}", "metadata: {name: b}")})
    anew()


def test_files_beside_the_run_have_a_say(shell: Shell, kept_in: Path) -> None:
    """Where a scope reaches beyond what is linted, nothing whole is kept."""
    shell.write({"policykit.yaml": POLICY, "base.yaml": BASE, "apps/group.yaml": GROUP})
    shell.run("lint", "apps")
    assert entries(kept_in, "report") == []
