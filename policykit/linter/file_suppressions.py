"""The suppressions of one file, gathered while it is read: what they hide of its findings."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.linter.finding import Finding
from policykit.linter.location import LocatedObject
from policykit.linter.suppression import Suppression, SuppressionUse, annotated, bind, comments, sift
from policykit.manifests.node import Node


class FileSuppressions:
    """Comments and annotations of one file, bound to what they cover."""

    def __init__(self, text: str, today: str) -> None:
        """`today`: YYYY-MM-DD, what suppressions with an end are held against; empty: none has ended."""
        self._comments = comments(text)
        self._today = today
        self._found: list[Suppression] = []

    def document(self, root: Node, lines: tuple[int, int], index: int) -> None:
        """A document that stands on these lines, from 0, end excluded."""
        self._found.extend(bind(self._comments, root, lines, index, self._today))

    def object(self, located: LocatedObject) -> None:
        """An object that may have the annotation."""
        node = located.manifest.node
        lines = (node.start.line + 1, node.end.line + 1)
        self._found.extend(annotated(located.manifest, lines, located.resource, self._today))

    def sift(
        self, findings: Sequence[Finding], template: bool, unfinished: set[int]
    ) -> tuple[list[Finding], tuple[SuppressionUse, ...]]:
        """The findings that nothing hides, and all suppressions.

        What those of a template or of an unfinished document (by index) could hide shows only once
        it is rendered or merged: nobody reports that they hide nothing.
        """
        uses = tuple(
            SuppressionUse(
                one._replace(judged=one.judged and not template and one.document not in unfinished),
            )
            for one in self._found
        )
        return sift(findings, uses) if uses else (list(findings), ())
