"""A policy under construction: plain data with comments."""

from __future__ import annotations

from typing import Any

from policykit.escape import one_line
from policykit.importer.policy_yaml import policy_lines
from policykit.manifests.document import span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path

_WIDE = 110
_ENTRY = 2
"""Length of the path to a pool, queue or card."""


class Draft:
    """Data, with notes at line ends and captions above sections by path."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.notes: dict[Path, str] = {}
        self.captions: dict[Path, str] = {}

    def note(self, path: Path, text: str) -> None:
        """A comment on the line of a key."""
        self.notes[path] = text

    def caption(self, path: Path, text: str) -> None:
        """Comment lines above a key."""
        self.captions[path] = text

    def remove(self, path: Path) -> None:
        """Removes the value at a path, and collections that become empty.

        Entries of a section stay: a queue with an invalid parent becomes a queue without one.
        """
        chain: list[Any] = [self.data]
        for step in path[:-1]:
            chain.append(chain[-1][step])
        del chain[-1][path[-1]]
        for depth in range(len(path) - 1, 0, -1):
            if chain[depth] or depth == _ENTRY:
                break
            del chain[depth - 1][path[depth - 1]]

    def text(self) -> str:
        """The policy as YAML with its comments."""
        lines = policy_lines(self.data)
        root = next(document.root for document in parse("\n".join(lines)) if document.root is not None)
        above: dict[int, list[str]] = {}
        for path, caption in self.captions.items():
            if self._exists(path):
                above.setdefault(span(root, path, key=True).line - 1, []).extend(caption.split("\n"))
        for path, note in self.notes.items():
            if self._exists(path):
                number = span(root, path, key=True).line - 1
                if len(lines[number]) + len(note) + 4 <= _WIDE:
                    lines[number] += f"  # {one_line(note)}"
                else:
                    above.setdefault(number, []).append(note)
        shown: list[str] = []
        for number, line in enumerate(lines):
            indent = " " * (len(line) - len(line.lstrip()))
            if number in above and not indent and shown:
                shown.append("")
            shown += [f"{indent}# {one_line(comment)}".rstrip() for comment in above.get(number, ())]
            shown.append(line)
        return "\n".join(shown) + "\n"

    def _exists(self, path: Path) -> bool:
        here: Any = self.data
        for step in path:
            if not isinstance(here, dict) or step not in here:
                return False
            here = here[step]
        return True
