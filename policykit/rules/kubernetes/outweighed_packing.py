"""A profile packs nodes, but default score plugins that spread outweigh it.

Strategy MostAllocated of NodeResourcesFit gives up to 100 points times its weight, which is 1 by default.
PodTopologySpread counts twice, and NodeResourcesBalancedAllocation and ImageLocality count as well. Without
a higher weight, or with these left on, the fuller node often loses. A profile in which NodeResourcesFit does
not score ignores the strategy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.severity import Severity
from policykit.targets import added_plugins
from policykit.targets.kubernetes.scheduler.plugins import FIT, SCORE_PLUGINS

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packed
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - {name: cpu, weight: 1}
        - {name: memory, weight: 1}
"""

GOOD = BAD.replace(
    "  pluginConfig:",
    "  plugins:\n    score:\n      enabled: [{name: NodeResourcesFit, weight: 10}]\n  pluginConfig:",
)

_PACKS = "MostAllocated"
_SPREADING = ("PodTopologySpread", "NodeResourcesBalancedAllocation", "ImageLocality")
_POINTS = ("score", "multiPoint")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Profiles that leave the weights of score plugins as they are."""
    if manifest.partial or added_plugins(manifest.data):
        return
    profiles = manifest.data.get("profiles")
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if (unread := _unscored(mapping(profile))) is not None:
            yield Violation(
                ("profiles", position, "pluginConfig", unread, "args", "scoringStrategy"),
                f"scoringStrategy has no effect: {FIT} does not score in this profile",
                f"enable {FIT} at score, or delete scoringStrategy",
                Severity.WARNING,
                key=True,
            )
            continue
        at = _packing(mapping(profile))
        if at is not None and not _weighs(mapping(profile)):
            rivals = ", ".join(f"{name} {_most(name)}" for name in _SPREADING)
            yield Violation(
                ("profiles", position, "pluginConfig", at, "args", "scoringStrategy", "type"),
                f"{_PACKS} gives up to {_most(FIT)} points, but other default scores may spread: {rivals}",
                f"raise the weight of {FIT} at score, or disable the plugins that spread",
            )


def _unscored(profile: Mapping[str, Any]) -> int | None:
    """Index of the args whose strategy nothing asks for; None: there are none."""
    score, all_points = (mapping(mapping(profile.get("plugins")).get(point)) for point in _POINTS)
    off, off_everywhere = _names(score, "disabled"), _names(all_points, "disabled")
    on = _names(score, "enabled") | (set() if off & {FIT, "*"} else _names(all_points, "enabled"))
    if FIT in on or not (off | off_everywhere) & {FIT, "*"}:
        return None
    for at, each in enumerate(mappings(profile.get("pluginConfig"))):
        if each.get("name") == FIT and mapping(each.get("args")).get("scoringStrategy"):
            return at
    return None


def _names(point: Mapping[str, Any], field: str) -> set[str]:
    return {text(each.get("name")) for each in mappings(point.get(field))}


def _packing(profile: Mapping[str, Any]) -> int | None:
    """Index of the args that pack; None: the profile does not pack."""
    for at, each in enumerate(mappings(profile.get("pluginConfig"))):
        strategy = mapping(mapping(each.get("args")).get("scoringStrategy"))
        if each.get("name") == FIT and strategy.get("type") == _PACKS:
            return at
    return None


def _weighs(profile: Mapping[str, Any]) -> bool:
    """Whether it raises the weight of NodeResourcesFit, or disables a plugin that spreads."""
    plugins = mapping(profile.get("plugins"))
    for point in map(mapping, map(plugins.get, _POINTS)):
        raised = [each for each in mappings(point.get("enabled")) if each.get("name") == FIT]
        if any((whole(each.get("weight")) or 1) > 1 for each in raised):
            return True
        if any(each.get("name") in (*_SPREADING, "*") for each in mappings(point.get("disabled"))):
            return True
    return False


def _most(name: str) -> int:
    scorer = SCORE_PLUGINS[name]
    return scorer.weight * scorer.max_difference


RULE = Rule(
    code="PK812",
    name="outweighed-packing",
    severity=Severity.INFO,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"KubeSchedulerConfiguration"}),
)
