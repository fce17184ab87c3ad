"""Taking an entry out of a collection, with the lines or the comma that are its own."""

from __future__ import annotations

from policykit.manifests.extents import Edit, content_end, dash, line_end, line_start, own_items, own_pairs
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError
from policykit.manifests.path import Step


def removed(text: str, parent: Node, step: Step) -> Edit:
    """The edit that takes out one entry of several. Raises EditError where it is not there."""
    extents = _extents(text, parent)
    position = _position(parent, step)
    start, end = extents[position]
    if parent.style:
        return _from_flow(extents, position)
    opening = line_start(text, start)
    if text[opening:start].strip(" "):
        # It shares its line with a dash (`- a: 1`): the next entry moves up to its place.
        if position + 1 >= len(extents):
            raise EditError(f"{step}: cannot be taken out of its line")
        return Edit(start, extents[position + 1][0], "")
    closing = line_end(text, end)
    for ending in ("\r\n", "\n"):
        if text.startswith(ending, closing):
            return Edit(opening, closing + len(ending), "")
    return Edit(opening, closing, "")


def column_of(text: str, at: int) -> int:
    return at - line_start(text, at)


def _position(parent: Node, step: Step) -> int:
    if isinstance(parent.entries, dict):
        keys = [key for key, pair in parent.entries.items() if pair[0].start_offset >= parent.start_offset]
        if step in keys:
            return keys.index(str(step))
    elif isinstance(step, int) and 0 <= step < len(parent.entries):
        return step
    raise EditError(f"there is no {step!r} to remove")


def _extents(text: str, parent: Node) -> list[tuple[int, int]]:
    """From where to where each entry runs, key or dash included."""
    if isinstance(parent.entries, dict):
        return [(key.start_offset, content_end(text, value)) for key, value in own_pairs(parent)]
    items = own_items(parent)
    if parent.style:
        return [(item.start_offset, item.end_offset) for item in items]
    return [(dash(text, item), content_end(text, item)) for item in items]


def _from_flow(extents: list[tuple[int, int]], position: int) -> Edit:
    start, end = extents[position]
    if position + 1 < len(extents):
        return Edit(start, extents[position + 1][0], "")
    return Edit(extents[position - 1][1], end, "")
