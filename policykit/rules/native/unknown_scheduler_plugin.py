"""A scheduler configuration names a plugin that kube-scheduler does not have.

A name in an `enabled` list that the binary does not know stops the scheduler when it starts.
In a `disabled` list, or in `pluginConfig` alone, it has no effect. Plugins built into a
scheduler of your own are listed in the policy under `lint.extraPlugins`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.koordinator.checks.whose import PLUGIN_NAMES, is_koordinators
from policykit.targets.kubernetes.scheduler.in_tree import FIRST, known
from policykit.targets.kubernetes.versions import parse

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

_OLD = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Still known under v1beta2 and v1beta3, refused by name under v1."""

_NOW_STRATEGIES = frozenset(
    {"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}
)
_POINTS_ALL = "*"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The object itself."""
    extra = context.cluster.lint.extra_plugins if context.cluster else ()
    version = context.cluster.kubernetes_version if context.cluster else ""
    yield from check_config(manifest.data, extra, minor=parse(version).minor if version else None)


def check_config(
    data: Mapping[str, Any], extra: Collection[str] = (), base: Path = (), minor: int | None = None
) -> Iterator[Violation]:
    """A KubeSchedulerConfiguration as plain data; `base` leads to it in its manifest.

    `minor`: of the Kubernetes release; None: a name that any release knows is known.
    Each unknown name is reported once per profile, where it does most harm.
    """
    version = data.get("apiVersion")
    in_tree = known(minor) | frozenset(extra)
    if isinstance(version, str) and version.rpartition("/")[2].startswith("v1beta"):
        in_tree |= _OLD
    profiles, koordinators = data.get("profiles"), is_koordinators(data)
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if not isinstance(profile, Mapping):
            continue
        named = list(_named(profile))
        here = in_tree | PLUGIN_NAMES if koordinators else in_tree
        seen: set[str] = set()
        for where, path, name in named:
            if name not in here and name not in seen:
                seen.add(name)
                yield _violation(where, (*base, "profiles", position, *path), name, here, minor)


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


def _violation(where: str, path: Path, name: str, there: Collection[str], minor: int | None) -> Violation:
    if where == "enabled":
        effect = "a scheduler without it stops at start-up"
    else:
        effect = f"naming it in {where} has no effect"
    release = f" 1.{minor}" if name in FIRST else ""
    return Violation(path, f"kube-scheduler{release} has no plugin {name}: {effect}", _advice(name, there))


def _advice(name: str, there: Collection[str]) -> str:
    if name in FIRST:
        return f"it came with Kubernetes 1.{FIRST[name]}"
    if name in _NOW_STRATEGIES:
        return "it became a scoringStrategy of NodeResourcesFit in 1.22; set it in that plugin's args"
    if name in _OLD:
        return "NodeVolumeLimits took over its work"
    near = nearest(name, tuple(sorted(there)), 0.8)
    if near:
        return f"did you mean {near}?"
    return "if your scheduler is built with it, list it in the policy under lint.extraPlugins"


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
    options=("lint: {extraPlugins: [NAME]} lists plugins that your scheduler is built with",),
)
