"""Where the files say what stands at a path of a built object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.linter.built.follow import Followed, existing, follow
from policykit.linter.built.patches import applied, is_for, operations, through
from policykit.linter.built.texts import Text, Texts
from policykit.linter.built.tree import Listed, Way
from policykit.linter.location import Relocate, relocation
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.node import Node, node_at
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup


class Spot(NamedTuple):
    """A place in a file, and how the outermost kustomization comes to it."""

    file: str
    way: Way
    document: int
    root: Node
    """Of the object, or of the text in a string."""
    path: Path
    """From there; what does not exist counts as well."""
    text: str
    """What the marks of `root` count in."""
    base: Path = ()
    """From the root of the document to `root`, or to the string it stands in."""
    relocate: Relocate | None = None
    """Where `text` is a string of the file."""


def spot(built: Manifest, home: Manifest, file: str, way: Way, path: Path, texts: Texts) -> Spot:
    """The place for a path of a built object that was read from `file` as `home`.

    What patches say comes first where they say the very value; what is missing is missing
    from the object itself.
    """
    there = existing(built.data, path)
    rest, value = path[len(there) :], lookup(built.data, there)
    own = follow(home.node, built.data, there)
    in_home = Spot(
        file,
        way,
        home.document,
        home.node,
        (*own.path, *there[own.depth() :], *rest),
        texts.of(file).text,
        home.base,
    )
    whole = own.depth() == len(there)
    if rest and whole:
        return in_home
    first: Spot | None = None
    for each, found in _patched(built, home, way, there, texts):
        if not rest and found.node.data == value:
            return each
        first = first or each._replace(path=(*each.path, *rest))
    scalar = not isinstance(value, (dict, list))
    if first is None or (whole and (own.node.data == value or not scalar)):
        return in_home
    return first


def _patched(
    built: Manifest, home: Manifest, way: Way, path: Path, texts: Texts
) -> Iterator[tuple[Spot, Followed]]:
    """The places in patches that a whole path leads to, the one that had the last word first."""
    for led, patch in applied(way):
        for begin in _documents(patch, led, texts):
            for each, found in _in_patch(begin, patch, home, built, path):
                yield each._replace(path=found.path), found


def _in_patch(
    begin: Spot, patch: Listed, home: Manifest, built: Manifest, path: Path
) -> Iterator[tuple[Spot, Followed]]:
    root = begin.root
    if isinstance(root.data, list):
        for operation in operations(root) if patch.target and is_for(patch.target, None, home, built) else ():
            put = through(operation, built.data, path)
            if put:
                yield begin, put
        return
    for each in manifests(root, 0):
        if is_for(patch.target, each, home, built):
            found = follow(each.node, built.data, path)
            if found.depth() == len(path):
                base = begin.base if begin.relocate else (*begin.base, *each.base)
                yield begin._replace(root=each.node, base=base), found


def _documents(patch: Listed, way: Way, texts: Texts) -> Iterator[Spot]:
    """The documents of a patch, each as the spot of its beginning."""
    if patch.file:
        whole = texts.of(patch.file)
        for number, root in enumerate(whole.roots):
            if root:
                yield Spot(patch.file, way, number, root, (), whole.text)
        return
    file = way[-1][0].file
    outer = texts.of(file)
    node = entry(outer, patch.at)
    if node is None or not isinstance(node.data, str):
        return
    relocate = relocation(outer.text, patch.at, node)
    for parsed in parse(node.data):
        if parsed.root:
            yield Spot(file, way, 0, parsed.root, (), node.data, patch.at, relocate)


def entry(text: Text, at: Path) -> Node | None:
    """An entry of a kustomization."""
    root = next((root for root in text.roots if root), None)
    return node_at(root, at) if root else None
