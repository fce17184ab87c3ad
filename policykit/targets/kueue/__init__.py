"""Kueue: admits jobs by queue, beside whatever scheduler places them."""

from __future__ import annotations

from policykit.linter.target import Target
from policykit.targets.kueue.names import KEYS, POD_GROUP_TOTAL

TARGET = Target(
    "kueue", "Kueue", keys=KEYS, gang_annotations=frozenset({POD_GROUP_TOTAL}), gang_words=("kueue",)
)
