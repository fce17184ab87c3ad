"""Same input, same bytes: whatever the workers, the hash seed and the locale; and large input ends."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.commands import Said, process
from tests.shared import ROOT, SHARED

POLICY = ("-p", "profile:hybrid-volcano")
FOLDERS = [
    pytest.param(ROOT / "tests" / "seeds", id="seeds"),
    pytest.param(
        SHARED / "corpus" if SHARED else ROOT,
        id="corpus",
        marks=pytest.mark.skipif(SHARED is None, reason="the shared corpus is not beside the checkout"),
    ),
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_lint(folder: Path) -> None:
    def lint(jobs: str, seed: str, locale: str) -> Said:
        words = ["lint", ".", *POLICY, "--format", "json", "--show-files", "--jobs", jobs]
        return process(*words, cwd=folder, PYTHONHASHSEED=seed, LC_ALL=locale)

    first = lint("1", "0", "C.UTF-8")
    assert first.code == 1
    assert first.out.count('"code"') > 5
    for other in (("2", "1", "C"), ("4", "2", "C.UTF-8")):
        assert lint(*other) == first


@pytest.mark.parametrize(
    "words",
    [
        ["gen", *POLICY, "-o", "-"],
        ["gen", "-p", "profile:koordinator-binpack", "-o", "-"],
        ["where", "tests/seeds", *POLICY],
        ["where", "tests/seeds", *POLICY, "--format", "json"],
        ["rules"],
        ["cards"],
    ],
    ids=["gen", "gen of another", "where", "where as json", "rules", "cards"],
)
def test_other_commands(words: list[str]) -> None:
    first = process(*words, cwd=ROOT, PYTHONHASHSEED="0", LC_ALL="C.UTF-8")
    assert (first.code, bool(first.out)) == (0, True)
    assert process(*words, cwd=ROOT, PYTHONHASHSEED="1", LC_ALL="C") == first


def test_chinese_text_in_any_locale(tmp_path: Path) -> None:
    (tmp_path / "节点.yaml").write_text("a: 节点: b\n", encoding="utf-8")
    said = process("lint", ".", cwd=tmp_path, LC_ALL="C")
    assert said.out.startswith("节点.yaml:1:6: PK001 ")


@pytest.mark.parametrize("shape", ["documents", "list"])
def test_large_files_take_time_in_proportion(tmp_path: Path, shape: str) -> None:
    """A tenth of the 50 MB that must work, and no search for cycles that grows with it."""
    one = (ROOT / "tests/seeds/inference-deployment.yaml").read_text(encoding="utf-8").split("\n---\n")[0]
    lines = [line for line in one.splitlines() if not line.lstrip().startswith("#")]
    if shape == "documents":
        text = "---\n" + "\n".join(lines) + "\n"
        head = ""
    else:
        text = "- " + "\n  ".join(lines) + "\n"
        head = "apiVersion: v1\nkind: List\nitems:\n"

    def seconds(megabytes: float) -> float:
        copies = int(megabytes * 1_000_000 / len(text))
        (tmp_path / "a.yaml").write_text(head + text * copies, encoding="utf-8")
        start = time.monotonic()
        said = process("lint", "a.yaml", "--select", "PK0,PK1", cwd=tmp_path)
        assert said.code == 0, said.out[:500]
        assert f"({copies} objects in 1 file)" in said.err
        return time.monotonic() - start

    small, large = seconds(1), seconds(5)
    assert large < 9 * small + 2
