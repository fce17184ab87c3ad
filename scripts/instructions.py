"""Instruction counts of commands, by valgrind's cachegrind: the same on a busy machine as on an idle one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MISSING = "valgrind is not installed: instructions are not counted"
PASS = (sys.executable, "-c", "pass")
POLICYKIT = (sys.executable, "-c", "import sys; from policykit.__main__ import main; sys.exit(main())")
"""The installed command, without the module that pip writes for it."""
POLICY = ("-p", "profile:hybrid-volcano")
COMPOSE = (
    sys.executable,
    "-c",
    "import os,sys,yaml\n"
    "for here,_,names in os.walk(sys.argv[1]):\n"
    "  for n in names:\n"
    "    list(yaml.compose_all(open(os.path.join(here,n),'rb'), Loader=yaml.CLoader))",
)
"""Reads every file of a folder with PyYAML's C composer: the least work any linter in Python does."""
WALK = (
    sys.executable,
    "-c",
    "import hashlib,os,sys\n"
    "for here,_,names in os.walk(sys.argv[1]):\n"
    "  for n in names:\n"
    "    hashlib.blake2b(open(os.path.join(here,n),'rb').read()).digest()",
)
"""Walks a folder, reads its files and hashes them: the least work that tells whether anything has changed."""
_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")
_VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}")


class Budget(NamedTuple):
    """The most work that a comparison may take, as a ratio."""

    most: float
    goal: float


def available() -> bool:
    """Whether instructions can be counted here."""
    return shutil.which("valgrind") is not None


def has_extension() -> bool:
    """Whether the optional extension is built here."""
    words = [sys.executable, "-c", "from policykit import extension; print(extension.STATE)"]
    variables = {**os.environ, "PYTHONPATH": ROOT, "POLICYKIT_EXTENSION": "1"}
    shown = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
    return shown.startswith("in use")


def count(command: Sequence[str], folder: str, *, extension: bool = False, cwd: str = ROOT) -> int:
    """Instructions of a command; `folder` has its compiled modules and its cache, kept between counts.

    It runs in `cwd`, once before it is counted, as after an installation.
    """
    environment = _environment(folder, extension)
    subprocess.run(command, env=environment, cwd=cwd, capture_output=True, check=False)
    done = subprocess.run(
        [*_VALGRIND, *command], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    found = _COUNTED.search(done.stderr)
    if found is None:
        raise RuntimeError(f"valgrind counted nothing: {done.stderr[-400:]}")
    return int(found[1].replace(",", ""))


def _environment(folder: str, extension: bool) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "POLICYKIT_EXTENSION": "1" if extension else "0",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": ROOT,
        "PYTHONPYCACHEPREFIX": os.path.join(folder, "compiled"),
        "POLICYKIT_CACHE_DIR": os.path.join(folder, "cache"),
    }


def budgets() -> Mapping[str, Budget]:
    """What `budget.toml` allows."""
    import tomllib

    with open(os.path.join(ROOT, "scripts", "budget.toml"), "rb") as file:
        return {name: Budget(**limits) for name, limits in tomllib.load(file).items()}


class Comparison(NamedTuple):
    """Instructions of policykit and of what it is compared with."""

    name: str
    """As in `budget.toml`."""
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


SMALL = os.path.join("tests", "seeds", "inference-deployment.yaml")
FEW, MANY = 40, 140
"""Files of the two trees whose difference is the marginal cost of a file."""
UNCHANGED = 1000
"""Files of the tree that is linted again."""


def comparisons(*, extension: bool = False) -> list[Comparison]:
    """Everything that has a budget. The budget is for pure Python."""
    from scripts.bench import write_tree

    lint = (*POLICYKIT, "lint", "--exit-zero")
    with tempfile.TemporaryDirectory() as folder:
        # Alone: in a repository, what applies to the file is looked for in all of it.
        os.mkdir(os.path.join(folder, "alone"))
        file = shutil.copy(os.path.join(ROOT, SMALL), os.path.join(folder, "alone"))

        def ours(*command: str) -> int:
            return count(command, folder, extension=extension)

        yamllint = count((sys.executable, "-m", "yamllint", "-d", "relaxed", file), folder)
        found = [
            Comparison("version", ours(*POLICYKIT, "--version"), count(PASS, folder)),
            Comparison("small-file", ours(*lint, file), yamllint),
            Comparison("small-file-with-policy", ours(*lint, *POLICY, file), yamllint),
        ]
        small, large = (os.path.join(folder, str(files)) for files in (FEW, MANY))
        write_tree(small, FEW)
        write_tree(large, MANY)

        def marginal(*command: str) -> float:
            return (ours(*command, large) - ours(*command, small)) / (MANY - FEW)

        whole = (*lint, "--output", os.devnull, "--no-cache", "--jobs", "1")
        floor = marginal(*COMPOSE)
        found += [
            Comparison("file-of-a-tree", marginal(*whole), floor),
            Comparison("file-of-a-tree-with-policy", marginal(*whole, *POLICY), floor),
        ]
        unchanged = os.path.join(folder, str(UNCHANGED))
        write_tree(unchanged, UNCHANGED)
        again = ours(*lint, "--output", os.devnull, *POLICY, unchanged)
        found.append(Comparison("unchanged-tree", again, count((*WALK, unchanged), folder)))
        found.append(Comparison("hook", *_hook(unchanged, folder, extension)))
    return found


_AUTHOR = ("-c", "user.name=x", "-c", "user.email=x@example.com")


def _hook(tree: str, folder: str, extension: bool) -> tuple[int, int]:
    """A hook on a changed file of a tree with a commit since the last hook, and lint of that file alone."""
    here = os.path.join(tree, min(os.listdir(tree)))
    file = os.path.join(here, min(os.listdir(here)))
    policy = os.path.join(tree, "policykit.yaml")
    with open(policy, "w", encoding="utf-8") as written:
        written.write(
            "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: main}\n"
            f"extends: [{POLICY[-1]}]\n"
        )
    alone = os.path.join(folder, "alone-with-policy")
    os.mkdir(alone)
    lint = (*POLICYKIT, "lint", "--exit-zero")
    hook = (*lint, "--hook", file)

    def edited() -> None:
        with open(file, "a", encoding="utf-8") as more:
            more.write("# more\n")

    def committed() -> None:
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "x")):
            subprocess.run(["git", *_AUTHOR, *words], cwd=tree, capture_output=True, check=True)

    committed()
    edited()
    subprocess.run(hook, env=_environment(folder, extension), cwd=tree, capture_output=True, check=False)
    committed()
    edited()
    copies = [shutil.copy(each, alone) for each in (file, policy)]
    return (
        count(hook, folder, extension=extension, cwd=tree),
        count((*lint, copies[0]), folder, extension=extension, cwd=alone),
    )
