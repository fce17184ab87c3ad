"""Whatever a repository links and names, nothing outside it, and nothing in `.git`, is opened or changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.processes import started
from tests.shared import ROOT

TOKEN = "ghs-0123456789abcdef"
POLICY = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: NAME}\n"
BASELINE = '{"kind": "policykit-baseline", "version": 1, "covers": ["."], "findings": []}'
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {policykit.io/workload: training}}
spec:
  containers:
  - {name: a, image: 'registry.example/a:1', resources: {requests: {nvidia.com/gpu: 1}}}
"""

RUNNER = """
import json, os, sys
from policykit.cli import run

HOME = tuple(os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *filter(None, sys.path)))
EVENTS = ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod",
          "os.chown", "os.link", "os.symlink", "os.truncate", "shutil.rmtree", "subprocess.Popen", "os.exec")

# What is imported once is not imported in every child.
run(["gen", "-p", "profile:hybrid-volcano", "-o", "-"])
for command in ("lint", "baseline", "patch", "where", "import"):
    run([command, "."])

def watch(inside, found):
    def hook(event, arguments):
        if event not in EVENTS:
            return
        if event == "subprocess.Popen":
            found.append(f"{event} {arguments[0]}")
        for path in arguments[:2]:
            if not isinstance(path, (str, bytes)) or path in ("rb", "wb", "ab", "r", "w"):
                continue
            real = os.path.realpath(os.fsdecode(path))
            if event == "open" and arguments[2] & os.O_NOFOLLOW:
                # A link is not followed: opening it fails.
                above, name = os.path.split(os.path.abspath(os.fsdecode(path)))
                real = os.path.join(os.path.realpath(above), name)
            if real == os.devnull or any(real == home or real.startswith(home + os.sep) for home in HOME):
                continue
            stays = real == inside or real.startswith(inside + os.sep)
            if not stays or ".git" in real[len(inside):].split(os.sep):
                found.append(f"{event} {path!r} -> {real}")
    sys.addaudithook(hook)

for line in sys.stdin:
    folder, words = json.loads(line)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(os.open("../said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
        found = []
        watch(os.getcwd(), found)
        code = run(words)
        sys.stdout.flush()
        os.write(writing, json.dumps([code, found]).encode()[:60000])
        os._exit(0)
    os.close(writing)
    with open(reading) as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    print("answer " + answer, flush=True)
"""


