"""A koord-scheduler-config beside what the policy makes of it, and beside the chart's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.targets.koordinator.checks import whose
from policykit.targets.koordinator.names import SYSTEM
from policykit.targets.koordinator.scheduler import chart, config, profiles, repair
from policykit.targets.koordinator.versions import parse

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class Lacking(NamedTuple):
    """Something that the policy asks for and the configuration lacks."""

    path: Path
    """In the configuration; it need not exist."""
    what: str
    """In words: NodeResourcesFitPlus at preScore."""


def lacking(cluster: Cluster, data: Mapping[str, Any]) -> Iterator[Lacking]:
    """What `policykit gen` would change; nothing for a file that koord-scheduler does not start with."""
    target = cluster.targets[SYSTEM]
    name = target.scheduler_name or config.PROFILE
    try:
        version = parse(target.version)
        if repair.repaired(data, version).patches:
            return
        config.profile(data, name)
    except PolicykitError:
        yield Lacking(("profiles",), f"a profile for schedulerName {name}")
        return
    try:
        patches = profiles.drawing(cluster, target, data, name, version).patches
    except PolicykitError:
        return
    grouped: dict[str, tuple[Path, list[str]]] = {}
    for patch in patches:
        parts, of = _said(patch, data)
        _, listed = grouped.setdefault(of, (_without_append(patch.path), []))
        if parts not in listed:
            listed.append(parts)
    for of, (path, listed) in grouped.items():
        yield Lacking(path, of.replace("{}", ", ".join(listed), 1))


def beside_chart(cluster: Cluster, data: Mapping[str, Any], namespace: str) -> tuple[str, ...]:
    """Plugins that the chart does not enable, or gives other args or another weight, sorted."""
    try:
        base = chart.configuration(parse(cluster.targets[SYSTEM].version), namespace)
    except PolicykitError:
        return ()
    found: set[str] = set()
    own = _of_profiles(base)
    for name, said in _of_profiles(data).items():
        there = own.get(name)
        if there is None:
            found.add(f"profile {name}")
            continue
        found.update(plugin for (where, plugin), value in said.items() if there.get((where, plugin)) != value)
    return tuple(sorted(found))


def _of_profiles(data: Mapping[str, Any]) -> dict[str, dict[tuple[str, str], object]]:
    """Profile to (point, plugin) with its weight, and ("args", plugin) with its args."""
    found: dict[str, dict[tuple[str, str], object]] = {}
    for profile in mappings(data.get("profiles")):
        said: dict[tuple[str, str], object] = {}
        for point in whose.points(profile):
            for plugin, weight in config.point(profile, point).enabled.items():
                said[(point, plugin)] = weight if point in ("score", "multiPoint") else 1
        for _, plugin, args in whose.arguments(profile):
            said[("args", plugin)] = {k: v for k, v in args.items() if k not in ("apiVersion", "kind")}
        found[text(profile.get("schedulerName")) or "default-scheduler"] = said
    return found


def _said(patch: Patch, data: Mapping[str, Any]) -> tuple[str, str]:
    """A change in words, and the sentence that names it together with others of its kind."""
    path = patch.path[2:] if patch.path[:1] == ("profiles",) else patch.path
    if len(path) >= 3 and path[0] == "plugins":
        return _point(path, patch, lookup(data, patch.path[:2]))
    if len(path) >= 2 and path[0] == "pluginConfig":
        entry = lookup(data, (*patch.path[:2], *path[:2])) if path[1] != APPEND else patch.value
        name = text(mapping(entry).get("name"))
        fields = ".".join(str(step) for step in path[3:])
        return (fields, f"{{}} in the args of {name}") if fields else (name, "args of {}")
    name = text(mapping(patch.value).get("schedulerName"))
    return (name, "a profile for schedulerName {}") if name else (".".join(map(str, path)), "{}")


def _point(path: Path, patch: Patch, profile: object) -> tuple[str, str]:
    point, how = str(path[1]), path[2]
    if len(path) > 3 and path[-1] == "weight":
        name = text(mapping(lookup(profile, path[:4])).get("name"))
        return f"{point} with weight {patch.value}", f"{name or 'the plugin'} at {{}}"
    name = text(mapping(patch.value).get("name"))
    if patch.op == "remove":
        name = text(mapping(lookup(profile, path)).get("name"))
    if patch.op == "remove" or how == "disabled":
        return name or "a plugin", f"{point} without {{}}"
    weight = mapping(patch.value).get("weight")
    return point + (f" with weight {weight}" if weight is not None else ""), f"{name} at {{}}"


def _without_append(path: Path) -> Path:
    return path[: path.index(APPEND)] if APPEND in path else path
