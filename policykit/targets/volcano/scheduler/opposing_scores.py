"""Which plugins pack pods onto used nodes, and which spread them over empty ones."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin

RESOURCE_LISTS = {
    "binpack": "binpack.resources",
    "network-topology-aware": "hypernode.binpack.resources",
}
"""Plugin to the argument that lists resources; the key of a weight is that name, a dot and the resource."""


_SHIPPED = ("nodeorder", "binpack")


class Score(NamedTuple):
    """A score that counts."""

    what: str
    path: Path
    plugin: str
    packs: bool


def opposing_scores(made: Configuration) -> Problem | None:
    """The conflict of the first score that spreads and the first that packs."""
    found = [score for plugin in made.plugins for score in _scores(plugin)]
    packing = [score for score in found if score.packs]
    for spreads in (score for score in found if not score.packs):
        packs = next((score for score in packing if _opposes(score, spreads)), None)
        if packs:
            return _opposed(spreads, packs)._replace(severity=_as_shipped(made, spreads, packs))
    return None


def _as_shipped(made: Configuration, spreads: Score, packs: Score) -> Severity | None:
    """Volcano's own file lists both plugins without arguments."""
    silent = all(not plugin.arguments for name in _SHIPPED if (plugin := made.plugin(name)))
    return Severity.INFO if silent and (spreads.plugin, packs.plugin) == _SHIPPED else None


def _opposes(packs: Score, spreads: Score) -> bool:
    """Only nodeorder can conflict with itself: other plugins set the direction per resource."""
    return packs.plugin != spreads.plugin or packs.plugin == "nodeorder"


def _opposed(spreads: Score, packs: Score) -> Problem:
    if spreads.plugin == "nodeorder":
        advice = "set leastrequested.weight: 0 in the arguments of nodeorder, or remove what packs"
    else:
        advice = f"keep either {spreads.what} or {packs.what}"
    return Problem(
        spreads.path,
        f"{spreads.what} spreads pods that {packs.what} packs: which one wins depends on the pod",
        advice,
    )


def listed_resources(plugin: Plugin) -> tuple[str, ...]:
    """Resources that the plugin's list names."""
    written = plugin.arguments.get(RESOURCE_LISTS[plugin.name])
    return tuple(name.strip() for name in written.split(",")) if isinstance(written, str) else ()


def _scores(plugin: Plugin) -> Iterator[Score]:
    if not plugin.on("enableNodeOrder"):
        return
    if plugin.name == "binpack" and (weight := _weight(plugin, "binpack.weight", 1)):
        packs = weight > 0
        what = "binpack" if packs else "a negative binpack.weight"
        yield Score(what, (*plugin.path, "name"), "binpack", packs)
    if plugin.name == "nodeorder":
        for key, default, packs in (("leastrequested.weight", 1, False), ("mostrequested.weight", 0, True)):
            if _weight(plugin, key, default) > 0:
                yield Score(f"{key} of nodeorder", _place(plugin, key), "nodeorder", packs)
    if plugin.name == "resource-strategy-fit" and _weight(plugin, "resourceStrategyFitWeight", 10) > 0:
        listed = mapping(plugin.arguments.get("resources")) or {"cpu": {}, "memory": {}}
        types = {_type(entry) for entry in listed.values()}
        for kind in sorted(types):
            what = f"{kind} of resource-strategy-fit"
            yield Score(what, _place(plugin, "resources"), plugin.name, kind == "MostAllocated")


def _type(entry: object) -> str:
    return "MostAllocated" if mapping(entry).get("type") == "MostAllocated" else "LeastAllocated"


def _place(plugin: Plugin, key: str) -> Path:
    return (*plugin.path, "arguments", key) if key in plugin.arguments else (*plugin.path, "name")


def _weight(plugin: Plugin, key: str, default: int) -> float:
    """A quoted whole number counts as a number: the type check reports that Volcano ignores it."""
    value = plugin.arguments.get(key, default)
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 19:
        return int(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else default
