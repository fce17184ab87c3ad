"""Texts that schedulers read and no API server serves: bare, or in strings of other objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from policykit.linter.location import Relocate, relocation
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.node import Lines, Node, Span
from policykit.manifests.parser import Parsed, parse
from policykit.manifests.path import Path

_HOLDERS = {
    "ConfigMap": ("data",),
    "HelmRelease": ("spec",),
    "Application": ("spec",),
    "ApplicationSet": ("spec",),
    "HelmChart": ("spec",),
    "HelmChartConfig": ("spec",),
    "": (),
}
"""Kinds that hold configurations as strings, and where; a document without kind holds Helm values."""

_DEPTH = 3
"""Strings within strings: Helm values in an Argo Application, a configuration in those."""


class Configuration(NamedTuple):
    """A kind of text that a scheduler reads."""

    name: str
    """What people call it: volcano-scheduler.conf."""
    words: tuple[str, ...]
    """A file that has none of them holds none of these texts."""
    is_it: Callable[[object], bool]
    """Whether data has its shape."""
    is_named: Callable[[Manifest, Path], bool] = lambda holder, path: False
    """Whether a string is meant to be one, by its key and what holds it, whatever it says."""
    kind: str = ""
    """Its `kind`, where it has one: then it is looked at under that."""


class EmbeddedConfiguration(NamedTuple):
    """A document in a string of an object."""

    manifest: Manifest
    parsed: Parsed
    """As it was read: a text of this kind may be broken."""
    text: str
    """The string."""
    relocate: Relocate
    nested: bool
    """The string stands in another string: no edit reaches it."""


def hinted(text: str, known: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """The kinds of configuration that a file may hold: a search for words, once per file."""
    return tuple(each for each in known if any(word in text for word in each.words))


def bare(manifest: Manifest, known: Sequence[Configuration]) -> Manifest | None:
    """The manifest as the configuration that it is; None: it is none."""
    if manifest.kind:
        return None
    for each in known:
        if not each.kind and each.is_it(manifest.data):
            return manifest._replace(read_as=each.name)
    return None


def embedded_configurations(
    manifest: Manifest, text: str, known: Sequence[Configuration]
) -> Iterator[EmbeddedConfiguration]:
    """Configurations in the strings of an object, or of a document of Helm values; `text`: the whole file."""
    if not known or manifest.kind not in _HOLDERS:
        return
    node, start = manifest.node, _HOLDERS[manifest.kind]
    for step in start:
        if not isinstance(node.entries, dict) or step not in node.entries:
            return
        node = node.entries[step][1]
    yield from _in_strings(manifest, node, start, text, known, None, _DEPTH)


def _in_strings(
    holder: Manifest,
    root: Node,
    base: Path,
    text: str,
    known: Sequence[Configuration],
    outer: Relocate | None,
    depth: int,
) -> Iterator[EmbeddedConfiguration]:
    for path, node in _strings(root, base):
        hints = hinted(node.data, known)
        named = next((each for each in known if each.is_named(holder, path)), None)
        if not hints and named is None:
            continue
        relocate = _joined(relocation(text, path, node), outer)
        for index, parsed in enumerate(parse(node.data)):
            yield from _read(holder, path, index, parsed, node.data, relocate, hints, named, outer, depth)
            if named and not named.kind:
                break  # the scheduler decodes the first document only


def _read(
    holder: Manifest,
    path: Path,
    index: int,
    parsed: Parsed,
    text: str,
    relocate: Relocate,
    hints: Sequence[Configuration],
    named: Configuration | None,
    outer: Relocate | None,
    depth: int,
) -> Iterator[EmbeddedConfiguration]:
    nested = outer is not None
    at = holder.held_at if nested else path
    place = (holder.holder or holder) if nested else holder
    if parsed.root is None or parsed.problem:
        if named and parsed.problem:
            empty = Manifest({}, _NOWHERE, index, (), False, named.name, place, at)
            yield EmbeddedConfiguration(empty, parsed, text, relocate, nested)
        return
    for inner in manifests(parsed.root, index):
        inner = inner._replace(holder=place, held_at=at)
        known = next((each for each in hints if _is(inner, each)), None if named and named.kind else named)
        if known:
            read = inner if known.kind else inner._replace(read_as=known.name)
            yield EmbeddedConfiguration(read, parsed, text, relocate, nested)
        if depth > 1 and inner.kind in ("", "ConfigMap"):
            yield from _in_strings(inner, inner.node, (), text, hints, relocate, depth - 1)


def _is(manifest: Manifest, known: Configuration) -> bool:
    return manifest.kind == known.kind if known.kind else not manifest.kind and known.is_it(manifest.data)


_NOWHERE = Node({}, 0, Lines(""), {}, None)
"""Of a text that could not be read: its beginning."""


def _strings(root: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    if isinstance(root.entries, dict):
        for key, (_, value) in root.entries.items():
            yield from _strings(value, (*path, key))
    elif isinstance(root.entries, list):
        for index, item in enumerate(root.entries):
            yield from _strings(item, (*path, index))
    elif isinstance(root.data, str) and root.data:
        yield path, root


def _joined(inner: Relocate, outer: Relocate | None) -> Relocate:
    if outer is None:
        return inner

    def both(found: Span) -> Span:
        return outer(inner(found))

    return both
