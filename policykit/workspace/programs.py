"""Runs other programs: git, kustomize and helm."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping, Sequence

from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem

SHELL = "/bin/sh"
_CRASHES = ("out of memory", "cannot allocate memory", "goroutine ", "SIGSEGV")
"""Messages with which programs in Go end when they run out of memory."""
_NOWHERE = "http://127.0.0.1:9"
"""Nothing answers at port 9, which is reserved for discarding."""


class CompletedProgram(NamedTuple):
    """A program that has ended, or was stopped."""

    out: bytes = b""
    errors: str = ""
    status: int = 0
    late: bool = False
    """Whether it was stopped because it took too long."""


def limits(memory: int, output: int) -> str:
    """Commands of a shell that limit memory and the size of files, both in bytes, for what it runs."""
    return f"ulimit -d {memory >> 10}; ulimit -f {output >> 9}; ulimit -c 0"


def limited(command: Sequence[str], target: str, memory: int, output: int) -> list[str]:
    """A command with limits, whose output goes to a file; without a POSIX shell there are no limits."""
    if not os.path.exists(SHELL):
        return [*command]
    return [SHELL, "-c", f'{limits(memory, output)}; exec "$@" > "$0"', target, *command]


def ran_out_of_memory(output: str) -> bool:
    """Whether the error message of a program in Go is that of one without memory."""
    return any(word in output for word in _CRASHES)


def program_path(name: str) -> str:
    """Absolute path of a program on PATH; empty if there is none.

    Empty and relative entries of PATH are skipped: the current folder may contain anything.
    """
    folders = [*filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))]
    path = shutil.which(name, path=os.pathsep.join(folders)) or ""
    # So that the record of a run notices another version, and another program before this one.
    any(filesystem.executable(os.path.join(folder, name)) for folder in folders)
    filesystem.executable(path)
    return path if os.path.isabs(path) else ""


def sealed(home: str) -> dict[str, str]:
    """The environment of a program that renders untrusted files, with an empty home folder.

    Without PATH it finds no git, and proxies that do not answer block the rest of the network.
    """
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TMPDIR", "TEMP", "TMP") if name in os.environ}
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy", "http_proxy"), _NOWHERE)
    return {
        **kept,
        **proxies,
        "PATH": "",
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "GIT_ALLOW_PROTOCOL": "none",
    }


def run(
    command: Sequence[str], environment: Mapping[str, str], seconds: float, folder: str
) -> CompletedProgram:
    """Runs a program without input; after some seconds, it and the programs that it runs are stopped.

    Raises OSError if it cannot be run.
    """
    import subprocess

    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=folder,
        start_new_session=True,
    ) as process:
        late = False
        try:
            out, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
            _stop(process.pid)
            process.kill()
            out, errors = process.communicate()
        except BaseException:
            _stop(process.pid)
            raise
    return CompletedProgram(out, errors.decode("utf-8", errors="replace"), process.returncode, late)


def _stop(group: int) -> None:
    """Kills a process group, which may have ended meanwhile."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
