"""KAI-Scheduler: groups the pods of known kinds by itself."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import Key, Target
from policykit.model.release import ReleaseFact, Releases, Version

SCHEDULER = "kai-scheduler"
QUEUE = "kai.scheduler/queue"
"""Label of the pod or of its topmost owner."""

KEYS = (
    Key("labels", QUEUE, "queue"),
    Key("labels", QUEUE, "queue", on_owner=True),
)


RELEASES = Releases("KAI-Scheduler", {**dict.fromkeys(range(6, 13), 99), 13: 0}, major=0, by_patch=False)
RELEASE_FACTS = (
    ReleaseFact(
        "label",
        "runai/queue",
        gone=Version(0, 6, 0),
        instead=f"label {QUEUE}",
        source="pkg/podgrouper/podgroup/podgroup.go",
    ),
)

TARGET = Target(
    "kai",
    "KAI-Scheduler",
    frozenset({SCHEDULER}),
    KEYS,
    gangs=True,
    gang_words=("kai.scheduler",),
    releases=Lazy("policykit.targets.kai:RELEASES"),
    release_facts=Lazy("policykit.targets.kai:RELEASE_FACTS"),
    groups_itself=True,
)
