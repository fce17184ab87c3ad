"""Which releases of Koordinator a manifest may be for: what one of them accepts is no fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policykit.errors import PolicykitError
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.checks.outdated import newer
from policykit.targets.koordinator.names import SYSTEM
from policykit.targets.koordinator.versions import GROUP
from policykit.targets.release import Version

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

KNOWN = (
    *(Version(1, 4, 0), Version(1, 5, 0), Version(1, 6, 0)),
    *(Version(1, 6, 1), Version(1, 7, 0), Version(1, 8, 0)),
)
"""One for each way that a release of the last years differs from the one before."""


def stated(cluster: Cluster | None) -> Version | None:
    """The release a policy names; None: none does."""
    target = cluster.targets.get(SYSTEM) if cluster else None
    if target is None or not target.version:
        return None
    try:
        return versions.parse(target.version)
    except PolicykitError:
        return None


def possible(cluster: Cluster | None) -> tuple[Version, ...]:
    """The stated release, or every known one."""
    found = stated(cluster)
    return (found,) if found else KNOWN


def reading(data: Mapping[str, Any], cluster: Cluster | None) -> tuple[Version, ...]:
    """Those that start with the apiVersion of a configuration; all that are possible where none does, or
    where the rest of it is for later ones: then the apiVersion is to blame."""
    all_of_them = possible(cluster)
    readers = starting(data, all_of_them)
    return all_of_them if not readers or newer(data, readers, all_of_them) else readers


def starting(data: Mapping[str, Any], found: tuple[Version, ...]) -> tuple[Version, ...]:
    """Those of the releases that know the apiVersion of a configuration."""
    return tuple(each for each in found if starts_with(data.get("apiVersion"), each))


def starts_with(api_version: object, version: Version) -> bool:
    """Whether the args of Koordinator's plugins are known under this apiVersion."""
    group, _, outer = api_version.partition("/") if isinstance(api_version, str) else ("", "", "")
    return group == GROUP and outer in versions.decodes(version).args


def named(found: tuple[Version, ...]) -> str:
    """Koordinator 1.8.0, or Koordinator 1.4 to 1.8."""
    if len(found) == 1:
        return f"Koordinator {found[0]}"
    return f"Koordinator {found[0].major}.{found[0].minor} to {found[-1].major}.{found[-1].minor}"
