"""The coscheduling plugin of kubernetes-sigs/scheduler-plugins."""

from __future__ import annotations

from policykit.linter.target import Key, Target
from policykit.targets.coscheduling.groups import POD_GROUP, SYSTEM, read_group, read_membership

TARGET = Target(
    SYSTEM,
    "scheduler-plugins",
    keys=(Key("labels", POD_GROUP, "gang"),),
    read_group=read_group,
    read_membership=read_membership,
)
