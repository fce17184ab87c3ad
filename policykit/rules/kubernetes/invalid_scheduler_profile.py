"""kube-scheduler refuses its configuration.

The scheduler reads it at start-up and exits: if it is the control plane's own, no new pod is placed
until the file is corrected. Unknown fields are errors, also in the args of plugins: a misspelt one
is as bad as a wrong number. Args without the name of their plugin are accepted, and nothing reads them.
A plugin that sorts the queue takes the place of PrioritySort, which must be disabled, also where multiPoint
enables it. Plugins that preempt in another way, CapacityScheduling or PreemptionToleration, are asked before
DefaultPreemption, which still evicts pods where they refuse to, unless it is disabled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.placeholders import is_placeholder, is_version_to_fill
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, numbered, text, whole
from policykit.model.severity import Severity
from policykit.rules.kubernetes.scheduler_arguments import argument_violations
from policykit.rules.kubernetes.scheduler_fields import field_violations
from policykit.targets import added_plugins, releases
from policykit.targets.kubernetes.scheduler.fields import GROUP
from policykit.targets.kubernetes.versions import parse

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        resources:
        - name: nvidia.com/gpu
          weight: 10
"""

GOOD = BAD.replace("      scoringStrategy:\n", "      scoringStrategy:\n        type: MostAllocated\n")

SORT, BIND = "queueSort", "bind"
_DEFAULTS = {SORT: "PrioritySort", BIND: "DefaultBinder"}
_ALL = "*"
_PREEMPTION = "DefaultPreemption"
_PREEMPTING = ("CapacityScheduling", "PreemptionToleration")
_SORTING = frozenset({"Coscheduling", "QOSSort", "TopologicalSort"})
"""Plugins of scheduler-plugins with a queueSort of their own."""
_WEIGHED = ("score", "multiPoint")
_VERSIONS = frozenset({"v1", "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"})
"""Versions that some release reads or has read."""
_NEVER: Mapping[str, tuple[str, ...]] = {
    "PrioritySort": ("filter", "score", "bind", "permit", "postFilter"),
    "DefaultBinder": ("filter", "score", "queueSort", "permit", "postFilter"),
    "DefaultPreemption": ("filter", "score", "bind", "queueSort"),
    "NodeName": ("score", "bind", "queueSort", "postFilter"),
    "NodeUnschedulable": ("score", "bind", "queueSort", "postFilter"),
    "NodePorts": ("score", "bind", "queueSort", "postFilter"),
    "ImageLocality": ("filter", "bind", "queueSort", "postFilter"),
    "NodeResourcesBalancedAllocation": ("filter", "bind", "queueSort", "postFilter"),
    "NodeResourcesFit": ("bind", "queueSort", "postFilter", "permit"),
    "NodeAffinity": ("bind", "queueSort", "postFilter", "permit"),
    "TaintToleration": ("bind", "queueSort", "postFilter", "permit"),
    "PodTopologySpread": ("bind", "queueSort", "postFilter", "permit"),
    "InterPodAffinity": ("bind", "queueSort", "postFilter", "permit"),
}
"""Plugin to extension points that it has in no release; naming it there stops the scheduler."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The whole configuration; the version where the policy states one, else the oldest supported.

    Of koord-scheduler's only what applies to every scheduler: PK601 to PK605 report the rest.
    """
    if manifest.partial:
        return
    if added := added_plugins(manifest.data):
        yield from _violations_of_every_scheduler(manifest.data, added)
        yield from field_violations(manifest.data, added)
        yield from argument_violations(manifest.data, 0)
        return
    yield from _version_violations(manifest.data)
    version = context.cluster.kubernetes_version if context.cluster else ""
    yield from _profile_violations(manifest.data)
    minor = parse(version).minor if version else None
    yield from field_violations(manifest.data, minor=minor)
    yield from argument_violations(manifest.data, minor or 0)
    yield from _arguments_of_another_release(manifest.data, context.cluster)


def _arguments_of_another_release(data: Mapping[str, Any], cluster: Cluster | None) -> Iterator[Violation]:
    """Args of plugins that other systems add to kube-scheduler. Decoding is strict."""
    listed = data.get("profiles")
    for position, profile in enumerate(listed if isinstance(listed, list) else ()):
        configs = mapping(profile).get("pluginConfig")
        for number, config in enumerate(configs if isinstance(configs, list) else ()):
            path: Path = ("profiles", position, "pluginConfig", number, "args")
            name, args = text(mapping(config).get("name")), mapping(mapping(config).get("args"))
            stated = {f"{name}: {field}": field for field in args if isinstance(field, str)}
            for each in releases.missing("plugin argument", dict.fromkeys(stated, ""), cluster):
                message = f"{each.reason}, so the scheduler does not start"
                yield Violation((*path, stated[each.fact.name]), message, each.help, key=True)


