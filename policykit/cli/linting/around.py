"""What formats show beside findings: the lines of the files, and where the repository begins."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policykit.errors import SourceError
from policykit.formats import FormatContext
from policykit.linter.workspace import Workspace
from policykit.workspace.files import repository_root


def around(workspace: Workspace, after: Mapping[str, bytes]) -> FormatContext:
    """Of a run; `after` are the bytes of files that it has changed, by the name they are opened by."""
    opened = {member.path: member.file for member in workspace.members}

    def raw(path: str) -> bytes:
        file = opened.get(path, path)
        try:
            return after[file] if file in after else workspace.read(file)
        except SourceError:
            return b""  # already told as a failure of the run

    here = os.getcwd()
    return FormatContext(raw, repository_root(here) or here, tuple(sorted(opened)))
