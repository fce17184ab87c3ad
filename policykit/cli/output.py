"""Text to where the user wants it: UTF-8 whatever the locale; old files stay whole."""

from __future__ import annotations

import os
import sys

from policykit.errors import SourceError


def emit(text: str, path: str = "") -> None:
    """To a file, or to standard output when there is no path or it is `-`."""
    if path and path != "-":
        write_file(path, text)
        return
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
    else:
        stream.write(text.encode("utf-8"))
        stream.flush()


def write_file(path: str, text: str) -> None:
    """Writes beside the file and moves it into place. Raises SourceError; nothing is half written."""
    import tempfile

    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".policykit-")
    except OSError as error:
        raise SourceError(
            f"cannot be written: {error.strerror}", "check the folder's permissions", path
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        os.chmod(temporary, os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o644)
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        raise SourceError(
            f"cannot be written: {error.strerror}", "check space and permissions", path
        ) from None
