"""Builds and checks the wheel and the sdist; with a version, makes the tree a release of it.

Everything happens in a copy of the committed files, so a failure leaves the tree unchanged. Nothing is
committed, tagged, pushed or uploaded.
"""

import argparse
import filecmp
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent
VERSION_FILE = Path("policykit/__init__.py")
CHANGELOG = Path("CHANGELOG.md")

_STATED = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)
_UNRELEASED = "## Unreleased"
_MANIFEST = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec: {hard: {limits.nvidia.com/gpu: "8"}}
"""


class ReleaseError(Exception):
    """The release cannot be made."""


def stated_version(text: str) -> str:
    """The version in the text of `policykit/__init__.py`."""
    found = _STATED.search(text)
    if found is None:
        raise ReleaseError(f"{VERSION_FILE} has no version")
    return found[1]


def with_version(text: str, version: str) -> str:
    """The text of `policykit/__init__.py` with another version, which must not be a lower one."""
    before = stated_version(text)
    try:
        if str(Version(version)) != version:
            raise ReleaseError(f"use {Version(version)} instead of {version}")
    except InvalidVersion:
        raise ReleaseError(f"{version} is not a version: use a form such as 0.2.0 or 0.2.0rc1") from None
    if Version(version) < Version(before):
        raise ReleaseError(f"version {version} is lower than {before} in {VERSION_FILE}")
    return _STATED.sub(f'__version__ = "{version}"', text, count=1)


def with_release(changelog: str, version: str, day: date) -> str:
    """The changelog with the unreleased section moved under the version and its date."""
    if release_day(changelog, version):
        raise ReleaseError(f"{CHANGELOG} already has a release {version}")
    head, heading, rest = changelog.partition(f"\n{_UNRELEASED}\n")
    if not heading:
        raise ReleaseError(f"{CHANGELOG} has no section {_UNRELEASED}")
    if not rest.partition("\n## ")[0].strip():
        raise ReleaseError(f"{CHANGELOG} has no entries under {_UNRELEASED}")
    return f"{head}{heading}\n## {version} - {day.isoformat()}\n{rest}"


def release_day(changelog: str, version: str) -> date | None:
    """The date of a release; None if the changelog does not have it."""
    found = re.search(rf"^## {re.escape(version)} - (\d{{4}}-\d\d-\d\d)$", changelog, re.MULTILINE)
    return date.fromisoformat(found[1]) if found else None


def build(source: Path, into: Path, epoch: int) -> tuple[Path, Path]:
    """(wheel, sdist) of a folder, the wheel built from the sdist; `epoch` is the time of their files."""
    run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(source)],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "POLICYKIT_EXTENSION": "0"},
    )
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return wheel, sdist


def build_wheel(source: Path, into: Path, env: dict[str, str]) -> Path:
    """The wheel of a folder, built with these variables."""
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(into), str(source)], env)
    (wheel,) = into.glob("*.whl")
    return wheel


def build_twice(first: Path, second: Path, into: Path, epoch: int) -> tuple[Path, Path]:
    """(wheel, sdist), which are the same bytes from either of two copies of the source."""
    once, again = into / "once", into / "again"
    built = build(first, once, epoch)
    for one, other in zip(built, build(second, again, epoch), strict=True):
        if one.name != other.name or not filecmp.cmp(one, other, shallow=False):
            raise ReleaseError(f"built twice, {one.name} differs: see {one} and {other}")
    return built


def try_out(wheel: Path, version: str, folder: Path) -> None:
    """Installs the wheel in a new environment and runs it on a manifest with one mistake."""
    programs = folder / "environment" / "bin"
    run([sys.executable, "-I", "-m", "venv", str(programs.parent)])
    run([str(programs / "python"), "-I", "-m", "pip", "install", "--quiet", str(wheel)])
    manifests = folder / "manifests"
    manifests.mkdir()
    (manifests / "quota.yaml").write_text(_MANIFEST, encoding="utf-8")
    for word, code, output in (
        ("--version", 0, f"policykit {version}\n"),
        ("lint", 1, "quota.yaml:4:15: PK206 "),
    ):
        command = [str(programs / "policykit"), word]
        done = subprocess.run(command, cwd=manifests, capture_output=True, text=True, check=False)
        if done.returncode != code or not done.stdout.startswith(output):
            raise ReleaseError(
                f"installed, `policykit {word}` exits with {done.returncode}:\n{done.stdout}{done.stderr}"
            )


def run(command: Sequence[str], env: dict[str, str] | None = None) -> str:
    """Standard output of a command; shown with the error if the command fails."""
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def committed(folder: Path) -> Path:
    """A copy of the committed files."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def release(version: str) -> None:
    """Runs all steps; without a version, builds the tree as it is."""
    if changes := run(["git", "status", "--porcelain"]):
        raise ReleaseError(f"commit or stash these changes first:\n{changes}")
    edits = _edits(version) if version else {}
    with tempfile.TemporaryDirectory(prefix="policykit-release-") as made:
        work = Path(made)
        first, second = committed(work / "first"), committed(work / "second")
        for copy in (first, second):
            _write(edits, copy)
        version = stated_version(_read(first / VERSION_FILE))
        files = build_twice(first, second, work, _epoch(_read(first / CHANGELOG), version))
        run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)])
        try_out(files[0], version, work)
        (ROOT / "dist").mkdir(exist_ok=True)
        built = [shutil.copy(file, ROOT / "dist") for file in files]
    _write(edits, ROOT)
    names = [str(Path(path).relative_to(ROOT)) for path in built]
    print(*names, sep="\n")
    if edits:
        print(_next_steps(version, [str(path) for path in edits], names))


def _edits(version: str) -> dict[Path, str]:
    today = datetime.now(UTC).date()
    return {
        VERSION_FILE: with_version(_read(ROOT / VERSION_FILE), version),
        CHANGELOG: with_release(_read(ROOT / CHANGELOG), version, today),
    }


def _write(edits: Mapping[Path, str], folder: Path) -> None:
    for path, text in edits.items():
        (folder / path).write_text(text, encoding="utf-8")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _epoch(changelog: str, version: str) -> int:
    """Midnight of the release's day, so that anyone can build the same bytes from its tag."""
    day = release_day(changelog, version)
    if day is None:
        return int(run(["git", "log", "-1", "--format=%ct"]))
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _next_steps(version: str, edited: Sequence[str], built: Sequence[str]) -> str:
    return f"""\
Nothing is committed, tagged, pushed or uploaded. Read `git diff`, then:
  git commit -m 'policykit {version}' {" ".join(edited)}
  git tag -a v{version} -m 'policykit {version}'
  git push origin HEAD v{version}
  {sys.executable} -m twine upload {" ".join(built)}"""


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", default="", help="0.2.0; default: build the tree as it is")
    try:
        release(parser.parse_args().version)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
