"""Files of which not everything fits into memory at once: a list is read item by item."""

from __future__ import annotations

from policykit.linter.reader import Text, has_expressions, has_signs
from policykit.manifests.parser import ParsedDocument

_LARGE = 4_000_000
"""Characters from which a file is worth it: it takes a fifth more time."""
_COMMENT = "policykit:"
"""A comment that concerns lines, whatever is in them: which objects these are is known of a whole only."""


def is_large(text: str) -> bool:
    """Whether a file counts as large."""
    return len(text) > _LARGE


def document_by_item(text: Text) -> ParsedDocument | None:
    """The only document of a file, if it is a list that can be judged item by item: see `large_list`."""
    from policykit.manifests.large_lists import large_list

    if text.problem or _COMMENT in text.text or has_signs(text.text) or has_expressions(text.text):
        return None
    return large_list(text.text)
