"""Changes to YAML text that leave every other byte alone.

Places come from the parser's marks, new text takes the indentation, quotes and line
endings it finds. What was written is read again: text that does not say what was
intended is never handed back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from policykit.manifests import rendering
from policykit.manifests.entry_edits import EditContext, column_of, inserted, removed, rendered
from policykit.manifests.extents import (
    Edit,
    after_comments,
    after_line,
    colon,
    content_end,
    dash,
    line_break,
    line_end,
    line_start,
    own_items,
    own_pairs,
)
from policykit.manifests.field_moves import moved, renamed
from policykit.manifests.memoize import memoize_last
from policykit.manifests.node import Node
from policykit.manifests.parser import parse
from policykit.manifests.patch import APPEND, EditError, Move, Patch, patched
from policykit.manifests.path import Path, Step, dotted, lookup

_BOM = "\ufeff"
_WIDTH = 100
"""Columns within which an item is written on one line if its neighbours are."""
_ORDERS = (("apiVersion", "kind", "metadata", "spec", "status"), ("selector", "template"))
"""Keys of an object, of a template in it and of a controller, as everybody writes them."""


def edits(text: str, patch: Patch, document: int = 0, like: Node | None = None) -> tuple[Edit, ...]:
    """The edits that make a change, each in the text the one before left; `amend` also proves it.

    New text is laid out and quoted as in `like`, the root of a document that the text is a part
    of; None: as in the text. Only a move needs more than one edit. Raises EditError.
    """
    skipped = len(_BOM) if text.startswith(_BOM) else 0
    body = text[skipped:]
    made = (
        _moved(body, patch, document, like) if patch.op == "move" else (_edit(body, patch, document, like),)
    )
    return tuple(Edit(one.start + skipped, one.end + skipped, one.text) for one in made)


def edit(text: str, patch: Patch, document: int = 0) -> Edit:
    """As `edits`, in one; a move that needs several writes the whole text again."""
    made = edits(text, patch, document)
    if len(made) == 1:
        return made[0]
    changed = text
    for one in made:
        changed = spliced(changed, one)
    return Edit(0, len(text), changed)


def spliced(text: str, made: Edit) -> str:
    return text[: made.start] + made.text + text[made.end :]


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, the order of keys says nothing."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def read(text: str) -> list[Node | None]:
    """The root of each document, None for an empty one. Raises EditError where it is not YAML."""
    roots = []
    for parsed in parse(text):
        if parsed.problem:
            problem = parsed.problem
            place = f"{problem.line + 1}:{problem.column + 1}"
            raise EditError(f"the text is not YAML: {problem.message}", place=place)
        roots.append(parsed.root)
    return roots


def _root(text: str, document: int) -> Node:
    roots = read(text)
    root = roots[document] if 0 <= document < len(roots) else None
    if root is None:
        raise EditError(f"the text has no document {document}, or it is empty: there is nothing to edit")
    return root


def _edit(text: str, patch: Patch, document: int, like: Node | None) -> Edit:
    root = _root(text, document)
    newline = line_break(text)
    layout = _layout_of(like or root)
    patch = _settled(root, patch)
    if not patch.path:
        written = newline.join(rendering.lines(patch.value, 0, layout))
        return Edit(root.start_offset, content_end(text, root), written)
    chain = _chain(root, patch.path[:-1])
    parent, step = chain[-1], patch.path[-1]
    place = EditContext(text, parent, newline, _is_json(like or root), layout)
    if (len(parent.data) == 1 and patch.op == "remove") or _opens(chain, place):
        # The last entry goes, or the first one comes to `{}`: the collection itself changes shape.
        whole = patched(parent.data, Patch(patch.op, (step,), patch.value))
        return _edit(text, Patch("replace", patch.path[:-1], whole), document, like)
    if patch.op == "remove":
        return removed(text, parent, step)
    if patch.op == "rename":
        return renamed(text, parent, step, str(patch.value), json=place.json)
    old = _child(parent, step)
    if old is not None and (patch.op == "replace" or isinstance(parent.entries, dict)):
        return _replaced(place, step, old, patch.value)
    return _inserted(place, step, patch.value)


def _moved(text: str, patch: Patch, document: int, like: Node | None) -> Sequence[Edit]:
    root = _root(text, document)
    move: Move = patch.value
    value = lookup(root.data, (*patch.path, *move.old))
    patched(root.data, patch)
    old, new = (*patch.path, *move.old), (*patch.path, *move.new)
    as_they_are = moved(text, root, old, new, _layout_of(like or root))
    if as_they_are is not None:
        return as_they_are
    added = _edit(text, Patch("add", new, value), document, like)
    return added, _edit(spliced(text, added), Patch("remove", old), document, like)


_layout_of = memoize_last(rendering.layout_of)
"""Many changes are laid out like one document."""


def _is_json(root: Node) -> bool:
    """A document in flow style, its keys in double quotes."""
    keys = [key for key, _ in own_pairs(root)] if isinstance(root.entries, dict) else []
    return root.style is True and root.entries is not None and all(key.style == '"' for key in keys[:1])


def _opens(chain: Sequence[Node], place: EditContext) -> bool:
    """An empty flow collection in block surroundings, which the first entry opens up."""
    return not place.parent.data and not place.json and not any(node.style is True for node in chain[:-1])


def _settled(root: Node, patch: Patch) -> Patch:
    """The change at the deepest place that exists: parents to create become part of the value."""
    if patch.op != "add":
        return patch
    node: Node | None = root
    for depth, step in enumerate(patch.path):
        if node is None or node.data is None:
            at = patch.path[:depth]
            op = "replace" if node is not None else "add"
            return Patch(op, at, _wrapped(patch.path[depth:], patch.value))
        node = _child(node, step)
    return patch


def _wrapped(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = [value] if step in (APPEND, 0) else {step: value}
    return value


def _child(node: Node, step: Step) -> Node | None:
    if isinstance(node.entries, dict):
        pair = node.entries.get(step)
        return pair[1] if pair else None
    if isinstance(node.entries, list) and isinstance(step, int) and 0 <= step < len(node.entries):
        item: Node = node.entries[step]
        return item
    return None


def _chain(root: Node, path: Path) -> list[Node]:
    chain = [root]
    for step in path:
        node = _child(chain[-1], step)
        if node is None:
            raise EditError(f"{dotted(path)}: there is no value there")
        chain.append(node)
    if chain[-1].entries is None:
        raise EditError(f"{dotted(path)}: not a mapping or a sequence")
    return chain


def _replaced(place: EditContext, step: Step, old: Node, value: Any) -> Edit:
    text, parent = place.text, place.parent
    end = content_end(text, old)
    if parent.style:
        quoted = rendering.requoted(value, old.style) if old.style in ("'", '"') else None
        return Edit(old.start_offset, end, quoted or rendered(place, value))
    if isinstance(parent.entries, dict):
        key = parent.entries[step][0]
        after, column = colon(text, key), key.start.column
        written = rendering.lines({step: value}, column, place.layout)
        lead = len(rendering.lines({step: 0}, column)[0]) - len(" 0")
    else:
        at = dash(text, old)
        after, column = at + 1, column_of(text, at)
        written = rendering.lines([value], column, place.layout)
        lead = column + len("-")
    short = rendering.requoted(value, old.style)
    if isinstance(value, str) and short is None and text[end : line_end(text, end)].strip():
        # A comment behind it would become part of a literal block.
        short = rendering.flow(value, quoted=True)
    if short is None:
        closing = _closing(place, end, value)
        return Edit(after, end, place.newline.join([written[0][lead:], *written[1:]]) + closing)
    if old.start_offset == old.end_offset or (old.entries is not None and not old.style):
        return Edit(after, end, f" {short}")
    return Edit(old.start_offset, end, short)


def _inserted(place: EditContext, step: Step, value: Any) -> Edit:
    if place.parent.style:
        return inserted(place, step, value)
    if isinstance(place.parent.entries, dict):
        return _inserted_key(place, str(step), value)
    return _inserted_item(place, step, value)


def _inserted_key(place: EditContext, key: str, value: Any) -> Edit:
    pairs = own_pairs(place.parent)
    if not pairs:
        raise EditError(f"{key}: the mapping it belongs to is defined elsewhere (alias or merge key)")
    column = pairs[0][0].start.column
    written = rendering.lines({key: value}, column, place.layout)
    before = _first_behind(key, pairs)
    if before is not None and not _commented(place.text, before.start_offset):
        text = place.newline.join([written[0][column:], *written[1:]])
        return Edit(before.start_offset, before.start_offset, text + place.newline + " " * column)
    last = max(pairs, key=lambda pair: pair[1].end_offset)[1]
    at = after_comments(place.text, after_line(place.text, last), column)
    return Edit(at, at, place.newline + place.newline.join(written) + _closing(place, at, value))


def _first_behind(key: str, pairs: Sequence[tuple[Node, Node]]) -> Node | None:
    """The first key that people write below `key`: metadata comes before spec."""
    below = next((order[order.index(key) + 1 :] for order in _ORDERS if key in order), ())
    return next((there for there, _ in pairs if there.data in below), None)


def _commented(text: str, at: int) -> bool:
    """Whether the line above is a comment, about the key at `at` most likely."""
    end = line_start(text, at)
    while end > 0 and text[end - 1] in "\r\n":
        end -= 1
    return text[line_start(text, end) : end].lstrip().startswith("#")


def _inserted_item(place: EditContext, step: Step, value: Any) -> Edit:
    items = own_items(place.parent)
    position = len(items) if step == APPEND else step
    if not items or not isinstance(position, int) or position > len(items):
        raise EditError(f"item {step}: the sequence has no item there")
    first = dash(place.text, items[0])
    column = column_of(place.text, first)
    written = place.newline.join(rendering.lines([value], column, place.layout))
    beside = items[max(position - 1, 0)]
    if isinstance(value, dict) and isinstance(beside.data, dict) and _on_one_line(beside):
        # Tolerations and expressions are often written one to a line: `- {key: a, operator: Exists}`.
        quoted = place.text.startswith('{"', beside.start_offset)
        short = f"{' ' * column}- {rendering.flow(value, quoted)}"
        written = short if len(short) <= max(_WIDTH, beside.end.column) else written
    if position == 0:
        return Edit(first, first, written[column:] + place.newline + " " * column)
    at = after_comments(place.text, after_line(place.text, items[position - 1]), column)
    return Edit(at, at, place.newline + written + _closing(place, at, value))


def _on_one_line(node: Node) -> bool:
    """Written in flow style on one line, with something in it."""
    return bool(node.style is True and node.entries and node.start.line == node.end.line)


def _closing(place: EditContext, at: int, value: Any) -> str:
    """A literal block ends with a line ending, also where the text had none."""
    last = at == len(place.text)
    return place.newline if last and rendering.ends_in_block_text(value) else ""
