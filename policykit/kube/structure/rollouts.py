"""How a controller replaces its pods: values that only go with one strategy, or not with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.structure.problem import CLASHING, DISAGREEING, Problem
from policykit.manifests.path import dotted, lookup

_FIELDS = {"DaemonSet": "updateStrategy", "Deployment": "strategy", "StatefulSet": "updateStrategy"}
_NOTHING = (0, "0%")
_LEFT_OUT = {"DaemonSet": (1, 0), "Deployment": ("25%", "25%")}
"""Defaults of maxUnavailable and maxSurge."""


def rollout(data: dict[str, Any], kind: str) -> Iterator[Problem]:
    """Faults of the strategy of an object of apps/v1. Source: the validation of apps/v1 (v1.36)."""
    field = _FIELDS.get(kind)
    strategy = lookup(data, ("spec", field)) if field else None
    if not field or not isinstance(strategy, dict):
        return
    rolling, name = strategy.get("rollingUpdate"), strategy.get("type")
    if not isinstance(rolling, dict):
        return
    at = ("spec", field, "rollingUpdate")
    # A DaemonSet with OnDelete may keep the field: nothing reads it.
    if name == ("Recreate" if kind == "Deployment" else "OnDelete") and kind != "DaemonSet":
        message = f"{dotted(at)} stands beside type {name}, which takes none"
        yield Problem(at, CLASHING, message, "delete it (in a patch: rollingUpdate: null)", key=True)
    elif kind in _LEFT_OUT and name in (None, "", "RollingUpdate"):
        yield from _steps(rolling, kind)


def _steps(rolling: dict[str, Any], kind: str) -> Iterator[Problem]:
    default_down, default_up = _LEFT_OUT[kind]
    at = ("spec", _FIELDS[kind], "rollingUpdate")
    down, up = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    down, up = default_down if down is None else down, default_up if up is None else up
    if down in _NOTHING and up in _NOTHING:
        message = f"{dotted(at)} lets no pod be away and none be too many: nothing could be replaced"
        yield Problem(at, DISAGREEING, message, "raise maxUnavailable or maxSurge above 0")
    elif kind == "DaemonSet" and _is_some(down) and _is_some(up):
        message = f"{dotted(at)} has maxUnavailable {down} and maxSurge {up}; a DaemonSet takes one above 0"
        yield Problem(at, DISAGREEING, message, "write maxUnavailable: 0 beside maxSurge, or delete maxSurge")


def _is_some(value: object) -> bool:
    """A number above 0, or a percentage of that kind."""
    if isinstance(value, str):
        share = value.removesuffix("%")
        return share != value and share.isascii() and share.isdecimal() and share.strip("0") != ""
    return isinstance(value, int) and value > 0
