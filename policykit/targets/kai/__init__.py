"""KAI-Scheduler: groups the pods of known kinds by itself."""

from __future__ import annotations

from policykit.linter.target import Target
from policykit.targets.kai.names import KEYS, SCHEDULER

TARGET = Target(
    "kai",
    "KAI-Scheduler",
    frozenset({SCHEDULER}),
    KEYS,
    gangs=True,
    gang_words=("kai.scheduler",),
    groups_itself=True,
)