def _profile_violations(data: Mapping[str, Any]) -> Iterator[Violation]:
    """Source: `apis/config/validation` and `framework/runtime` of kube-scheduler 1.36."""
    listed = data.get("profiles")
    profiles = listed if isinstance(listed, list) else []
    yield from _names(profiles)
    yield from _sorts(profiles)
    for position, profile in enumerate(profiles):
        if isinstance(profile, dict):
            yield from _points(profile, ("profiles", position))
            yield from _preemptions(profile, ("profiles", position, "plugins"))
            yield from _weights(profile, ("profiles", position))
            yield from _configs(profile, ("profiles", position))


def _version_violations(data: Mapping[str, Any]) -> Iterator[Violation]:
    """A version that no release has read; PK007 reports those that were read once."""
    stated = data.get("apiVersion")
    group, _, number = stated.partition("/") if isinstance(stated, str) else ("", "", "")
    if group == GROUP and number not in _VERSIONS and not is_version_to_fill(number):
        yield Violation(
            ("apiVersion",),
            f"kube-scheduler has no configuration version {number}: it does not start",
            f"write {GROUP}/v1",
        )


def _violations_of_every_scheduler(data: Mapping[str, Any], own: frozenset[str]) -> Iterator[Violation]:
    """What also stops a scheduler built from kube-scheduler; `own`: plugins that it added."""
    listed = data.get("profiles")
    profiles = listed if isinstance(listed, list) else []
    if all(isinstance(profile, dict) and profile.get("schedulerName") for profile in profiles):
        yield from _names(profiles)
    for position, profile in enumerate(profiles):
        if isinstance(profile, dict):
            yield from _weights(profile, ("profiles", position))
            yield from _configs(profile, ("profiles", position), own)


def _names(profiles: list[Any]) -> Iterator[Violation]:
    seen: set[str] = set()
    for position, profile in enumerate(profiles):
        if not isinstance(profile, dict):
            continue
        name = profile.get("schedulerName")
        if name == "" and len(profiles) == 1:
            yield Violation(
                ("profiles", position, "schedulerName"),
                "schedulerName is empty: the scheduler does not start",
                "name it, or delete the line: a single profile defaults to default-scheduler",
            )
        elif name is None or name == "":
            if len(profiles) > 1:
                yield Violation(
                    ("profiles", position),
                    f"this profile has no schedulerName, but there are {len(profiles)} profiles: "
                    "the scheduler does not start",
                    "name it; only a single profile defaults to default-scheduler",
                )
        elif isinstance(name, str) and not is_placeholder(name):
            if name in seen:
                yield Violation(
                    ("profiles", position, "schedulerName"),
                    f"two profiles are named {name}: the scheduler does not start",
                    "give each profile its own name, or merge them",
                )
            seen.add(name)


def _effective(profile: Mapping[str, Any], point: str) -> list[str]:
    """Names at a point where there is one default plugin."""
    plugins = mapping(profile.get("plugins"))
    here, everywhere = mapping(plugins.get(point)), mapping(plugins.get("multiPoint"))
    off = {text(each.get("name")) for part in (here, everywhere) for each in mappings(part.get("disabled"))}
    enabled = [text(each.get("name")) for each in mappings(here.get("enabled"))]
    default = _DEFAULTS[point]
    again = [text(each.get("name")) for each in mappings(everywhere.get("enabled"))]
    if point == SORT:
        enabled += [name for name in again if name in _SORTING and name not in enabled]
    if default in again and not {default, _ALL} & {
        text(each.get("name")) for each in mappings(here.get("disabled"))
    }:
        return list(dict.fromkeys([default, *enabled]))
    return enabled if {default, _ALL} & off else list(dict.fromkeys([default, *enabled]))


