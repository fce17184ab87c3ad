"""A kind of fault: where it can be put into a manifest, and the codes that may speak of it."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from policykit.manifests.document_edits import apply
from policykit.manifests.embedded import apply_inside
from policykit.manifests.patch import EditError, Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject


class Change(NamedTuple):
    """One way to put a fault into a subject."""

    patches: tuple[Patch, ...] = ()
    """Relative to the subject's manifest, made one after another."""
    text: str = ""
    """The whole file with the fault, where data cannot say it."""


Inject = Callable[[Subject], Iterator[Change]]


class Fault(NamedTuple):
    """A row of the table."""

    kind: str
    codes: frozenset[str]
    inject: Inject
    elsewhere: bool = False
    """It shows at another object of the file: a name that leads nowhere, a sum."""


def fault(kind: str, codes: str, inject: Inject, *, elsewhere: bool = False) -> Fault:
    return Fault(kind, frozenset(codes.split()), inject, elsewhere)


def injected(subject: Subject, change: Change) -> str | None:
    """The file with the fault in it; None where it cannot be written there without more changing."""
    if change.text:
        return change.text if change.text != subject.text else None
    manifest, text = subject.manifest, subject.text
    try:
        if manifest.holder is not None:
            path = (*manifest.holder.base, *manifest.held_at)
            return apply_inside(text, path, change.patches, manifest.holder.document, manifest.document)
        moved = (patch._replace(path=(*manifest.base, *patch.path)) for patch in change.patches)
        return apply(text, moved, manifest.document)
    except EditError:
        return None


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """First and last line of `after`, from 1, that differ; a removal counts the lines beside it."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head + 1, max(len(new) - tail, head + 1)


def remove(path: Path) -> Change:
    return Change((Patch("remove", path),))


def put(path: Path, value: Any) -> Change:
    """The value at a path, whether something stands there or not."""
    return Change((Patch("add", path, value),))


def replace(path: Path, value: Any) -> Change:
    return Change((Patch("replace", path, value),))


def rename(path: Path, key: str) -> Change:
    return Change((Patch("rename", path, key),))


def misspelt(word: str) -> str:
    """Two neighbours in the middle swapped, as fingers do; the last letter twice where they are alike."""
    for at in range(len(word) // 2, len(word) - 1):
        if word[at] != word[at + 1] and word[at].isalpha() and word[at + 1].isalpha():
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word + word[-1:]
