"""Builds the optional extension: for hatchling while policykit is installed, or in place for tests.

Without POLICYKIT_EXTENSION=1 an installation compiles nothing. With it, an extension that cannot be built
ends the installation. Run as a program, this file builds the extension beside the modules of a checkout.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
MODULE = "_compiled"
PACKAGE = Path("policykit")
LICENCE = (HERE / "LICENSE.libyaml", Path("policykit", "_bundled", "LICENSE.libyaml"))
VARIABLE = "POLICYKIT_EXTENSION"
_NEEDED = f"""\
{VARIABLE}=1 builds an extension of CPython. It needs a C compiler, the headers of Python, and libyaml
0.2.5 or later with its header yaml.h (Debian: gcc libc6-dev libyaml-dev; Fedora: gcc libyaml-devel;
Alpine: gcc musl-dev yaml-dev). Without {VARIABLE}, policykit installs without any of these."""


class ExtensionError(Exception):
    """The extension cannot be built."""


def is_wanted() -> bool:
    """What the variable says. Raises ExtensionError for anything but 0 and 1."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise ExtensionError(f"{VARIABLE} is {value!r}: use 1 to build the extension, 0 or nothing not to")
    return value == "1"


def build(folder: Path) -> Path:
    """Compiles the extension into a folder and imports it. Raises ExtensionError with what went wrong."""
    if platform.python_implementation() != "CPython":
        raise ExtensionError(f"{platform.python_implementation()} is not CPython\n{_NEEDED}")
    made = folder / f"{MODULE}{sysconfig.get_config_var('EXT_SUFFIX')}"
    unfinished = made.with_name(f"{made.name}.{os.getpid()}")
    command = [
        *_linker(),
        *("-O2", "-DNDEBUG", "-fwrapv", *_words("CCSHARED"), *_flags("ARCHFLAGS"), *_flags("CFLAGS")),
        *(f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")),
        *(*map(str, sorted(HERE.glob("*.c"))), "-o", str(unfinished), *_flags("LDFLAGS"), *_libyaml()),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stderr if done.returncode else ""
    except OSError as error:
        said = str(error)
    if not said:
        said = _import_error(unfinished)
    if said:
        unfinished.unlink(missing_ok=True)
        raise ExtensionError(f"{shlex.join(command)}\n{said.strip()}\n\n{_NEEDED}")
    unfinished.replace(made)
    return made


def _linker() -> list[str]:
    """The command that makes a shared library, with the compiler that the environment names, if any."""
    words = _words("LDSHARED")
    return [*_flags("CC"), *words[1:]] if os.environ.get("CC") else words


def _words(variable: str) -> list[str]:
    return shlex.split(str(sysconfig.get_config_var(variable) or ""))


def _flags(variable: str) -> list[str]:
    return shlex.split(os.environ.get(variable, ""))


def _libyaml() -> list[str]:
    program = shutil.which("pkg-config")
    if program:
        command = [program, "--cflags", "--libs", "yaml-0.1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode and "-lyaml" in done.stdout:
            return shlex.split(done.stdout)
    return ["-lyaml"]


def _import_error(library: Path) -> str:
    """Why the extension cannot be imported; empty: it can."""
    program = (
        "import sys; from importlib.machinery import ExtensionFileLoader as Loader; "
        "from importlib.util import module_from_spec, spec_from_loader; "
        "module_from_spec(spec_from_loader(sys.argv[1], Loader(*sys.argv[1:])))"
    )
    command = [sys.executable, "-I", "-c", program, MODULE, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


class CustomBuildHook(BuildHookInterface[Any]):
    """What hatchling runs before it writes a distribution."""

    _made = ""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the extension to a wheel, if it is wanted."""
        if self.target_name != "wheel" or not is_wanted():
            return
        if version == "editable":
            build(Path(self.root) / PACKAGE)
            return
        self._made = tempfile.mkdtemp(prefix="policykit-extension-")
        library = build(Path(self._made))
        source, target = LICENCE
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"] |= {str(library): str(PACKAGE / library.name), str(source): str(target)}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes what was compiled; the wheel has it."""
        if self._made:
            shutil.rmtree(self._made, ignore_errors=True)


if __name__ == "__main__":
    try:
        print("built", build(HERE.parent / PACKAGE))
    except ExtensionError as missing:
        sys.exit(f"the extension is not built: {missing}")
