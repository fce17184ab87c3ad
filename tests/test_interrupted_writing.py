"""Old files stay whole on disks that are full or read-only, and when a run is killed."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from policykit.workspace.writing import is_leftover
from tests.cli.commands import Result, process
from tests.gitops import HEADER, LEFTOVER, drift, gen, generated, policy, tree, write
from tests.processes import started
from tests.shared import ROOT


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return generated(tmp_path)


# --- Disks that cannot be written ---------------------------------------------------------------


def limited(root: Path, *words: str, size: int = 300) -> Result:
    """The command in a process that can write no file beyond a size: as on a full disk, for root too."""
    done = subprocess.run(
        [sys.executable, "-m", "policykit", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def test_a_full_disk_changes_nothing(repo: Path) -> None:
    write(repo, {"policykit.yaml": policy(train="learn")})
    before = tree(repo)
    result = limited(repo, "gen", "--prune")
    assert (result.code, result.out) == (2, "")
    error = result.err.splitlines()[-2:]
    assert error[0].startswith("policykit: out/")
    assert error[0].endswith(": cannot be written: File too large")
    assert error[1] == "  help: free some disk space, then run it again"
    assert tree(repo) == before
    assert gen(repo, "--prune").code == 0


def test_a_full_disk_leaves_an_old_report_whole(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "a: b: c\n" * 9, "report.txt": "old\n"})
    before = tree(tmp_path)
    result = limited(tmp_path, "lint", "a.yaml", "--output", "report.txt", size=10)
    assert (result.code, result.out) == (2, "")
    assert "policykit: report.txt: cannot be written: File too large\n" in result.err
    assert tree(tmp_path) == before


def test_a_file_that_is_read_only_is_kept(repo: Path) -> None:
    write(
        repo, {"policykit.yaml": policy(**{"gpu-2": "gpu-3"}), "a.yaml": "a: b: c\n", "report.txt": "old\n"}
    )
    changed = sorted(drift(gen(repo, "--check")))
    (repo / "out" / changed[-1]).chmod(0o444)
    (repo / "report.txt").chmod(0o444)
    before = tree(repo)
    result = gen(repo)
    assert result.code == 2
    assert f"policykit: out/{changed[-1]}: cannot be written: the file is read-only\n  help: " in result.err
    report = process("lint", "a.yaml", "--output", "report.txt", cwd=repo)
    assert report.code == 2
    assert "policykit: report.txt: cannot be written: the file is read-only\n  help: " in report.err
    assert tree(repo) == before


SOMEBODY = """
import os, sys
from policykit.cli import run

# Modules may stand where only root reads; root writes whatever permissions say.
run(["gen", "-p", "profile:hybrid-volcano", "-o", "-"])
run(["lint", "a.yaml"])
sys.stderr.flush()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
os._exit(run(sys.argv[1:]))
"""


def test_a_folder_that_is_read_only_is_kept() -> None:
    def somebody(*words: str) -> Result:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", SOMEBODY, *words]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        return Result(done.returncode, done.stdout, done.stderr)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o777)
        write(root, {"policykit.yaml": policy(train="learn"), "a.yaml": "a: b: c\n"})
        assert somebody("gen").code == 0
        write(root, {"policykit.yaml": policy()})
        folders = [root, root / "out", *(p for p in (root / "out").rglob("*") if p.is_dir())]
        before = tree(root)
        for path in folders:
            path.chmod(0o555)
        refused = somebody("gen", "--prune")
        report = somebody("lint", "a.yaml", "--output", "report.txt")
        after = tree(root)
        for path in folders:
            path.chmod(0o755)
    assert after == before
    assert (refused.code, report.code) == (2, 2)
    assert ": cannot be written: Permission denied\n  help: check the path, and the perm" in refused.err
    assert "report.txt: cannot be written: Permission denied\n" in report.err


# --- Killed in the middle -----------------------------------------------------------------------

KILLED = """
import os, signal, sys
from policykit.cli import run

# What is imported once is not imported in every child.
run(["gen", "-p", "profile:hybrid-volcano", "-o", "-"])
MOMENTS = {"open", "os.mkdir", "os.chmod", "os.rename", "os.remove", "os.rmdir"}
OUT = os.path.realpath("out")


def kill_at(moment):
    left = moment

    def hook(event, arguments):
        nonlocal left
        if event in MOMENTS and str(arguments[0]).startswith(("out", OUT)):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def run_to_step(last):
    # A step is a call or a return, of Python or of C.
    steps = 0

    def profile(frame, event, argument):
        nonlocal steps
        steps += 1
        if steps == last:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(profile)
    code = run(["gen", "--prune"])
    sys.setprofile(None)
    os.write(told, b"steps %d\\n" % steps)
    return code


for line in sys.stdin:
    way, number = line.split()
    told = os.dup(1)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if way == "step":
            os._exit(run_to_step(int(number)))
        kill_at(int(number))
        os._exit(run(["gen", "--prune"]))
    os.close(told)
    _, status = os.waitpid(child, 0)
    print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