def _sorts(profiles: list[Any]) -> Iterator[Violation]:
    first: list[str] | None = None
    for position, profile in enumerate(profiles):
        if not isinstance(profile, dict):
            continue
        sorts = _effective(profile, SORT)
        others = bool(mappings(mapping(mapping(profile.get("plugins")).get("multiPoint")).get("enabled")))
        path: Path = ("profiles", position, "plugins", SORT)
        if len(sorts) > 1:
            yield Violation(
                path,
                f"{' and '.join(sorts)} both sort the queue, but only one queueSort plugin is allowed",
                f"disable {sorts[0]} at queueSort",
            )
        elif not sorts and not others:
            yield Violation(
                path,
                "no plugin sorts the queue: the scheduler needs exactly one",
                "enable PrioritySort at queueSort",
            )
        if first is None:
            first = sorts
        elif len(sorts) == len(first) == 1 and sorts != first:
            yield Violation(
                path,
                f"this profile sorts the queue by {sorts[0]}, but the first one by {first[0]}: "
                "all profiles share one queue",
                "use the same queueSort plugin in every profile",
            )
        if not _effective(profile, BIND) and not others:
            yield Violation(
                ("profiles", position, "plugins", BIND),
                "no plugin binds pods: the scheduler needs at least one",
                "enable DefaultBinder at bind",
            )


def _points(profile: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    for point, lists in mapping(profile.get("plugins")).items():
        enabled = mapping(lists).get("enabled")
        seen: set[str] = set()
        for position, each in enumerate(enabled if isinstance(enabled, list) else ()):
            name = text(mapping(each).get("name"))
            path = (*base, "plugins", point, "enabled", position, "name")
            if name in seen:
                yield Violation(
                    path,
                    f"{name} is enabled twice at {point}: the scheduler does not start",
                    "delete one of them",
                )
            elif name == _ALL:
                yield Violation(
                    path,
                    "* is enabled, but works only under disabled",
                    "name the plugins",
                )
            elif point in _NEVER.get(name, ()):
                yield Violation(
                    path,
                    f"{name} is enabled at {point}, an extension point it does not have: "
                    "the scheduler does not start",
                    "enable it at multiPoint, which covers every point it has",
                )
            if name:
                seen.add(name)


def _preemptions(profile: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Source: `RunPostFilterPlugins` in `framework/runtime` of kube-scheduler 1.36."""
    plugins = mapping(profile.get("plugins"))
    points = [(point, mapping(plugins.get(point))) for point in ("postFilter", "multiPoint")]
    if {_PREEMPTION, _ALL} & {
        text(each.get("name")) for _, part in points for each in mappings(part.get("disabled"))
    }:
        return
    for point, part in points:
        for position, each in numbered(part.get("enabled")):
            if (name := text(each.get("name"))) in _PREEMPTING:
                yield Violation(
                    (*base, point, "enabled", position, "name"),
                    f"{name} preempts, but {_PREEMPTION} stays enabled and evicts pods where {name} does not",
                    f"disable {_PREEMPTION} at postFilter",
                    Severity.WARNING,
                )
                return


def _weights(profile: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Source: `getScoreWeights` in kube-scheduler's framework 1.36: the sum of the weights overflows."""
    for point in _WEIGHED:
        enabled = mapping(mapping(profile.get("plugins")).get(point)).get("enabled")
        for position, each in enumerate(enabled if isinstance(enabled, list) else ()):
            weight = whole(mapping(each).get("weight"))
            if weight is not None and weight < 0:
                yield Violation(
                    (*base, "plugins", point, "enabled", position, "weight"),
                    f"{text(mapping(each).get('name')) or 'the plugin'} has weight {weight}: "
                    "the scheduler does not start",
                    "write a weight above 0, or disable the plugin",
                )


def _configs(
    profile: Mapping[str, Any], base: Path, own: frozenset[str] = frozenset()
) -> Iterator[Violation]:
    configs = profile.get("pluginConfig")
    seen: set[str] = set()
    for position, each in enumerate(configs if isinstance(configs, list) else ()):
        name = text(mapping(each).get("name"))
        path = (*base, "pluginConfig", position)
        if name and name in seen and name not in own:
            yield Violation(
                (*path, "name"), f"pluginConfig has two entries for {name}", "merge them into one"
            )
        seen.add(name)
        if isinstance(each, dict) and each.get("args") and not each.get("name"):
            yield Violation(
                path, "the entry has args but no name, so no plugin reads them", "name the plugin"
            )
        kind = mapping(mapping(each).get("args")).get("kind")
        if (
            name
            and name not in own
            and isinstance(kind, str)
            and kind != f"{name}Args"
            and not is_placeholder(kind)
        ):
            yield Violation(
                (*path, "args", "kind"),
                f"args of {name} have kind {kind}",
                f"write {name}Args, or omit kind",
            )


RULE = Rule(
    code="PK802",
    name="invalid-scheduler-profile",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"KubeSchedulerConfiguration"}),
)
