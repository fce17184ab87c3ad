"""Koordinator releases policykit knows, and which scheduler configurations each can start with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.targets.release import Version, release

NEWEST = "1.8.0"
GROUP = "kubescheduler.config.k8s.io"


class Decodes(NamedTuple):
    """Versions of KubeSchedulerConfiguration, without the group."""

    outer: tuple[str, ...]
    """What the binary reads at all."""
    args: tuple[str, ...]
    """In which of them Koordinator's own plugin args are registered."""
    fit_plus: tuple[str, ...] = ()
    """In which of them NodeResourcesFitPlusArgs is: elsewhere the plugin stops the scheduler."""


_BOTH = ("v1beta3", "v1")
_DECODES: Mapping[Version, Decodes] = {
    Version(1, 4, 0): Decodes(("v1beta2", "v1beta3"), ("v1beta2",)),
    Version(1, 5, 0): Decodes(_BOTH, ("v1beta3",)),
    Version(1, 6, 0): Decodes(_BOTH, _BOTH, ("v1beta3",)),
    Version(1, 6, 1): Decodes(_BOTH, _BOTH, _BOTH),
    Version(1, 7, 0): Decodes(_BOTH, _BOTH, _BOTH),
    Version(1, 8, 0): Decodes(("v1",), ("v1",), ("v1",)),
}
"""Each row holds up to the next. Source: register.go of each config version at the release tags."""

FIT_PLUS = Version(1, 6, 0)
"""NodeResourcesFitPlus and ScarceResourceAvoidance."""
PRE_ENQUEUE = Version(1, 7, 0)
"""Gangs wait at preEnqueue, and the queue is sorted by PrioritySort."""
COSCHEDULING_SCORES = Version(1, 8, 0)

_CHARTS: Mapping[int, int] = {4: 1, 5: 0, 6: 0, 7: 0, 8: 0}
"""Minor release of Koordinator 1 to the patch its last chart installs."""


def parse(text: str) -> Version:
    """`1.8.0`, `v1.6` (the patch its chart installs), or empty for the newest known.

    Raises PolicykitError for releases policykit has no facts about.
    """
    return release("Koordinator", text, NEWEST, _CHARTS)


def decodes(version: Version) -> Decodes:
    """Raises KeyError below the first row, which `parse` never returns."""
    rows = [row for row in _DECODES if row <= version]
    return _DECODES[max(rows)]


def cannot_start(version: Version, api_version: str) -> str:
    """Why a configuration of this apiVersion with NodeResourcesFitPlus stops the scheduler; or empty."""
    group, _, outer = api_version.partition("/")
    known = decodes(version)
    if group != GROUP or outer not in known.outer:
        right = " or ".join(f"{GROUP}/{name}" for name in known.fit_plus)
        return f"koord-scheduler {version} reads no configuration of apiVersion {api_version}: write {right}"
    if outer in known.fit_plus:
        return ""
    return (
        f"koord-scheduler {version} has no NodeResourcesFitPlusArgs in {api_version} and stops at start: set "
        f"the scheduler's image tag to v1.6.1, or write the configuration in {GROUP}/v1beta3"
    )
