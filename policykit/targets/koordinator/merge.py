"""Our entries put into a given koord-scheduler-config, every other line kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.amend import apply
from policykit.manifests.embedded import apply_inside
from policykit.manifests.patch import APPEND, Patch, differences
from policykit.manifests.path import Path
from policykit.targets.koordinator import config
from policykit.targets.koordinator.config import FIT_PLUS, Source
from policykit.targets.koordinator.packing import Packing
from policykit.targets.koordinator.scores import Fit

_FIRST = "Reservation"
"""Must run before everything else at preScore."""


def merged(source: Source, name: str, packing: Packing) -> str:
    """The given text with NodeResourcesFitPlus in the profile of schedulerName `name`.

    Raises PolicykitError where there is no such profile or the text cannot be edited in place.
    """
    changes = patches(source.data, name, packing)
    if source.path:
        return apply_inside(source.text, source.path, changes, source.document)
    return apply(source.text, changes, source.document)


def patches(data: Mapping[str, Any], name: str, packing: Packing) -> tuple[Patch, ...]:
    """What to change in a KubeSchedulerConfiguration; empty where it already says so."""
    position, profile = config.profile(data, name)
    base: Path = ("profiles", position)
    return (
        *_arguments(profile, base, str(data.get("apiVersion")), packing.fit),
        *_enabled(profile, base, "preScore", FIT_PLUS, None),
        *_enabled(profile, base, "score", FIT_PLUS, packing.weight),
        *_preference(profile, base, packing.affinity),
    )


def _arguments(
    profile: Mapping[str, Any], base: Path, api_version: str, fit: Mapping[str, Fit]
) -> Iterator[Patch]:
    # A map by resource name, where NodeResourcesFit has a list.
    resources = {resource: {"type": each.type, "weight": each.weight} for resource, each in fit.items()}
    wanted = {"apiVersion": api_version, "kind": f"{FIT_PLUS}Args", "resources": resources}
    given = profile.get("pluginConfig")
    for position, each in enumerate(given if isinstance(given, list) else ()):
        if isinstance(each, dict) and each.get("name") == FIT_PLUS:
            here = (*base, "pluginConfig", position, "args")
            args = each.get("args")
            if not isinstance(args, dict):
                yield Patch("add", here, wanted)
                return
            # apiVersion and kind may be left out; where they stand they must be right.
            yield from differences(args, {**args, **{k: wanted[k] for k in wanted if k in args}}, here)
            if "resources" not in args:
                yield Patch("add", (*here, "resources"), resources)
            return
    yield Patch("add", (*base, "pluginConfig", APPEND), {"name": FIT_PLUS, "args": wanted})


def _enabled(
    profile: Mapping[str, Any], base: Path, point: str, plugin: str, weight: int | None
) -> Iterator[Patch]:
    """The plugin enabled once at a point, behind Reservation, with the weight."""
    entry: dict[str, Any] = {"name": plugin} if weight is None else {"name": plugin, "weight": weight}
    names = list(config.point(profile, point).enabled)
    here = (*base, "plugins", point, "enabled")
    if plugin in names:
        position = _position(profile, point, plugin)
        if weight is None and _FIRST in names and names.index(plugin) < names.index(_FIRST):
            yield Patch("remove", (*here, position))
            yield Patch("add", (*here, APPEND), entry)
        elif weight is not None and _stated_weight(profile, point, position) != weight:
            yield Patch("add", (*here, position, "weight"), weight)
        return
    everywhere = config.point(profile, "multiPoint").enabled
    if plugin in everywhere and not config.point(profile, point).disables(plugin):
        position = _position(profile, "multiPoint", plugin)
        if weight is not None and _stated_weight(profile, "multiPoint", position) != weight:
            yield Patch("add", (*base, "plugins", "multiPoint", "enabled", position, "weight"), weight)
        return
    yield Patch("add", (*here, APPEND), entry)


def _preference(profile: Mapping[str, Any], base: Path, weight: int | None) -> Iterator[Patch]:
    if weight is None:
        return
    before = config.point(profile, "preScore")
    if before.disables("NodeAffinity") and "NodeAffinity" not in before.enabled:
        yield Patch("add", (*base, "plugins", "preScore", "enabled", APPEND), {"name": "NodeAffinity"})
    yield from _enabled(profile, base, "score", "NodeAffinity", weight)


def _position(profile: Mapping[str, Any], point: str, plugin: str) -> int:
    entries = profile["plugins"][point]["enabled"]
    return next(i for i, each in enumerate(entries) if isinstance(each, dict) and each.get("name") == plugin)


def _stated_weight(profile: Mapping[str, Any], point: str, position: int) -> object:
    return profile["plugins"][point]["enabled"][position].get("weight")
