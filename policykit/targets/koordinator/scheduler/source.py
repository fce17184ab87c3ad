"""A given koord-scheduler-config: which document or ConfigMap string holds the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.manifests.edit import read as read_documents
from policykit.manifests.embedded import embedded, kinds, strings
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError
from policykit.manifests.path import Path
from policykit.targets.koordinator.scheduler.configuration import KIND


class Source(NamedTuple):
    """A scheduler configuration in a text: the document itself, or a string of a ConfigMap."""

    text: str
    document: int
    path: Path
    """Of the string in its document; empty for a configuration of its own."""
    inner: str
    """The configuration's own text."""
    data: Mapping[str, Any]
    alone: bool
    """The text has no other document."""


def read(text: str) -> Source:
    """Finds the configuration. Raises PolicykitError unless there is exactly one."""
    try:
        roots = read_documents(text)
    except EditError as error:
        hint = "give the file as rendered (helm template), not the chart's template"
        # Why it is not YAML would quote it.
        what = error.message.partition(": ")[0]
        raise PolicykitError(f"koord-scheduler-config: {what}", hint, error.place) from error
    found = [source for number, root in enumerate(roots) if root for source in _sources(text, root, number)]
    if len(found) != 1:
        raise PolicykitError(
            f"the given koord-scheduler-config has {len(found)} documents of kind {KIND}",
            f"give one: a {KIND}, or the ConfigMap that contains it",
        )
    return found[0]._replace(alone=len(roots) == 1)


def _sources(text: str, root: Node, document: int) -> list[Source]:
    if isinstance(root.data, dict) and root.data.get("kind") == KIND:
        return [Source(text, document, (), text, root.data, False)]
    found = []
    for path, node in strings(root):
        if kinds(node.data) == {KIND}:
            inner = embedded(text, path, node).text
            inside = read_documents(inner)[0]
            if inside and path[0] == "data":
                found.append(Source(text, document, path, inner, inside.data, False))
    return found
