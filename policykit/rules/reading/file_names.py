"""What the name of a file says about the objects in it."""

from __future__ import annotations

import re

_PART = r"(?:\A|[/._-])(?:patch(?:es)?|(?:pod[-_]?)?template)(?:[._-][^/]*)?\Z"
_PATCH = r"(?:\A|[/._-])patch(?:es)?(?:[._-][^/]*)?\Z"


def says_part(path: str) -> bool:
    """Whether a file has patches or templates, which need not be complete objects."""
    return ("patch" in path or "template" in path) and re.search(_PART, path) is not None


def says_patch(path: str) -> bool:
    """Whether a file has patches, which a kustomization may list only at times."""
    return "patch" in path and re.search(_PATCH, path) is not None
