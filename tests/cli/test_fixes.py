"""`policykit lint --fix`, `--unsafe-fixes`, `--diff`: on files and as a filter."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import Shell, process
from tests.shared import ROOT

MISSING_LIMIT = """\
apiVersion: v1
kind: Pod
metadata: {name: train}   # kept
spec:
  containers:
  - name: main
    image: 'registry.example/train:1'
    resources:
      requests:
        nvidia.com/gpu: 1
"""
LIMITED = MISSING_LIMIT + "      limits:\n        nvidia.com/gpu: 1\n"
UNCOUNTED = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: cards}
spec:
  hard:
    nvidia.com/gpu: 8
"""
DIFF = """\
--- a/pod.yaml
+++ b/pod.yaml
@@ -8,3 +8,5 @@
     resources:
       requests:
         nvidia.com/gpu: 1
+      limits:
+        nvidia.com/gpu: 1
"""
SELECT = ("--select", "PK201,PK206")


def text(shell: Shell, name: str) -> str:
    return (shell.folder / name).read_bytes().decode()


def test_a_safe_fix_is_made_and_told(shell: Shell) -> None:
    shell.write({"pod.yaml": MISSING_LIMIT})
    result = shell.run("lint", "--fix", *SELECT)
    assert (result.code, result.out) == (0, "")
    assert "policykit: 1 finding fixed in 1 file\n" in result.err
    assert text(shell, "pod.yaml") == LIMITED


def test_fixing_twice_writes_nothing_more(shell: Shell) -> None:
    shell.write({"pod.yaml": LIMITED})
    before = os.stat(shell.folder / "pod.yaml")
    assert shell.run("lint", "--fix", *SELECT).code == 0
    assert os.stat(shell.folder / "pod.yaml") == before


def test_an_unsafe_fix_is_made_only_when_asked_for(shell: Shell) -> None:
    shell.write({"quota.yaml": UNCOUNTED})
    result = shell.run("lint", "--fix", *SELECT)
    assert (result.code, text(shell, "quota.yaml")) == (1, UNCOUNTED)
    assert "quota.yaml:6:5: PK206" in result.out
    assert shell.run("lint", "--unsafe-fixes", *SELECT).code == 0
    assert text(shell, "quota.yaml") == UNCOUNTED.replace("nvidia", "requests.nvidia")


def test_what_remains_is_reported_and_fails(shell: Shell) -> None:
    shell.write({"pod.yaml": MISSING_LIMIT, "quota.yaml": UNCOUNTED})
    result = shell.run("lint", "--fix", *SELECT)
    assert result.code == 1
    assert [line.split(":")[0] for line in result.out.splitlines() if "PK" in line] == ["quota.yaml"]


def test_a_diff_writes_nothing(shell: Shell) -> None:
    shell.write({"pod.yaml": MISSING_LIMIT})
    result = shell.run("lint", "--diff", *SELECT)
    assert (result.code, result.out) == (1, DIFF)
    assert "policykit: 1 finding would be fixed in 1 file\n" in result.err
    assert text(shell, "pod.yaml") == MISSING_LIMIT
    assert shell.run("lint", "--diff", "--exit-zero", *SELECT).code == 0


def test_a_diff_of_nothing_is_clean(shell: Shell) -> None:
    shell.write({"pod.yaml": LIMITED})
    assert shell.run("lint", "--diff", *SELECT)[:2] == (0, "")


def test_the_mode_of_a_file_and_a_link_to_it_stay(shell: Shell) -> None:
    shell.write({"real/pod.yaml": MISSING_LIMIT})
    real, link = shell.folder / "real/pod.yaml", shell.folder / "pod.yaml"
    real.chmod(0o640)
    link.symlink_to("real/pod.yaml")
    assert shell.run("lint", "--fix", "pod.yaml", *SELECT).code == 0
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == (LIMITED, 0o640)


def test_standard_input_comes_out_fixed(tmp_path: Path) -> None:
    result = process("lint", "--fix", *SELECT, "-", cwd=tmp_path, stdin=MISSING_LIMIT.encode())
    assert (result.code, result.out) == (0, LIMITED)
    assert "1 finding fixed in 1 file\n" in result.err


@pytest.mark.parametrize(
    ("given", "code"),
    [(b"", 0), (b"a: [\n", 1), (b"# nothing\r\n", 0), (LIMITED.replace("\n", "\r\n").encode(), 0)],
    ids=["empty", "broken", "a comment", "CRLF"],
)
def test_standard_input_without_a_fix_passes_through(tmp_path: Path, given: bytes, code: int) -> None:
    result = process("lint", "--fix", "-", "--select", "PK0,PK201", cwd=tmp_path, stdin=given)
    assert (result.code, result.out.encode()) == (code, given)
    assert ("PK001" in result.err) == (code == 1)


def test_json_shows_the_fix_in_bytes(shell: Shell) -> None:
    raw = b"\xef\xbb\xbf# \xe8\xae\xad\xe7\xbb\x83\r\n" + MISSING_LIMIT.replace("\n", "\r\n").encode()
    shell.write({"pod.yaml": raw})
    (finding,) = json.loads(shell.run("lint", "--format", "json", *SELECT).out)["findings"]
    assert finding["fix"]["applicability"] == "safe"
    (edit,) = finding["fix"]["edits"]
    assert raw[edit["start"] : edit["end"]] == b""
    made = raw[: edit["start"]] + edit["text"].encode() + raw[edit["end"] :]
    assert shell.run("lint", "--fix", *SELECT).code == 0
    assert (shell.folder / "pod.yaml").read_bytes() == made
    assert made.endswith(b"\r\n      limits:\r\n        nvidia.com/gpu: 1\r\n")


def limited(size: int, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Fixes the files of a folder, and can write none beyond a size: as on a full disk, for root too."""
    return subprocess.run(
        [sys.executable, "-m", "policykit", "lint", "--fix", *SELECT],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        check=False,
    )


def test_what_could_not_be_written_is_not_counted(tmp_path: Path) -> None:
    long = "# long\n" * 100 + MISSING_LIMIT
    (tmp_path / "long.yaml").write_text(long)
    (tmp_path / "pod.yaml").write_text(MISSING_LIMIT)
    done = limited(500, tmp_path)
    assert done.returncode == 2
    assert b"long.yaml: cannot be written: File too large\n" in done.stderr
    assert b"policykit: 1 finding fixed in 1 file\n" in done.stderr
    assert (tmp_path / "long.yaml").read_text() == long
    assert (tmp_path / "pod.yaml").read_text() != MISSING_LIMIT


def test_a_full_disk_fails_the_run_and_leaves_the_file(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(MISSING_LIMIT)
    done = limited(0, tmp_path)
    assert done.returncode == 2
    assert b"pod.yaml: cannot be written: File too large\n" in done.stderr
    assert b"fixed in" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pod.yaml"]
    assert (tmp_path / "pod.yaml").read_text() == MISSING_LIMIT


def test_workers_change_nothing(shell: Shell) -> None:
    shell.write({f"{n}.yaml": MISSING_LIMIT for n in range(8)})
    one = shell.run("lint", "--diff", *SELECT, "--jobs", "1")
    assert shell.run("lint", "--diff", *SELECT, "--jobs", "3") == one
