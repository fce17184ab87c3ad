"""A scheduler configuration names a plugin that kube-scheduler does not have.

An unknown name in an `enabled` list stops the scheduler at start-up. In a `disabled` list, or only in
`pluginConfig`, it has no effect. Plugins of scheduler-plugins and of Katalyst are reported once, as
information: the images of these projects have them. So is a name like no other in a ConfigMap, which
may be of the image that mounts it: PK814 tells where that is Kubernetes' own. List plugins built into your
own scheduler in the policy under `lint.extraPlugins`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets import added_plugins
from policykit.targets.kubernetes.scheduler.plugins import (
    IN_TREE,
    KATALYST_PLUGINS,
    SCHEDULER_PLUGINS,
    STRATEGY_PLUGINS,
    VOLUME_LIMITS,
    VOLUME_LIMITS_END,
    formerly_known,
    in_tree_plugins,
)
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

_POINTS_ALL = "*"
_OF_OTHER_IMAGES = {
    **dict.fromkeys(SCHEDULER_PLUGINS, "scheduler-plugins"),
    **dict.fromkeys(KATALYST_PLUGINS, "Katalyst"),
}
_IDENTIFYING_LENGTH = 8
"""Letters from which the end of a name identifies it."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The object itself."""
    version = context.cluster.kubernetes_version if context.cluster else ""
    minor = parse(version).minor if version else None
    beside = manifest.holder is not None and manifest.holder.kind == "ConfigMap"
    for found in check_config(manifest.data, context.plugins, minor=minor):
        own = beside and found.help == _OWN
        yield found._replace(severity=Severity.INFO) if own else found


def check_config(
    data: Mapping[str, Any], extra: Collection[str] = (), base: Path = (), minor: int | None = None
) -> Iterator[Violation]:
    """A KubeSchedulerConfiguration as plain data; `base` leads to it in its manifest.

    `minor`: of the Kubernetes release; None: a name that any release knows is known.
    Each unknown name is reported once per profile, where it does most harm.
    """
    added = added_plugins(data)
    here = in_tree_plugins(minor) | frozenset(extra) | formerly_known(data.get("apiVersion")) | added
    profiles = data.get("profiles")
    elsewhere: dict[str, Path] = {}
    for position, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if not isinstance(profile, dict):
            continue
        seen: set[str] = set()
        for where, path, name in _named(profile):
            if name in here or name in seen or _is_disabled_before_its_end(where, name, minor):
                continue
            seen.add(name)
            full = (*base, "profiles", position, *path)
            if added or name not in _OF_OTHER_IMAGES:
                yield _violation(where, full, name, here, minor)
            elif where == "enabled":
                elsewhere.setdefault(name, full)
    yield from _of_another_image(elsewhere)


def _is_disabled_before_its_end(where: str, name: str, minor: int | None) -> bool:
    return where == "disabled" and name in VOLUME_LIMITS and minor is not None and minor < VOLUME_LIMITS_END


def _of_another_image(named: Mapping[str, Path]) -> Iterator[Violation]:
    """Once per configuration: one scheduler reads all of it."""
    if not named:
        return
    for project in dict.fromkeys(map(_OF_OTHER_IMAGES.__getitem__, named)):
        names = [name for name in named if _OF_OTHER_IMAGES[name] == project]
        be, it = ("is a plugin", "it") if len(names) == 1 else ("are plugins", "them")
        yield Violation(
            named[names[0]],
            f"{', '.join(names)} {be} of {project}: the kube-scheduler image does not start with {it}",
            f"run an image of {project}, and list its plugins in the policy under lint.extraPlugins",
            Severity.INFO,
        )


def _named(profile: Mapping[str, Any]) -> Iterator[tuple[str, Path, str]]:
    """(enabled, disabled or pluginConfig; path in the profile; plugin name), enabled ones first."""
    points = profile.get("plugins")
    for where in ("enabled", "disabled"):
        for point in points if isinstance(points, dict) else ():
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


_OWN = "if it is built into your scheduler, list it in the policy under lint.extraPlugins"


def _violation(where: str, path: Path, name: str, there: Collection[str], minor: int | None) -> Violation:
    refused = where == "enabled" or (where == "pluginConfig" and name in VOLUME_LIMITS)
    effect = "the scheduler does not start" if refused else f"it has no effect in {where}"
    release = f" 1.{minor}" if name in IN_TREE else ""
    if where == "disabled" and name in VOLUME_LIMITS and minor is None:
        release = f" from 1.{VOLUME_LIMITS_END} on"
    advice = _advice(name, there)
    whose = "the image of " if advice == _OWN and refused else ""
    effect = "a scheduler with it does not start" if whose else effect
    return Violation(path, f"{whose}kube-scheduler{release} has no plugin {name}: {effect}", advice)


def _advice(name: str, there: Collection[str]) -> str:
    if name in IN_TREE:
        return f"it requires Kubernetes 1.{IN_TREE[name]} or later"
    if name in STRATEGY_PLUGINS:
        return "since 1.22 it is a scoringStrategy of NodeResourcesFit; set it in that plugin's args"
    if name in VOLUME_LIMITS:
        return "use NodeVolumeLimits, which replaced it"
    near = _near(name, there)
    if near:
        return f"did you mean {near}?"
    return _OWN


def _near(name: str, there: Collection[str]) -> str:
    """A misspelling, or the end of exactly one longer name: BalancedAllocation."""
    longer = [each for each in there if each.endswith(name)] if len(name) >= _IDENTIFYING_LENGTH else []
    return longer[0] if len(longer) == 1 else nearest(name, tuple(sorted({*there, *SCHEDULER_PLUGINS})), 0.8)


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
