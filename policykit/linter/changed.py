"""Which documents of a file are others than before."""

from __future__ import annotations

from collections import Counter

from policykit.linter.reader import decode, documents


def changed_documents(before: bytes, now: bytes) -> frozenset[int]:
    """Indices of the documents whose text stood nowhere in the file as it was.

    Blank lines and `---` between documents, line endings and the order of the documents make none
    of them another one. Of a document that stands there once more, the later copy is new.
    """
    old = Counter(_texts(before))
    changed = []
    for position, text in enumerate(_texts(now)):
        if old[text] > 0:
            old[text] -= 1
        else:
            changed.append(position)
    return frozenset(changed)


def _texts(raw: bytes) -> list[str]:
    text = decode(raw)
    lines = [line.removesuffix("\r") for line in text.text.split("\n")]
    starts = [document.start_line for document in documents(text)]
    if not starts:
        return []
    # What stands before the first document belongs to it.
    starts[0] = 0
    return [_own(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _own(lines: list[str]) -> str:
    """The text of a document without what divides it from others."""
    marked = lines and lines[0].rstrip() == "---"
    return "\n".join(lines[1:] if marked else lines).strip("\n")