class Killed:
    """A folder between two policies, and runs of `gen --prune` in it that are killed on their way."""

    def __init__(self, root: Path, runner: subprocess.Popen[str]) -> None:
        self.root = root
        self.steps = 0
        """Of the last run that was counted."""
        self._runner = runner
        write(root, {"policykit.yaml": policy(train="learn")})
        assert gen(root).code == 0
        self.old = tree(root / "out")
        shutil.rmtree(root / "out")
        write(root, {"policykit.yaml": policy(domain="domain", **{"example.com": "new.example.com"})})
        assert gen(root).code == 0
        self.new = tree(root / "out")

    def run(self, way: str, number: int) -> tuple[int, dict[str, str]]:
        """From the old files up to a moment or step, 0 for the end: (exit code, what stands there)."""
        shutil.rmtree(self.root / "out")
        write(self.root / "out", self.old)
        code = self._ask(way, number)
        return code, tree(self.root / "out")

    def recover(self) -> dict[str, str]:
        """What stands there once it ran to its end, without what is hidden."""
        assert self._ask("moment", 0) == 0
        there = tree(self.root / "out")
        return {path: text for path, text in there.items() if not is_leftover(os.path.basename(path))}

    def whole(self, there: dict[str, str]) -> bool:
        """Holds that every file is entirely old or entirely new; whether anything is left over."""
        leftovers = {path for path in there if is_leftover(os.path.basename(path))}
        assert there.keys() - leftovers <= self.old.keys() | self.new.keys()
        for path in self.old.keys() | self.new.keys():
            assert there.get(path) in (self.old.get(path), self.new.get(path)), path
        return bool(leftovers)

    def _ask(self, way: str, number: int) -> int:
        assert self._runner.stdin
        assert self._runner.stdout
        self._runner.stdin.write(f"{way} {number}\n")
        self._runner.stdin.flush()
        while not (line := self._runner.stdout.readline()).startswith("ended "):
            assert line, "the runner ended"
            if line.startswith("steps "):
                self.steps = int(line.split()[1])
        return int(line.split()[1])


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Killed]:
    (tmp_path / ".git").mkdir()
    with started(
        [sys.executable, "-c", KILLED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as runner:
        yield Killed(tmp_path, runner)


def test_killed_before_each_step_files_are_old_or_new(killed: Killed) -> None:
    old, new = killed.old, killed.new
    assert sum(old[path] != new[path] for path in old.keys() & new.keys()) > 3
    assert old.keys() - new.keys() != set() != new.keys() - old.keys()
    seen, leftovers, moment, code = [], 0, 1, -9
    while code == -9:
        code, there = killed.run("moment", moment)
        leftovers += killed.whole(there)
        seen.append({path: text for path, text in there.items() if not is_leftover(os.path.basename(path))})
        assert killed.recover() == killed.new
        moment += 1
    assert code == 0
    assert seen[-1] == killed.new
    # Most of the time goes by before the first file is replaced.
    assert moment > 30
    assert seen.count(killed.old) > moment / 2
    assert leftovers > 5
    assert sum(state not in (killed.old, killed.new) for state in seen) > 5


def test_killed_at_any_step_files_are_old_or_new(killed: Killed) -> None:
    """Not only before a file is touched, as above: spread over all that the run does."""
    assert killed.run("step", 0) == (0, killed.new)
    steps = killed.steps
    assert steps > 10_000
    for part in range(1, 32):
        code, there = killed.run("step", steps * part // 32)
        assert code == -9
        killed.whole(there)
    assert killed.recover() == killed.new


def test_what_a_killed_run_left_is_hidden_and_goes_later(repo: Path) -> None:
    header = (
        (repo / "out/kustomization.yaml").read_text()
        if (repo / "out/kustomization.yaml").exists()
        else HEADER
    )
    write(repo, {f"out/{LEFTOVER}": header, f"out/nodes/{LEFTOVER}": "", "out/.policykit-mine": "mine\n"})
    assert gen(repo, "--check").code == 0
    assert gen(repo, "--prune").code == 0
    assert (repo / "out" / LEFTOVER).exists()
    for path in (repo / "out" / LEFTOVER, repo / "out/nodes" / LEFTOVER):
        os.utime(path, (time.time() - 3600, time.time() - 3600))
    assert gen(repo, "--check").code == 0
    assert (repo / "out" / LEFTOVER).exists()
    assert gen(repo).code == 0
    assert [path for path in tree(repo / "out") if ".policykit" in path] == [".policykit-mine"]


def test_two_runs_at_once_leave_whole_files(repo: Path) -> None:
    after = tree(repo / "out")
    command = [sys.executable, "-m", "policykit", "gen", "--prune"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(3):
        shutil.rmtree(repo / "out")
        with ExitStack() as stack:
            runs = [stack.enter_context(started(command, cwd=repo, env=environment)) for _ in range(3)]
            assert [(run.communicate(), run.returncode)[1] for run in runs] == [0, 0, 0]
        assert tree(repo / "out") == after