class Runner:
    """A process that runs commands in children of its own, and tells what they opened elsewhere."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, folder: Path, words: list[str]) -> tuple[int, list[str]]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([str(folder), words]) + "\n")
        self._process.stdin.flush()
        while not (line := self._process.stdout.readline()).startswith("answer "):
            assert line, "the runner ended"
        code, found = json.loads(line.removeprefix("answer "))
        return code, found


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with started(
        [sys.executable, "-c", RUNNER],
        cwd=tmp_path_factory.mktemp("nothing"),
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": "", "POLICYKIT_CACHE_DIR": ""},
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        yield Runner(process)


NAMES = (
    *("policykit.yaml", "base.yaml", "pyproject.toml", ".policykit-baseline.json", ".gitignore"),
    *("kustomization.yaml", "pod.yaml", "crd.yaml", "README.md"),
)
STEPS = st.sampled_from(
    ("a", "b", "c", "in", "up", "..", ".", "/", ".git", "hooks", "outside", "out", *NAMES)
)
PATHS = st.one_of(
    st.lists(STEPS, min_size=1, max_size=5).map("/".join),
    st.sampled_from(
        ("../outside", "../outside/pod.yaml", "../../outside/base.yaml", "OUTSIDE", "OUTSIDE/base.yaml")
    ),
    st.sampled_from(("/", "/etc/passwd", "/proc/self/environ", "/proc/self/cwd", "/dev/stdin", "/dev/fd/0")),
)
LISTS = st.lists(PATHS, max_size=2)


def said(name: str, names: list[str], out: str) -> str:
    """The content of a file, which names others."""
    listed = json.dumps(names)
    generate = f"generate: {{out: {json.dumps(out)}}}\n"
    return {
        "policykit.yaml": f"{POLICY}{generate}extends: {listed}\nlint: {{crds: {listed}}}\n",
        "base.yaml": f"{POLICY}{generate}priorities: {{a: {{value: 1}}}}\n",
        "pyproject.toml": f"[tool.policykit.lint]\ncrds = {listed}\n",
        ".policykit-baseline.json": BASELINE,
        ".gitignore": "README.md\n",
        "kustomization.yaml": f"resources: {listed}\ncomponents: {listed}\ngenerators: {listed}\n",
        "pod.yaml": POD,
        "crd.yaml": f"kind: CustomResourceDefinition\nspec: {json.dumps(names)}\n",
    }.get(name, "text\n")


FILES = st.dictionaries(
    st.tuples(st.sampled_from(("", "a", "b", "a/b")), st.sampled_from(NAMES)),
    st.tuples(LISTS, PATHS),
    max_size=5,
)
LINKS = st.dictionaries(
    st.tuples(st.sampled_from(("", "a", "b", "a/b")), st.sampled_from(("in", "up", "c", "out", *NAMES))),
    PATHS,
    max_size=4,
)
Files = dict[tuple[str, str], tuple[list[str], str]]
"""Folder and name to the paths that the file names, and where it says to write."""
Links = dict[tuple[str, str], str]
COMMANDS = st.sampled_from(
    (
        *("lint .", "lint --fix .", "lint a", "lint in", "lint --fix in/pod.yaml a", "lint -p base.yaml ."),
        *("lint --output out/report", "lint --crd a pod.yaml", "lint --baseline a/pod.yaml"),
        *("baseline", "baseline a", "baseline -o in/b.json", "baseline --prune"),
        *("gen", "gen --prune", "gen --all --prune", "gen --check", "gen -p a/policykit.yaml"),
        *("gen -p base.yaml -o out", "gen -p base.yaml -o in", "gen -p base.yaml -o .git/hooks"),
        *(
            "patch -p profile:hybrid-volcano --in-place .",
            "patch -p profile:hybrid-volcano --in-place in/pod.yaml",
        ),
        *("patch pod.yaml", "where .", "where --nodes pod.yaml a", "nodes --check pod.yaml"),
        *("import .", "import in", "import pod.yaml -o in/new.yaml", "init in", "init in/new"),
    )
).map(lambda line: line.replace("POLICY", "profile:hybrid-volcano").split())


def tree(*folders: Path) -> dict[str, str]:
    found = {}
    for folder in folders:
        for here, below, names in os.walk(folder):
            for name in (*below, *names):
                path = Path(here, name)
                found[str(path)] = str(path.readlink()) if path.is_symlink() else ""
                if path.is_file() and not path.is_symlink():
                    found[str(path)] = path.read_text()
    return found


def make(top: Path, files: Files, links: Links) -> None:
    """A repository beside a folder that is none of its business. A link comes before a file of its name."""
    repo, outside = top / "repo", top / "outside"
    for below in ("a/b/c", "b", ".git/hooks", "../outside/a"):
        (repo / below).mkdir(parents=True, exist_ok=True)
    for folder in (outside, outside / "a", repo / ".git", repo / ".git/hooks"):
        for name in (*NAMES, "config"):
            (folder / name).write_text(said(name, [], "made").replace("NAME", TOKEN) + f"# {TOKEN}\n")
    for (below, name), target in links.items():
        if not (repo / below / name).exists():
            (repo / below / name).symlink_to(target.replace("OUTSIDE", str(outside)))
    for (below, name), (names, out) in files.items():
        path = repo / below / name
        if not path.is_symlink():
            path.write_text(said(name, names, out).replace("OUTSIDE", str(outside)).replace("NAME", "a"))


@settings(max_examples=150)
@given(FILES, LINKS, COMMANDS)
def test_nothing_outside_is_opened_or_changed(
    runner: Runner,
    files: Files,
    links: Links,
    words: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as made:
        top = Path(os.path.realpath(made))
        make(top, files, links)
        before = tree(top / "outside", top / "repo/.git")
        code, found = runner.run(top / "repo", words)
        told = (top / "said").read_text() if (top / "said").exists() else ""
        assert (found, tree(top / "outside", top / "repo/.git")) == ([], before)
        assert code in (0, 1, 2), told
        assert "internal error" not in told
        assert TOKEN not in told
