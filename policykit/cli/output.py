"""Text to where the user wants it: UTF-8 whatever the locale; old files stay whole."""

from __future__ import annotations

import os
import sys

import click

from policykit.errors import SourceError


def emit(text: str | bytes, path: str = "") -> None:
    """To a file, or to standard output when there is no path or it is `-`."""
    if path and path != "-":
        write_file(path, text)
        return
    if sys.stdout is None:
        raise SourceError("standard output is closed", "leave it open, or name a file with --output")
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(encoded(text).decode())
    else:
        stream.write(encoded(text))
        stream.flush()


def encoded(text: str | bytes) -> bytes:
    """Bytes as they are, text as UTF-8; file names of other bytes stay visible as `\\udcff`, which
    JSON reads back."""
    return text if isinstance(text, bytes) else text.encode("utf-8", errors="backslashreplace")


def write_file(path: str, text: str | bytes) -> None:
    """Writes beside the file and moves it into place. Raises SourceError; nothing is half written.

    A link stays a link: the file it leads to is written. A device or a pipe (`/dev/stderr`) is
    written into, never replaced.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(encoded(text))
        else:
            _replace(os.path.realpath(path), encoded(text))
    except OSError as error:
        raise SourceError(
            f"cannot be written: {error.strerror}", "check space and permissions", path
        ) from None


def _replace(path: str, content: bytes) -> None:
    import tempfile

    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".policykit-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def say(text: str) -> None:
    """One message to standard error. Where nobody can hear it, the run goes on: its findings and
    its exit code do not depend on it."""
    if sys.stderr is None:
        return
    try:
        click.echo(text, err=True)
        sys.stderr.flush()
    except OSError:
        # Full or closed: what is left in the buffer must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
