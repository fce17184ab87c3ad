"""Gangs, and how close together or far apart their pods are placed."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.model.gang import GangRule
from policykit.model.topology import LEVELS, Apartness, Closeness
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.levels import level_key
from policykit.policy.models import gang as written
from policykit.policy.models.workload import Workload

_ORDER = (*LEVELS, "node")


def gang_rule(stated: Workload) -> GangRule | None:
    """Gang settings beyond `all`; None if there are none."""
    gang = stated.gang
    if gang is None or isinstance(gang, str):
        return None
    rule = GangRule(gang.size, gang.timeout, gang.on_timeout or "")
    return rule if rule != GangRule() else None


def within(draft: Draft, path: Path, stated: written.Within | None) -> Closeness | None:
    """How close together the pods of a job are placed."""
    if stated is None or not _level(draft, (*path, "within"), stated.level):
        return None
    return Closeness(str(stated.level), stated.mode == "hard")


def across(draft: Draft, path: Path, stated: Workload) -> Apartness | None:
    """Over what the pods of a workload are spread."""
    wanted, close = stated.across, stated.within
    if wanted is None or not _level(draft, (*path, "across"), wanted.level):
        return None
    if close is not None and close.level and _ORDER.index(str(wanted.level)) <= _ORDER.index(close.level):
        message = f"pods kept within one {close.level} are all in one {wanted.level}: nothing to spread over"
        draft.problems.error((*path, "across", "level"), message, f"use a level below {close.level}")
    return Apartness(str(wanted.level), wanted.mode == "hard", wanted.skew)


def _level(draft: Draft, path: Path, level: str | None) -> bool:
    if not level:
        message = f"workload kind {path[1]}: {path[-1]} has no level"
        draft.problems.error(path, message, "add level: rack", key=True)
    elif level != "node":
        level_key(draft, (*path, "level"), level)
    return bool(level)
