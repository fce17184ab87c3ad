"""The folder where results of earlier runs are kept. It may be deleted at any time."""

from __future__ import annotations

import os
import sys
from functools import cache

from policykit import __version__

VARIABLE = "POLICYKIT_CACHE_DIR"
"""Names the folder; else it is `policykit` in XDG_CACHE_HOME or ~/.cache. Empty: nothing is kept."""

_off: list[bool] = []
"""Not empty once somebody has asked for a run without what was kept."""


def turn_off() -> None:
    """From now on nothing is read or kept."""
    _off.append(True)


def is_on() -> bool:
    """Whether results may be read and kept."""
    return not _off and bool(_folder())


def name_of(what: str, *about: str) -> str:
    """What something is kept under for the folder that is worked in; `about` tells it from others there."""
    from zlib import crc32

    whole = "\0".join((os.getcwd(), *about)).encode("utf-8", errors="surrogateescape")
    return f"{what}-{crc32(whole):08x}-{len(whole)}"


def load(name: str) -> bytes:
    """What was kept under a name; empty where there is nothing, or it cannot be read."""
    folder = _folder()
    if not is_on() or not _is_ours(folder):
        return b""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except OSError:
        return b""  # without it the run only takes longer


def store(name: str, content: bytes) -> bool:
    """Keeps it for the next run; False where that cannot be done, which costs nothing but time."""
    folder = _folder()
    if not is_on():
        return False
    path = os.path.join(folder, name)
    part = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_ours(folder):
            return False
        with open(part, "wb") as file:
            file.write(content)
        os.replace(part, path)
    except OSError:
        return False
    return True


@cache
def tool() -> bytes:
    """What tells this policykit from others: its version, and of a checkout the state of its files."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    told = [__version__, sys.version]
    if "site-packages" in here or "dist-packages" in here:
        state = os.stat(os.path.join(here, "__init__.py"))
        told.append(f"{state.st_mtime_ns} {state.st_size} {state.st_ino}")
    else:
        told.extend(_states(here))
        told.extend(_states(os.path.join(os.path.dirname(here), "schemas")))
        told.extend(_states(os.path.join(os.path.dirname(here), "profiles")))
    return "\n".join(told).encode()


def _states(folder: str) -> list[str]:
    found = []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            found += _states(entry.path) if entry.name != "__pycache__" else []
        elif entry.name.endswith((".py", ".json", ".yaml")):
            state = entry.stat()
            found.append(f"{entry.name} {state.st_mtime_ns} {state.st_size}")
    return found


def _folder() -> str:
    stated = os.environ.get(VARIABLE)
    if stated is not None:
        return os.path.abspath(stated) if stated else ""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "policykit") if os.path.isabs(base) else ""


def _is_ours(folder: str) -> bool:
    """Whether nobody else can write there."""
    try:
        state = os.stat(folder)
    except OSError:
        return False
    return not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)
