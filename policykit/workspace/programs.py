"""Programs of others that are run: git and kustomize."""

from __future__ import annotations

import os
import shutil


def program_path(name: str) -> str:
    """Absolute path of a program on PATH, empty where there is none.

    An entry of PATH that is empty or relative means the current folder, where anybody may have put one.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders))) or ""
    return path if os.path.isabs(path) else ""
