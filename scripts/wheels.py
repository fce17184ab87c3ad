"""Builds wheels that contain the optional extension, checks and tries them, and puts them into dist/.

With cibuildwheel and a container engine, wheels for every supported Python and Linux; else one wheel for
this Python and this machine. auditwheel copies libyaml into a wheel; without it, the machine must have it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.release import ROOT, ReleaseError, build_wheel, committed, run, stated_version, try_out

PROBE = "from policykit import extension; print(extension.STATE)"
ENGINES = ("docker", "podman")


def has_containers() -> bool:
    """Whether cibuildwheel would run here."""
    if shutil.which("cibuildwheel") is None:
        return False
    found = [engine for engine in ENGINES if shutil.which(engine)]
    return any(not subprocess.run([engine, "info"], capture_output=True).returncode for engine in found)


def wheels(source: Path, into: Path) -> list[Path]:
    """The wheels of a copy of the source."""
    wanted = {**os.environ, "POLICYKIT_EXTENSION": "1"}
    if has_containers():
        run(["cibuildwheel", "--platform", "linux", "--output-dir", str(into), str(source)], env=wanted)
        return sorted(into.glob("*.whl"))
    built = build_wheel(source, into / "plain", wanted)
    if shutil.which("auditwheel") is None:
        print(
            f"auditwheel is not installed: {built.name} needs libyaml on the machine that it is installed on"
        )
        return [built]
    run(["auditwheel", "repair", "--wheel-dir", str(into), str(built)])
    return sorted(into.glob("*.whl"))


def check_extension(folder: Path) -> None:
    """Raises ReleaseError where the installed policykit does not use its extension."""
    python = str(folder / "environment" / "bin" / "python")
    used = subprocess.run([python, "-I", "-c", PROBE], capture_output=True, text=True, check=False)
    if not used.stdout.startswith("in use"):
        raise ReleaseError(f"the installed extension is {used.stdout}{used.stderr}")


def main() -> int:
    """Returns the exit code."""
    # Programs that pip installed beside this Python.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    try:
        with tempfile.TemporaryDirectory(prefix="policykit-wheels-") as made:
            work = Path(made)
            source = committed(work / "source")
            version = stated_version((source / "policykit" / "__init__.py").read_text(encoding="utf-8"))
            built = wheels(source, work / "built")
            run([sys.executable, "-m", "twine", "check", "--strict", *map(str, built)])
            tag = f"-cp{sys.version_info.major}{sys.version_info.minor}-"
            for wheel in (each for each in built if tag in each.name and "musllinux" not in each.name):
                try_out(wheel, version, work)
                check_extension(work)
            (ROOT / "dist").mkdir(exist_ok=True)
            for wheel in built:
                print(Path(shutil.copy(wheel, ROOT / "dist")).relative_to(ROOT))
    except ReleaseError as error:
        print(f"wheels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
