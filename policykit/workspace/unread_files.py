"""Files that may define objects although they are not read as manifests: templates and scripts."""

from __future__ import annotations

import os

from policykit.errors import SourceError
from policykit.linter.apply_rules import unreadable
from policykit.linter.scope import UnreadableText
from policykit.workspace.command_state import cached
from policykit.workspace.files import files_below, read

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
    names = [name for name in files_below(folder) if name.endswith(_ENDS)]
    for name in names[:_MOST]:
        try:
            raw = read(os.path.join(folder, name), most=_LARGEST)
        except SourceError:
            continue
        if not any(sign in raw for sign in _SIGNS):
            continue
        words = unreadable(raw.decode("utf-8", errors="replace")).words
        if words is None:
            return UnreadableText(None)
        found |= words
    return UnreadableText(None if len(names) > _MOST else frozenset(found))
