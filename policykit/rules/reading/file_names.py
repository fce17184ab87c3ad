"""What the name of a file says about the objects in it."""

from __future__ import annotations

import re

_PART = re.compile(r"(?:\A|[/._-])(?:patch(?:es)?|(?:pod[-_]?)?template)(?:[._-][^/]*)?\Z")
_PATCH = re.compile(r"(?:\A|[/._-])patch(?:es)?(?:[._-][^/]*)?\Z")


def says_part(path: str) -> bool:
    """Whether a file has patches or templates, which need not be complete objects."""
    return _PART.search(path) is not None


def says_patch(path: str) -> bool:
    """Whether a file has patches, which a kustomization may list only at times."""
    return _PATCH.search(path) is not None
