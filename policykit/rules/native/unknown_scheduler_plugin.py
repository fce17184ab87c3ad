"""A scheduler configuration names a plugin that kube-scheduler does not have.

A name in an `enabled` list that the binary does not know stops the scheduler when it starts.
In a `disabled` list, or in `pluginConfig` alone, it has no effect. Plugins built into a
scheduler of your own are listed in the policy under `lint.extra_plugins`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.nearest import nearest

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: ai-scheduler
  plugins:
    score:
      enabled:
      - name: GPUAffinity
        weight: 2
"""

GOOD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: ai-scheduler
  plugins:
    score:
      enabled:
      - name: NodeResourcesFit
        weight: 2
"""

IN_TREE = frozenset(
    {
        "DefaultBinder",
        "DefaultPreemption",
        "DynamicResources",
        "GangScheduling",
        "ImageLocality",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeDeclaredFeatures",
        "NodeName",
        "NodePorts",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "NodeVolumeLimits",
        "PodGroupPodsCount",
        "PodTopologySpread",
        "PrioritySort",
        "SchedulingGates",
        "TaintToleration",
        "TopologyPlacementGenerator",
        "VolumeBinding",
        "VolumeRestrictions",
        "VolumeZone",
    }
)
"""Every name of kube-scheduler 1.36, gated ones included. Source: `plugins/names/names.go`."""

_OLD = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Still known under v1beta2 and v1beta3, refused by name under v1."""

_NOW_STRATEGIES = frozenset(
    {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}
)
_KOORDINATOR = frozenset(
    {
        "Coscheduling",
        "DefaultPreBind",
        "DeviceShare",
        "ElasticQuota",
        "LoadAwareScheduling",
        "NodeNUMAResource",
        "NodeResourcesFitPlus",
        "Reservation",
        "ScarceResourceAvoidance",
        "SchedulingHint",
        "BatchResourceFit",
    }
)
"""Plugins of koord-scheduler 1.3 to 1.8; which of them a version has is another rule's matter."""
_COMMON = ("Coscheduling",)
"""Names that plugins of other projects have too."""
_KOORDINATOR_PROFILE = "koord-scheduler"
_POINTS_ALL = "*"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The object itself."""
    extra = context.cluster.lint.extra_plugins if context.cluster else ()
    yield from check_config(manifest.data, extra)


def check_config(
    data: Mapping[str, Any], extra: Collection[str] = (), base: Path = ()
) -> Iterator[Violation]:
    """A KubeSchedulerConfiguration as plain data; `base` leads to it in its manifest.

    Each unknown name is reported once per profile, where it does most harm.
    """
    version = data.get("apiVersion")
    known = IN_TREE | frozenset(extra)
    if isinstance(version, str) and version.rpartition("/")[2].startswith("v1beta"):
        known |= _OLD
    profiles = data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if not isinstance(profile, Mapping):
            continue
        named = list(_named(profile))
        here = known | _KOORDINATOR if _is_koordinator(profile, named) else known
        seen: set[str] = set()
        for where, path, name in named:
            if name not in here and name not in seen:
                seen.add(name)
                yield _violation(where, (*base, "profiles", position, *path), name, here)


def _named(profile: Mapping[str, Any]) -> Iterator[tuple[str, Path, str]]:
    """(enabled, disabled or pluginConfig; path in the profile; plugin name), enabled ones first."""
    points = profile.get("plugins")
    for where in ("enabled", "disabled"):
        for point in points if isinstance(points, Mapping) else ():
            path = ("plugins", point, where)
            yield from ((where, found, name) for found, name in _names(profile, path))
    yield from (("pluginConfig", found, name) for found, name in _names(profile, ("pluginConfig",)))


def _names(profile: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    listed = lookup(profile, path)
    for position, _ in enumerate(listed if isinstance(listed, list) else ()):
        found = (*path, position, "name")
        name = lookup(profile, found)
        if isinstance(name, str) and name and name != _POINTS_ALL:
            yield found, name


def _is_koordinator(profile: Mapping[str, Any], named: list[tuple[str, Path, str]]) -> bool:
    """Its own profile name, or a plugin that no other scheduler has."""
    scheduler = profile.get("schedulerName")
    if isinstance(scheduler, str) and _KOORDINATOR_PROFILE in scheduler:
        return True
    return any(name in _KOORDINATOR and name not in _COMMON for _, _, name in named)


def _violation(where: str, path: Path, name: str, known: Collection[str]) -> Violation:
    if where == "enabled":
        effect = "a scheduler without it stops at start-up"
    else:
        effect = f"naming it in {where} has no effect"
    return Violation(path, f"kube-scheduler has no plugin {name}: {effect}", _advice(name, known))


def _advice(name: str, known: Collection[str]) -> str:
    if name in _NOW_STRATEGIES:
        return "it became a scoringStrategy of NodeResourcesFit in 1.22; set it in that plugin's args"
    if name in _OLD:
        return "NodeVolumeLimits took over its work"
    near = nearest(name, tuple(sorted(known)), 0.8)
    if near:
        return f"did you mean {near}?"
    return "if your scheduler is built with it, list it in the policy under lint.extra_plugins"


RULE = Rule(
    code="PK801",
    name="unknown-scheduler-plugin",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"KubeSchedulerConfiguration"}),
)
