"""Actions and plugins of a scheduler configuration, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.catalogue.volcano.flags import OFF_UNLESS_SET
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text


class Listed(NamedTuple):
    """A plugin of a tier."""

    name: str
    tier: int
    """From 0."""
    path: Path
    data: Mapping[str, Any]

    def on(self, flag: str) -> bool:
        """Whether a hook is switched on; a flag left out counts as true, but for two."""
        value = self.data.get(flag)
        return value if isinstance(value, bool) else flag not in OFF_UNLESS_SET

    @property
    def arguments(self) -> Mapping[str, Any]:
        return mapping(self.data.get("arguments"))


class Plugins(NamedTuple):
    """All plugins of a configuration, in the order of its tiers."""

    listed: tuple[Listed, ...]

    def get(self, name: str) -> Listed | None:
        """The first of a name."""
        return next((each for each in self.listed if each.name == name), None)

    def has(self, name: str, flag: str = "") -> bool:
        """Whether it is listed, with a hook switched on."""
        return any(each.name == name and (not flag or each.on(flag)) for each in self.listed)


def plugins(data: Mapping[str, Any]) -> Plugins:
    """Items that are maps with a name; other shapes are passed over."""
    return Plugins(tuple(_listed(data)))


def _listed(data: Mapping[str, Any]) -> Iterator[Listed]:
    for tier, path, item in items(data):
        if isinstance(item, Mapping) and (name := text(item.get("name"))):
            yield Listed(name, tier, path, item)


def items(data: Mapping[str, Any]) -> Iterator[tuple[int, Path, object]]:
    """Every item in the plugins of a tier: number of the tier, place, and the item whatever it is."""
    tiers = data.get("tiers")
    for number, tier in enumerate(tiers if isinstance(tiers, list) else ()):
        listed = mapping(tier).get("plugins")
        for position, item in enumerate(listed if isinstance(listed, list) else ()):
            yield number, ("tiers", number, "plugins", position), item


def actions(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the actions as the scheduler takes them: what stands between commas, trimmed."""
    written = data.get("actions")
    return tuple(name.strip() for name in written.split(",")) if isinstance(written, str) else ()


def places(written: str) -> dict[tuple[int, int], str]:
    """The names in the text of the actions, by where each stands there; of an empty one, its comma."""
    found, start = {}, 0
    for piece in written.split(","):
        name = piece.strip()
        begin = start + (len(piece) - len(piece.lstrip()) if name else 0)
        end = begin + len(name) if name else min(start + len(piece) + 1, len(written))
        found[begin, end] = name
        start += len(piece) + 1
    return found


def for_agents(manifest: Manifest) -> bool:
    """Whether it is the configuration of the agent scheduler (1.14), which has action allocate alone."""
    return bool(manifest.held_at) and manifest.held_at[-1] == "agent-scheduler.conf"


def switched_on(value: object) -> bool:
    """Whether an argument that is a switch is on: text counts as Go's `strconv.ParseBool` reads it."""
    return value is True or (isinstance(value, str) and value in TRUE)


TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
