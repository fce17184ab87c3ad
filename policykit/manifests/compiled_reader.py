"""The reader of `extension/tree.c`, where policykit was built with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from policykit.manifests import scalars, tree
from policykit.manifests.node import Duplicate, Lines, Node
from policykit.manifests.tree import ParsedDocument

VARIABLE = "POLICYKIT_EXTENSION"
"""0 turns the extension off. While policykit is installed, 1 builds it."""


class UnreadError(Exception):
    """The text has a document that only the reader in Python can judge."""


def _imported() -> tuple[ModuleType | None, str]:
    """The extension, or why it is not used."""
    if os.environ.get(VARIABLE) == "0":
        return None, f"off: {VARIABLE}=0"
    try:
        from policykit.manifests import _tree
    except ModuleNotFoundError:
        return None, "not built"
    except ImportError as error:
        return None, f"not usable: {error}"
    _tree.prepare(
        Node,
        scalars.WORDS,
        scalars.WORD_STARTS,
        scalars.NUMBER_STARTS,
        scalars.resolve,
        scalars.tagged,
        tree.measure,
        tree.merge,
        tree.key_text,
        tree.content_end,
        UnreadError,
    )
    return _tree, f"in use, with libyaml {_tree.LIBYAML}"


_extension: Any
_extension, STATE = _imported()
"""Whether the extension is used, and why not."""


def available() -> bool:
    """Whether the extension is there and on."""
    return _extension is not None


def documents(text: str, lines: Lines) -> Iterator[ParsedDocument]:
    """Documents of a stream, lazily. Raises UnreadError in place of the first that has a problem."""
    reader = _extension.Reader(text, lines, tree.MAX_DEPTH, tree.MAX_ALIASED, tree.MAX_VALUES)
    while (found := reader.document()) is not None:
        root, start_line, twice = found
        duplicates = tuple(Duplicate(*each) for each in twice) if twice else ()
        yield ParsedDocument(root, start_line, duplicates)
