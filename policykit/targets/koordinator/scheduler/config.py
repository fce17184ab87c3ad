"""A given koord-scheduler-config: where it stands, its profile, and which plugins score in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.manifests.edit import read as read_documents
from policykit.manifests.embedded import embedded, kinds, strings
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError
from policykit.manifests.path import Path
from policykit.targets.koordinator.versions import COSCHEDULING_SCORES
from policykit.targets.release import Version

KIND = "KubeSchedulerConfiguration"
PROFILE = "koord-scheduler"
"""schedulerName of the chart's profile."""
FIT_PLUS = "NodeResourcesFitPlus"
SCARCE = "ScarceResourceAvoidance"
FIT = "NodeResourcesFit"
BALANCED = "NodeResourcesBalancedAllocation"
FIRST = "Reservation"
"""Must run before everything else at preScore and reserve."""

DEFAULT_SCORES: Mapping[str, int] = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
"""In-tree plugins that score unless they are disabled (kube-scheduler 1.28 to 1.35)."""
_NEVER_SCORE = frozenset(
    {
        *("SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "NodePorts", "VolumeZone"),
        *("VolumeRestrictions", "NodeVolumeLimits", "DefaultPreemption", "DefaultBinder", "DefaultPreBind"),
        *("ElasticQuota", "SchedulingHint"),
    }
)


class Source(NamedTuple):
    """A scheduler configuration in a text: the document itself, or a string of a ConfigMap."""

    text: str
    document: int
    path: Path
    """Of the string in its document; empty for a configuration of its own."""
    inner: str
    """The configuration's own text."""
    data: Mapping[str, Any]
    alone: bool
    """The text holds nothing but this document."""

    @property
    def api_version(self) -> str:
        stated = self.data.get("apiVersion")
        return stated if isinstance(stated, str) else ""


def read(text: str) -> Source:
    """Finds the configuration. Raises PolicykitError where there is none, or more than one."""
    try:
        roots = read_documents(text)
    except EditError as error:
        hint = "give the file as rendered (helm template), not the chart's template"
        # Why it is not YAML would quote it.
        what = error.message.partition(": ")[0]
        raise PolicykitError(f"koord-scheduler-config: {what}", hint, error.place) from error
    found = [source for number, root in enumerate(roots) if root for source in _sources(text, root, number)]
    if len(found) != 1:
        raise PolicykitError(
            f"the koord-scheduler-config given holds {len(found)} documents of kind {KIND}",
            f"give one: a {KIND}, or the ConfigMap that carries it",
        )
    return found[0]._replace(alone=len(roots) == 1)


def _sources(text: str, root: Node, document: int) -> list[Source]:
    if isinstance(root.data, dict) and root.data.get("kind") == KIND:
        return [Source(text, document, (), text, root.data, False)]
    found = []
    for path, node in strings(root):
        if kinds(node.data) == {KIND}:
            inner = embedded(text, path, node).text
            inside = read_documents(inner)[0]
            if inside and path[0] == "data":
                found.append(Source(text, document, path, inner, inside.data, False))
    return found


def profile(data: Mapping[str, Any], name: str) -> tuple[int, Mapping[str, Any]]:
    """Position and content of the profile of a schedulerName. Raises PolicykitError without it."""
    profiles = data.get("profiles")
    names = []
    for position, each in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(each, dict):
            names.append(str(each.get("schedulerName", "default-scheduler")))
            if names[-1] == name:
                return position, each
    raise PolicykitError(
        f"koord-scheduler-config has no profile for schedulerName {name}, only: {', '.join(names) or 'none'}",
        "set targets.koordinator.schedulerName to the profile the workloads use",
        path=("targets", "koordinator", "schedulerName"),
    )


class PluginSet(NamedTuple):
    """What a profile says of one extension point."""

    enabled: Mapping[str, int]
    """Plugin to weight (1 where unstated), in order."""
    disabled: frozenset[str]

    def disables(self, plugin: str) -> bool:
        return plugin in self.disabled or "*" in self.disabled


def point(profile: Mapping[str, Any], name: str) -> PluginSet:
    """An extension point of `plugins`, empty where the profile does not mention it."""
    plugins = profile.get("plugins")
    given = plugins.get(name) if isinstance(plugins, dict) else None
    stated = given if isinstance(given, dict) else {}
    enabled = {each["name"]: _weight(each.get("weight")) for each in _named(stated.get("enabled"))}
    return PluginSet(enabled, frozenset(each["name"] for each in _named(stated.get("disabled"))))


def arguments(profile: Mapping[str, Any], plugin: str) -> Mapping[str, Any]:
    for each in _named(profile.get("pluginConfig")):
        if each["name"] == plugin and isinstance(each.get("args"), dict):
            args: Mapping[str, Any] = each["args"]
            return args
    return {}


def scoring_plugins(profile: Mapping[str, Any], version: Version) -> dict[str, int]:
    """Every plugin that scores, with its weight: the point itself, then multiPoint, then the defaults.

    Source: `expandMultiPointPlugins` and `getScoreWeights` of the scheduler framework.
    """
    specific, multi = point(profile, "score"), point(profile, "multiPoint")
    everywhere = {n: w for n, w in DEFAULT_SCORES.items() if not multi.disables(n)} | dict(multi.enabled)
    found = dict(specific.enabled)
    for name, weight in everywhere.items():
        if not specific.disables(name) and name not in found and scores(name, version):
            found[name] = weight
    return found


def scores(plugin: str, version: Version) -> bool:
    """Whether a plugin takes part in scoring at all; one policykit does not know is taken to."""
    if plugin == "Coscheduling":
        return version >= COSCHEDULING_SCORES
    return plugin not in _NEVER_SCORE


def _named(entries: object) -> list[dict[str, Any]]:
    given = entries if isinstance(entries, list) else []
    return [each for each in given if isinstance(each, dict) and isinstance(each.get("name"), str)]


def _weight(stated: object) -> int:
    return stated if isinstance(stated, int) and stated > 0 else 1
