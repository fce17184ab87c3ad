"""Files that may define objects although they are not read as manifests: templates and scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator

from policykit.errors import SourceError
from policykit.linter.apply_rules import unreadable
from policykit.linter.scope import UnreadableText
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.command_state import cached
from policykit.workspace.files import NEVER, read

_ENDS = (".tf", ".tftpl", ".tpl", ".tmpl", ".gotmpl", ".j2", ".jinja", ".jinja2", ".sh")
"""Of Terraform, Go, Ansible, and shells, which pass objects to kubectl."""
_SIGNS = (b"apiVersion", b"labels")
"""Of objects, and of node groups with labels."""
_LARGEST = 1 << 20
_MOST = 5_000


@cached
def words_below(folder: str) -> UnreadableText:
    """The words in such files below a folder, as far as they contain objects or labels."""
    found: set[str] = set()
    paths = sorted(_below(folder))
    for path in paths[:_MOST]:
        try:
            raw = read(path, most=_LARGEST)
        except SourceError:
            continue
        if not any(sign in raw for sign in _SIGNS):
            continue
        words = unreadable(raw.decode("utf-8", errors="replace")).words
        if words is None:
            return UnreadableText(None)
        found |= words
    return UnreadableText(None if len(paths) > _MOST else frozenset(found))


def _below(folder: str) -> Iterator[str]:
    """Their paths, without those of folders that are never walked."""
    for here, folders, names in filesystem.walk(folder):
        folders[:] = [name for name in folders if name not in NEVER and not safe_paths.names_git(name)]
        yield from (os.path.join(here, name) for name in names if name.endswith(_ENDS))
