"""Releases of KAI-Scheduler, and what only some of them read."""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Releases, Version
from policykit.targets.kai import QUEUE

RELEASES = Releases("KAI-Scheduler", {**dict.fromkeys(range(6, 13), 99), 13: 0}, major=0, by_patch=False)
FACTS = (
    ReleaseFact(
        "label",
        "runai/queue",
        gone=Version(0, 6, 0),
        instead=f"label {QUEUE}",
        source="pkg/podgrouper/podgroup/podgroup.go",
    ),
)
