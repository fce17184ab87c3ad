"""A target's release as the policy states it: one grammar for every system."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from policykit.errors import PolicykitError

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_TEXT = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?\Z")


class Version(NamedTuple):
    """A release number; releases compare as their numbers do."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def release(system: str, text: str, newest: str, patches: Mapping[int, int], major: int = 1) -> Version:
    """`1.8.0`, `v1.6` (the patch of that minor in `patches`), or empty for the newest known.

    `patches` holds the known minor releases of `major`. Raises PolicykitError for any other.
    """
    match = _TEXT.match(text or newest)
    minor = int(match[2]) if match and int(match[1]) == major else -1
    if match is None or minor not in patches:
        raise PolicykitError(
            f"{system} {text} is not a version policykit knows",
            f"set targets.{system.lower()}.version to a release from {major}.{min(patches)} to "
            f"{major}.{max(patches)}, such as {newest!r}",
        )
    return Version(major, minor, int(match[3]) if match[3] else patches[minor])


def stated_release(cluster: Cluster | None, system: str, parse: Callable[[str], Version]) -> Version | None:
    """The release of a system that a policy states; None: it states none, or one that `parse` refuses."""
    target = cluster.targets.get(system) if cluster else None
    if target is None or not target.version:
        return None
    try:
        return parse(target.version)
    except PolicykitError:
        return None
