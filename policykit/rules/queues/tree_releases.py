"""Findings about trees of queues where no release is stated and only some have trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policykit.linter.rule import Violation
from policykit.model.declared_queues import QueueSemantics
from policykit.model.severity import Severity


def of_trees(found: Iterable[Violation], semantics: QueueSemantics) -> Iterator[Violation]:
    """As warnings that name the releases, where not every supported one agrees."""
    since = semantics.trees_since
    for each in found:
        if since:
            severity = Severity.WARNING if each.severity in (None, Severity.ERROR) else each.severity
            each = each._replace(severity=severity, help=f"{each.help} (trees: {since})")
        yield each
