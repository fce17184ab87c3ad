"""A configuration in an apiVersion that is older than what stands in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from policykit.catalogue.koordinator import fields
from policykit.targets.koordinator.checks import whose
from policykit.targets.koordinator.scheduler import points
from policykit.targets.release import Version


class Newer(NamedTuple):
    """Something that no release has which reads the file, and a later one has."""

    what: str
    """In words: NodeResourcesFitPlus, Coscheduling at score."""
    since: str
    """1.6"""


def newer(data: Mapping[str, Any], readers: Sequence[Version], known: Sequence[Version]) -> Newer | None:
    """The first of several such things; a single one is to blame itself.

    `readers`: releases that know the apiVersion, `known`: all there are.
    """
    found: list[Newer] = []
    for _, profile in whose.profiles(data):
        found += _enabled(profile, readers, known)
        found += _fields(profile, readers, known)
    return found[0] if len(found) > 1 else None


def _enabled(
    profile: Mapping[str, Any], readers: Sequence[Version], known: Sequence[Version]
) -> Iterator[Newer]:
    for point in whose.points(profile):
        for _, plugin in whose.entries(profile, point):
            first = next((each for each in known if points.implements(plugin, point, each)), None)
            if first is not None and all(each < first for each in readers):
                what = plugin if points.PLUGINS[plugin] == first else f"{plugin} at {point}"
                yield Newer(what, fields.named(first))


def _fields(
    profile: Mapping[str, Any], readers: Sequence[Version], known: Sequence[Version]
) -> Iterator[Newer]:
    for _, plugin, args in whose.arguments(profile):
        for name in fields.unknown(plugin, args, readers[-1]):
            since = fields.since(plugin, name)
            if since is not None and any(each >= since for each in known):
                yield Newer(f"{name} of {plugin}", fields.named(since))
