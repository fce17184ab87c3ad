"""Finds the external programs that are run: git and kustomize."""

from __future__ import annotations

import os
import shutil


def program_path(name: str) -> str:
    """Absolute path of a program on PATH; empty if there is none.

    Empty and relative entries of PATH are skipped: the current folder may contain anything.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders))) or ""
    return path if os.path.isabs(path) else ""
