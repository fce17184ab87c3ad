"""Configurations of schedulers, and values of charts: documents of their own, or strings in other objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policykit.linter.location import Relocate, relocation
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.node import Lines, Node, Span
from policykit.manifests.parser import ParsedDocument, parse
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple

_HOLDERS = {
    "ConfigMap": ("data",),
    "HelmRelease": ("spec",),
    "Application": ("spec",),
    "ApplicationSet": ("spec",),
    "HelmChart": ("spec",),
    "HelmChartConfig": ("spec",),
    "": (),
}
"""Kinds that may contain configurations in strings, and where. Helm values have no kind."""

_DEPTH = 3
"""Strings within strings: Helm values in an Argo Application, a configuration in those."""


class Configuration(NamedTuple):
    """A type of scheduler configuration."""

    name: str
    """Name of the file, such as volcano-scheduler.conf."""
    words: tuple[str, ...]
    """Every file with such a configuration contains one of these words."""
    matches_shape: Callable[[object], bool]
    """Whether data has its shape."""
    is_named: Callable[[Manifest, Path], bool] = lambda holder, path: False
    """Whether the key and object of a string identify it as one, whatever its contents."""
    kind: str = ""
    """Its `kind`; empty: it has none."""


def _has_pod_fields(data: object) -> bool:
    from policykit.kube.podsets.chart_values import matches_shape

    return matches_shape(data)


CHART_VALUES = Configuration(
    "chart values",
    ("tolerations:", "nodeSelector:", "limits:", "DuringExecution:", "topologySpreadConstraints:"),
    _has_pod_fields,
)
"""Values of any chart that say something of pods: the last type, since others say more."""


class EmbeddedConfiguration(NamedTuple):
    """A configuration in a string of an object."""

    manifest: Manifest
    parsed: ParsedDocument
    """The parsed string, which may have syntax errors."""
    text: str
    """The string."""
    relocate: Relocate
    nested: bool
    """Whether the string is inside another string, so that it cannot be edited."""


def may_hold(manifest: Manifest) -> bool:
    """Whether a document may be a configuration, or an object with some in its strings."""
    return manifest.kind in _HOLDERS


def hinted(text: str, known: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """The types of configuration that a file may contain, by a search for words."""
    found = []
    for each in known:
        for word in each.words:
            if word in text:
                found.append(each)
                break
    return tuple(found)


def bare(manifest: Manifest, known: Sequence[Configuration]) -> Manifest | None:
    """The manifest marked as the configuration it is; None: it is not a configuration."""
    if manifest.kind:
        return None
    for each in known:
        if not each.kind and each.matches_shape(manifest.data):
            return manifest._replace(read_as=each.name)
    return None


def embedded_configurations(
    manifest: Manifest, text: str, known: Sequence[Configuration]
) -> Iterator[EmbeddedConfiguration]:
    """Configurations in the strings of an object, or of a document of Helm values; `text`: the whole file."""
    if not manifest.kind:
        # Values of a chart in a string of others are rare, and to look for them is not cheap.
        known = [each for each in known if each is not CHART_VALUES]
    if not known or not may_hold(manifest):
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
                break  # the scheduler only decodes the first document


def _read(
    holder: Manifest,
    path: Path,
    index: int,
    parsed: ParsedDocument,
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
    return (
        manifest.kind == known.kind
        if known.kind
        else not manifest.kind and known.matches_shape(manifest.data)
    )


_NOWHERE = Node({}, 0, Lines(""), {}, None)
"""Start of a text that could not be parsed."""


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
