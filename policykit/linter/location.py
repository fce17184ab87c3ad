"""The location of an object: in its file, or in a string of another object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policykit.linter.finding import Resource
from policykit.manifests.document import Manifest
from policykit.manifests.memoize import computed_once
from policykit.manifests.node import Node, Span, node_at
from policykit.manifests.path import Path, Step, escaped, pointer
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.manifests.parser import ParsedDocument


Relocate = Callable[[Span], Span]
"""From a span in a string to the span in the file."""
_NAMES = ("name", "key")
"""Fields that identify the items of a list, the first one that an item has: containers, variables and tasks
have names; tolerations, taints and expressions have keys."""


class FieldLocation(NamedTuple):
    """The location of a field: in its file, and as a path in its document."""

    span: Span
    path: Path
    field: str = ""
    """The field in its object, with items of lists by name."""

    @property
    def pointer(self) -> str:
        """RFC 6901 JSON pointer in the document; for a field inside a string, that of the string."""
        return pointer(self.path)


class _LocatedObject(NamedTuple):
    """The fields of a LocatedObject, which computes the rest once."""

    manifest: Manifest
    text: str
    relocate: Relocate | None = None
    """Maps spans if `text` is a string of the file; None: it is the file."""


class LocatedObject(_LocatedObject):
    """An object, and the text that its locations refer to."""

    def place(
        self,
        path: Path,
        *,
        key: bool = False,
        inside: Path | None = None,
        part: tuple[int, int] | None = None,
    ) -> FieldLocation:
        """The location of a field; `inside`: of a field in the text of the string at `path`; `part`: of some
        of its characters.
        """
        manifest = self.manifest
        found = None
        if inside is not None:
            found = embedded_span(self.text, manifest.node, path, inside)
        elif part is not None:
            found = characters(self.text, manifest.node, path, part)
        if found is None:
            found = manifest.span(path, key=key)
        if self.relocate:
            found = self.relocate(found)
        named = field(manifest.data, path)
        if manifest.holder is None:
            return FieldLocation(found, (*manifest.base, *path), named)
        holder, held_at = manifest.holder, manifest.held_at
        return FieldLocation(found, (*holder.base, *held_at), field(holder.data, held_at) + named)

    @property
    def document(self) -> int:
        """Index of the document in the file."""
        holder = self.manifest.holder
        return self.manifest.document if holder is None else holder.document

    @computed_once
    def resource(self) -> Resource:
        """The object, as findings name it."""
        manifest = self.manifest.holder or self.manifest
        kind = manifest.kind
        return Resource(manifest.api_version, kind, manifest.namespace or None, manifest.name)


def embedded_span(text: str, root: Node, path: Path, inside: Path) -> Span | None:
    """The span, in a text, of a field in the text of one of its strings; None: there is none."""
    node = node_at(root, path)
    if node is None or not isinstance(node.data, str):
        return None
    document = _first_document(node.data)
    if document is None or document.root is None:
        return None
    return relocation(text, path, node)(document.root.location(inside))


@lru_cache(maxsize=4)
def _first_document(text: str) -> ParsedDocument | None:
    from policykit.manifests.parser import parse

    return next(parse(text), None)


def characters(text: str, root: Node, path: Path, part: tuple[int, int]) -> Span | None:
    """The span of some characters of a string, counted from 0; None: there is no string."""
    node = node_at(root, path)
    if node is None or not isinstance(node.data, str):
        return None
    start, end = (_line_and_column(node.data, at) for at in part)
    return relocation(text, path, node)(Span(*start, *end))


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


@lru_cache(maxsize=4)  # a string may have many findings
def relocation(text: str, path: Path, node: Node) -> Relocate:
    """Maps spans in the string `node` to the text that contains it."""
    from policykit.manifests.embedded import embedded

    inside = embedded(text, path, node)

    def relocate(found: Span) -> Span:
        line, column = inside.place(text, found.line - 1, found.column - 1)
        end_line, end_column = inside.place(text, found.end_line - 1, found.end_column - 1)
        return Span(line + 1, column + 1, end_line + 1, end_column + 1)

    return relocate


def field(data: Any, path: Sequence[Step]) -> str:
    """("spec", "containers", 0, "image") is /spec/containers[main]/image.

    Items without a name are not distinguished: a baseline counts their findings. Steps that do not exist are
    kept as written.
    """
    text = ""
    steps = iter(path)
    try:
        for step in steps:  # four times for each fact and finding
            data = data[step]
            if type(step) is str:
                text += "/" + step if step.isidentifier() else "/" + escaped(step)
            else:
                text += f"[{_name(data)}]"
    except (IndexError, KeyError, TypeError):
        missing = (step, *steps)
        text += "".join(["[]" if isinstance(each, int) else f"/{escaped(each)}" for each in missing])
    return text


def _name(item: object) -> str:
    if isinstance(item, dict):
        for key in _NAMES:
            if isinstance(item.get(key), str):
                return str(item[key])
    return ""
