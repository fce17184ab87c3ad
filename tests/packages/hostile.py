"""A checkout written by somebody who wants a CI job to run his code, and a job careless enough to help."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec: {hard: {limits.nvidia.com/gpu: "8"}}
"""
MODULES = (
    "build_backend",
    "click",
    "ensurepip",
    "hatchling",
    "json",
    "multiprocessing",
    "pathspec",
    "pip",
    "policykit",
    "pydantic",
    "setup",
    "sitecustomize",
    "usercustomize",
    "venv",
    "yaml",
)
PROGRAMS = ("cat", "env", "git", "kustomize", "mktemp", "python", "python3", "rm", "sed", "tr", "wc")


class Hostile(NamedTuple):
    """The folders of such a job."""

    checkout: Path
    sprung: Path
    """Each trap that goes off leaves a file of its name here."""
    elsewhere: Path
    """A folder that links and settings of the checkout lead to."""
    shims: Path
    """Its python3 obeys the `.python-version` of the current folder, as version managers do."""

    def traps(self) -> list[str]:
        """Those that went off, and what was written elsewhere."""
        written = [
            path for path in self.elsewhere.rglob("*") if path.is_file() and path.read_text() != "kept"
        ]
        return sorted(path.name for path in (*self.sprung.iterdir(), *written))

    def environment(self) -> dict[str, str]:
        """Variables that lead into the checkout, each of which real jobs set."""
        here = str(self.checkout)
        return {
            "PATH": os.pathsep.join([f"{here}/bin", ".", "", str(self.shims), os.environ["PATH"]]),
            "HOME": here,
            "XDG_CONFIG_HOME": f"{here}/.config",
            "XDG_CACHE_HOME": f"{here}/.cache",
            "GIT_CONFIG_GLOBAL": f"{here}/.gitconfig",
            "PIP_CONFIG_FILE": f"{here}/pip.conf",
            "PIP_CACHE_DIR": f"{here}/.cache/pip",
            "PYTHONPATH": f"{here}{os.pathsep}",
            "PYTHONSTARTUP": f"{here}/setup.py",
            "PYTHONUSERBASE": f"{here}/.local",
        }


def hostile(folder: Path, *reports: str) -> Hostile:
    """Writes the checkout, its history and all traps; the reports are links that lead elsewhere."""
    job = Hostile(*(folder / name for name in ("checkout", "sprung", "elsewhere", "shims")))
    for made in (*job, job.checkout / "bin"):
        made.mkdir()
    _history(job.checkout)
    _python(job)
    _programs(job)
    _settings(job)
    for name in reports:
        (job.elsewhere / name).write_text("kept")
        (job.checkout / name).symlink_to(job.elsewhere / name)
    return job


def _history(checkout: Path) -> None:
    """A manifest that has changed since the last commit."""
    (checkout / "quota.yaml").write_text("# none yet\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for words in (["init", "-q"], ["add", "--all"], [*author, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=checkout, env=kept, check=True, capture_output=True)
    (checkout / "quota.yaml").write_text(QUOTA, encoding="utf-8")


def _python(job: Hostile) -> None:
    for name in MODULES:
        trap = f"open({str(job.sprung / name)!r}, 'w').close()\n"
        if name in ("pip", "policykit"):
            (job.checkout / name).mkdir()
            (job.checkout / name / "__init__.py").write_text(trap)
            (job.checkout / name / "__main__.py").write_text(trap)
        else:
            (job.checkout / f"{name}.py").write_text(trap)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    of_user = job.checkout / ".local" / "lib" / version / "site-packages"
    of_user.mkdir(parents=True)
    (of_user / "usercustomize.py").write_text((job.checkout / "usercustomize.py").read_text())
    project = '[build-system]\nrequires = []\nbuild-backend = "build_backend"\nbackend-path = ["."]\n'
    (job.checkout / "pyproject.toml").write_text(project)


def _programs(job: Hostile) -> None:
    for name in PROGRAMS:
        for folder in (job.checkout / "bin", job.checkout):
            _script(folder / name, f": > '{job.sprung / name}'")
    obeys = f"[ -e .python-version ] && : > '{job.sprung}/python-version'\nexec '{sys.executable}' \"$@\""
    _script(job.shims / "python3", obeys)
    (job.checkout / ".python-version").write_text("../../checkout\n")


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def _settings(job: Hostile) -> None:
    settings = f"[install]\ntarget = {job.elsewhere}/pip\n"
    for name in ("pip.conf", ".config/pip/pip.conf", ".pip/pip.conf"):
        (job.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (job.checkout / name).write_text(settings)
    filtered = f'[filter "trap"]\n\tclean = ": > \'{job.sprung}/gitconfig\'; cat"\n'
    for name in (".gitconfig", ".config/git/config"):
        (job.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (job.checkout / name).write_text(filtered)
    (job.checkout / ".gitattributes").write_text("* filter=trap\n")
