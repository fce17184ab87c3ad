"""Small Go programs that import a module at a tag: they read JSON from standard input and print JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from policykit.errors import PolicykitError


class NoSourceError(PolicykitError):
    """The module registry does not have a release."""


def module_folder(module: str, version: str) -> Path:
    """The code of a module, downloaded; nothing is built. Raises NoSourceError."""
    with tempfile.TemporaryDirectory() as folder:
        run = _go(Path(folder), "mod", "download", "-json", f"{module}@{version}")
    found = json.loads(run.stdout or "{}")
    if "Dir" not in found:
        raise NoSourceError(f"{module}@{version}: {found.get('Error', run.stderr)[:200]}")
    return Path(found["Dir"])


def run_program(program: str, module: str, version: str, given: object, *beside: str) -> Any:
    """What the program makes of `given` with this version of the module. Raises NoSourceError.

    `beside`: modules at the same version, where the registry lacks the one that the module requires.
    """
    module_folder(module, version)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        required = "\n".join(f"require {each} {version}" for each in (module, *beside))
        (folder / "go.mod").write_text(f"module upstream\n\ngo 1.20\n\n{required}\n")
        (folder / "main.go").write_text(program)
        built = _go(folder, "build", "-mod=mod", "-o", "program", ".")
        if built.returncode:
            raise NoSourceError(f"{module}@{version}: {built.stderr.strip()[-300:]}")
        run = subprocess.run(
            [folder / "program"], input=json.dumps(given), capture_output=True, text=True, check=True
        )
    return json.loads(run.stdout)


def _go(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["go", *arguments], cwd=folder, capture_output=True, text=True, check=False)
