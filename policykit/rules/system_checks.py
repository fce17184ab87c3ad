"""Parts of rules about all systems that only one system needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policykit.lazy import Lazy
from policykit.linter.rule import Context, Violation

SYSTEM_CHECKS: Mapping[str, tuple[Lazy[Callable[[Any, Context], Iterable[Violation]]], ...]] = {
    "PK213": (Lazy("policykit.rules.kai.card_fractions:check"),),
    "PK310": (
        Lazy("policykit.rules.volcano.metadata:check"),
        Lazy("policykit.rules.koordinator.gang_metadata:check"),
        Lazy("policykit.rules.yunikorn.gang_metadata:check"),
        Lazy("policykit.rules.kueue.gang_metadata:check"),
        Lazy("policykit.rules.kai.gang_metadata:check"),
    ),
    "PK410": (Lazy("policykit.rules.volcano.metadata:check_queue_annotations"),),
}
"""What single systems add to rules about all systems, by code; imported when such a rule asks for it."""


def system_violations(code: str, subject: object, context: Context) -> Iterator[Violation]:
    """What SYSTEM_CHECKS of a rule find in its subject."""
    for check in SYSTEM_CHECKS[code]:
        yield from check.load()(subject, context)
