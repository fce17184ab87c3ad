"""Replaces files atomically (temporary file, fsync, rename), and deletes files."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Mapping
from contextlib import suppress

from policykit.errors import SourceError
from policykit.workspace.safe_paths import SafePath

_LEFTOVER = r"\.policykit-[0-9a-f]{16}\.tmp"
_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_WRITABLE = 0o222
_SETTLED = 600.0
"""Seconds after which no run is still writing a temporary file."""


def replace_all(contents: Mapping[SafePath, bytes]) -> None:
    """Writes files. Raises SourceError with the path that cannot be written.

    All contents are written to temporary files in the same folders before the first file is
    replaced: a full disk or a folder without write permission changes nothing, and a run that is
    killed leaves each file either old or new. The temporary files that such a run leaves are
    hidden and end in `.tmp`; `is_leftover` recognizes their names. Each is synced to disk (about
    0.3 ms on an SSD), since a power failure could otherwise leave an empty file.
    """
    beside: dict[str, str] = {}
    place = SafePath("", "")
    try:
        for place, content in contents.items():
            folder = os.path.dirname(place.real)
            os.makedirs(folder, exist_ok=True)
            beside[place.real] = os.path.join(folder, f".policykit-{os.urandom(8).hex()}.tmp")
            _write(beside[place.real], content, place.real)
        for place in contents:
            os.replace(beside[place.real], place.real)
            del beside[place.real]
    except OSError as error:
        raise _unwritable(error, place.path) from None
    finally:
        for temporary in beside.values():
            _drop(temporary)


def is_leftover(name: str) -> bool:
    """Whether the name is that of a temporary file of a killed run."""
    return re.fullmatch(_LEFTOVER, name) is not None


def append(place: SafePath, content: bytes) -> None:
    """Appends to a file, or writes to a device or a pipe. Raises SourceError."""
    try:
        with open(place.real, "ab") as stream:
            stream.write(content)
    except OSError as error:
        raise _unwritable(error, place.path) from None


def remove(place: SafePath, folder: SafePath) -> None:
    """Deletes a file below a folder, and the folders that it leaves empty. Raises SourceError."""
    try:
        os.unlink(place.real)
        here = os.path.dirname(place.real)
        while here != folder.real and not os.listdir(here):
            os.rmdir(here)
            here = os.path.dirname(here)
    except OSError as error:
        raise SourceError(
            f"cannot be deleted: {error.strerror}", "check the permissions of its folder", place.path
        ) from None


def remove_leftover(place: SafePath) -> None:
    """Deletes a temporary file of a killed run, unless another run may still be writing it."""
    with suppress(OSError):
        if os.stat(place.real).st_mtime < time.time() - _SETTLED:
            os.unlink(place.real)


def _unwritable(error: OSError, path: str) -> SourceError:
    """The error, with a hint for the user."""
    if error.errno in _SPACE:
        hint = "free some disk space, then run it again"
    else:
        hint = "check the path, and the permissions of the file and of its folder"
    if isinstance(error, FileExistsError | NotADirectoryError):
        return SourceError("cannot be written: a file exists where its folder should be", hint, path)
    return SourceError(f"cannot be written: {error.strerror}", hint, path)


def _write(temporary: str, content: bytes, path: str) -> None:
    """Writes a temporary file with mode and owner of the file to replace; for a new one the umask applies."""
    before = _before(path)
    mode = 0o600 if before else 0o666
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if before:
        _keep(temporary, before)


def _before(path: str) -> os.stat_result | None:
    """The file to be replaced; None: there is none. Raises OSError for a folder or a read-only file."""
    try:
        before = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not (before.st_mode & _WRITABLE and os.access(path, os.W_OK)):
        # Only the folder's permissions would prevent another file from replacing it.
        raise PermissionError(errno.EACCES, "the file is read-only")
    return before


def _keep(temporary: str, before: os.stat_result) -> None:
    made = os.stat(temporary)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        # Only root may give files away; others own what they write.
        with suppress(PermissionError):
            os.chown(temporary, before.st_uid, before.st_gid)
    os.chmod(temporary, before.st_mode & 0o777)


def _drop(temporary: str) -> None:
    # It may not exist or not be accessible; the error that led here is reported.
    with suppress(OSError):
        os.unlink(temporary)
