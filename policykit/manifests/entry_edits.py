"""Insertion of entries into flow collections, and removal of entries with their lines or commas."""

from __future__ import annotations

import json
from typing import Any

from policykit.manifests import rendering
from policykit.manifests.extents import Edit, content_end, dash, line_end, line_start, own_items, own_pairs
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError
from policykit.manifests.path import Step
from policykit.manifests.writer import Layout
from policykit.namedtuple import NamedTuple


class EditContext(NamedTuple):
    """The collection that changes, and the style of the document."""

    text: str
    parent: Node
    newline: str
    json: bool
    """The whole document is in flow style: JSON."""
    layout: Layout
    """How the document indents its blocks."""


def inserted(place: EditContext, step: Step, value: Any) -> Edit:
    """The edit that puts an entry before the one at `step`, or behind the last."""
    parent, text = place.parent, place.text
    pad, _ = _line_indent(place)
    lead = ""
    if isinstance(parent.entries, dict):
        pairs = own_pairs(parent)
        lead = f"{rendering.flow(str(step), place.json)}: "
        starts, ends = [key.start_offset for key, _ in pairs], [value.end_offset for _, value in pairs]
        position = len(pairs)
    else:
        items = own_items(parent)
        starts, ends = [item.start_offset for item in items], [item.end_offset for item in items]
        position = len(items) if not isinstance(step, int) else step
    written = lead + rendered(place, value)
    if not starts:
        at = text.index("{" if isinstance(parent.data, dict) else "[", parent.start_offset) + 1
        return Edit(at, at, written)
    gap = " " if pad is None else place.newline + pad
    if position < len(starts):
        at = starts[position]
        return Edit(at, at, f"{written},{gap}")
    at = ends[-1]
    return Edit(at, at, f",{gap}{written}")


def _line_indent(place: EditContext) -> tuple[str | None, str]:
    """Leading blanks of an entry of a flow collection, and how much further right it is
    than the closing bracket's line; None: its entries share its line."""
    parent, text = place.parent, place.text
    listed = own_items(parent) if isinstance(parent.entries, list) else [key for key, _ in own_pairs(parent)]
    if not listed or listed[-1].start.line == parent.start.line:
        return None, ""
    pad, closing = _blanks(text, listed[-1].start_offset), _blanks(text, parent.end_offset - 1)
    return pad, pad.removeprefix(closing) if pad.startswith(closing) else ""


def _blanks(text: str, at: int) -> str:
    """What the line of `at` begins with."""
    line = text[line_start(text, at) : line_end(text, at)]
    return line[: len(line) - len(line.lstrip(" \t"))]


def rendered(place: EditContext, value: Any) -> str:
    """A value in flow style; in JSON with a line for each entry, as its neighbours have it."""
    pad, step_in = _line_indent(place)
    if place.json and pad is not None and step_in and isinstance(value, (dict, list)) and value:
        text = json.dumps(value, indent=step_in, ensure_ascii=False)
        return text.replace("\n", place.newline + pad)
    return rendering.flow(value, place.json)


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
