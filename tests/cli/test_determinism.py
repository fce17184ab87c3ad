"""Same input, same bytes: whatever the workers, the hash seed and the locale; and large input ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import Result, Shell, process
from tests.growth.steps import count
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
    def lint(jobs: str, seed: str, locale: str) -> Result:
        words = ["lint", ".", *POLICY, "--format", "json", "--show-files", "--jobs", jobs]
        return process(*words, cwd=folder, PYTHONHASHSEED=seed, LC_ALL=locale)

    first = lint("1", "0", "C.UTF-8")
    assert first.code == 1
    assert first.out.count('"code"') > 5
    for other in (("2", "1", "C"), ("4", "2", "C.UTF-8")):
        assert lint(*other) == first


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["gen", *POLICY, "-o", "-"], 0),
        (["gen", "-p", "profile:koordinator-binpack", "-o", "-"], 0),
        (["where", "tests/seeds", *POLICY], 2),  # one of the seeds is not YAML
        (["where", "tests/seeds", *POLICY, "--format", "json"], 2),
        (["rules"], 0),
        (["cards"], 0),
    ],
    ids=["gen", "gen of another", "where", "where as json", "rules", "cards"],
)
def test_other_commands(words: list[str], code: int) -> None:
    first = process(*words, cwd=ROOT, PYTHONHASHSEED="0", LC_ALL="C.UTF-8")
    assert (first.code, bool(first.out)) == (code, True)
    assert process(*words, cwd=ROOT, PYTHONHASHSEED="1", LC_ALL="C") == first


def test_chinese_text_in_any_locale(tmp_path: Path) -> None:
    (tmp_path / "节点.yaml").write_text("a: 节点: b\n", encoding="utf-8")
    result = process("lint", ".", cwd=tmp_path, LC_ALL="C")
    assert result.out.startswith("节点.yaml:1:6: PK001 ")


COLLECTED = """
import gc, sys
from policykit.__main__ import main
sys.argv = ["policykit", "lint", "a.yaml", "--select", "PK0,PK1"]
code = main()
print("searched for cycles:", sum(each["collections"] for each in gc.get_stats()), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("shape", ["documents", "list"])
def test_large_files_take_work_in_proportion(shell: Shell, shape: str) -> None:
    """A tenth of the 50 MB that must work; work is counted in calls, and so are searches for cycles."""
    one = (ROOT / "tests/seeds/inference-deployment.yaml").read_text(encoding="utf-8").split("\n---\n")[0]
    lines = [line for line in one.splitlines() if not line.lstrip().startswith("#")]
    if shape == "documents":
        text = "---\n" + "\n".join(lines) + "\n"
        head = ""
    else:
        text = "- " + "\n  ".join(lines) + "\n"
        head = "apiVersion: v1\nkind: List\nitems:\n"

    def calls(copies: int) -> int:
        shell.write({"a.yaml": head + text * copies})
        return count(lambda: shell.run("lint", "a.yaml", "--select", "PK0,PK1"))

    def searches(megabytes: float) -> str:
        copies = int(megabytes * 1_000_000 / len(text))
        shell.write({"a.yaml": head + text * copies})
        done = subprocess.run(
            [sys.executable, "-c", COLLECTED],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[:500]
        result, searched = done.stderr.splitlines()[-2:]
        assert f"({copies} objects in 1 file)" in result
        return searched

    calls(10)
    few, some, many = calls(50), calls(100), calls(200)
    assert (many - some) < 2.1 * (some - few)
    assert searches(5) == searches(0.5)
