"""Output to files and streams: UTF-8 in every locale; files are replaced as a whole or not at all."""

from __future__ import annotations

import os
import sys

from policykit.errors import PolicykitError, SourceError
from policykit.escape import lines, one_line
from policykit.workspace.filesystem import note_printed


def write_output(text: str | bytes, path: str = "") -> None:
    """Writes to a file, or to standard output if the path is empty or `-`."""
    note_printed(path or "-", encoded(text))
    if path and path != "-":
        write_file(path, text)
        return
    if sys.stdout is None:
        raise SourceError("standard output is closed", "keep it open, or name a file with --output")
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(encoded(text).decode())
    else:
        stream.write(encoded(text))
        stream.flush()


def write_data(text: str | bytes) -> None:
    """Writes file contents to standard output byte for byte, but escapes control characters on a terminal.

    In `str`, bytes that are not UTF-8 are surrogates, as `surrogateescape` decodes them.
    """
    if sys.stdout is not None and sys.stdout.isatty():
        text = lines(text if isinstance(text, str) else text.decode("utf-8", errors="surrogateescape"))
    write_output(text if isinstance(text, bytes) else text.encode("utf-8", errors="surrogateescape"))


def encoded(text: str | bytes) -> bytes:
    """Bytes unchanged, text as UTF-8; other bytes in file names appear as `\\udcff`, which JSON can read."""
    return text if isinstance(text, bytes) else text.encode("utf-8", errors="backslashreplace")


def write_file(path: str, text: str | bytes) -> None:
    """Replaces a file as a whole. Raises SourceError; the file is unchanged then.

    A symbolic link is kept: its target is written. A device or a pipe (`/dev/stderr`) is
    appended to, never replaced.
    """
    from policykit.workspace.safe_paths import output
    from policykit.workspace.writing import append, replace_all

    place = output(path)
    if os.path.exists(path) and not os.path.isfile(path):
        append(place._replace(real=path), encoded(text))
    else:
        replace_all({place: encoded(text)})


def print_message(message: str) -> None:
    """Prints a message to standard error, escaped to one line."""
    print_escaped(one_line(message))


def print_error(error: PolicykitError | str) -> None:
    """Prints an error to standard error."""
    print_escaped(f"policykit: {error}")


def print_escaped(text: str, *, newline: bool = True) -> None:
    """Prints text that is already escaped to standard error. If that fails, the run goes on: findings and
    exit code do not depend on it."""
    if sys.stderr is None:
        return
    note_printed("2", f"{text}\n".encode(errors="backslashreplace") if newline else text.encode())
    try:
        sys.stderr.write(f"{text}\n" if newline else text)
        sys.stderr.flush()
    except OSError:
        # Full or closed: Python must not try to write the rest of the buffer again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
