"""Text to where the user wants it: UTF-8 whatever the locale; old files stay whole."""

from __future__ import annotations

import os
import sys

import click

from policykit.errors import PolicykitError, SourceError
from policykit.escape import lines, one_line


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


def emit_data(text: str | bytes) -> None:
    """Contents of files to standard output: to the byte, but on a terminal nothing that it would act on.

    Bytes that are no UTF-8 are those that `surrogateescape` made text.
    """
    if sys.stdout is not None and sys.stdout.isatty():
        text = lines(text if isinstance(text, str) else text.decode("utf-8", errors="surrogateescape"))
    emit(text if isinstance(text, bytes) else text.encode("utf-8", errors="surrogateescape"))


def encoded(text: str | bytes) -> bytes:
    """Bytes as they are, text as UTF-8; file names of other bytes stay visible as `\\udcff`, which
    JSON reads back."""
    return text if isinstance(text, bytes) else text.encode("utf-8", errors="backslashreplace")


def write_file(path: str, text: str | bytes) -> None:
    """Replaces a file, whole. Raises SourceError; then it is as it was.

    A link stays a link: the file it leads to is written. A device or a pipe (`/dev/stderr`) is
    written into, never replaced.
    """
    from policykit.workspace.boundary import output
    from policykit.workspace.writing import append, replace_all

    place = output(path)
    if os.path.exists(path) and not os.path.isfile(path):
        append(place._replace(real=path), encoded(text))
    else:
        replace_all({place: encoded(text)})


def say(message: str) -> None:
    """A message of one line to standard error, whatever it quotes."""
    tell(one_line(message))


def complain(error: PolicykitError | str) -> None:
    """What went wrong, to standard error; an error as text is as good."""
    tell(f"policykit: {error}")


def tell(text: str) -> None:
    """Text whose quotations are escaped already, to standard error. Where nobody can hear it, the run
    goes on: its findings and its exit code do not depend on it."""
    if sys.stderr is None:
        return
    try:
        click.echo(text, err=True)
        sys.stderr.flush()
    except OSError:
        # Full or closed: what is left in the buffer must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
