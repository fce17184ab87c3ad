"""The descheduler does not start with its policy, or a part of the policy has no effect.

It reads the policy once and exits where an argument is unknown or outside its bounds. A profile that enables
a plugin at a point where it does not exist, or one without an entry in pluginConfig, evicts nothing. A field
outside of the args that it does not know is passed over without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.chart_values import chart_values
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, text
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.rules.kubernetes.descheduler_arguments import END, refused
from policykit.targets.kubernetes.descheduler import (
    ARGS,
    EVICTOR,
    FIRST_WITHOUT_OLD,
    HIGH,
    LOW,
    OLD_VERSION,
    PARTS,
    POINTS,
    POLICY,
    READ_BEFORE,
    PluginArgs,
    dated,
    plugin_args,
)

BAD = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig:
  - name: RemoveDuplicates
  plugins:
    deschedule: {enabled: [RemoveDuplicates]}
"""

GOOD = BAD.replace("deschedule:", "balance:")

_VALUES = "deschedulerPolicy"
"""In the values of the descheduler's chart."""
_FIELDS = (
    "evictionFailureEventNotification",
    "gracePeriodSeconds",
    "maxNoOfPodsToEvictPerNamespace",
    "maxNoOfPodsToEvictPerNode",
    "maxNoOfPodsToEvictTotal",
    "metricsCollector",
    "metricsProviders",
    "nodeSelector",
    "profiles",
)
_HEAD = ("apiVersion", "kind", "metadata")
_PROFILE, _CONFIG, _SET = ("name", "pluginConfig", "plugins"), ("name", "args"), ("enabled", "disabled")
_POINTS = ("presort", "sort", "deschedule", "balance", "filter", "preevictionfilter")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/descheduler/policyconfig.go` and `pkg/framework/profile` (0.27 to 0.36)."""
    if manifest.partial:
        return
    for data, base in _policies(manifest):
        if data.get("apiVersion") == OLD_VERSION:
            yield Violation(
                ("apiVersion",),
                f"the descheduler has not read {OLD_VERSION} since 0.{FIRST_WITHOUT_OLD}",
                "write descheduler/v1alpha2, with profiles instead of strategies",
                Severity.WARNING,
            )
        else:
            for each in _of_policy(data):
                yield each._replace(at=(*base, *each.path))


def _policies(manifest: Manifest) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """A policy, or the part of a chart's values that becomes one."""
    if manifest.kind == POLICY and manifest.api_version.startswith("descheduler/"):
        yield manifest.data, ()
        return
    if mapping(manifest.data.get(_VALUES)).get("profiles"):
        yield mapping(manifest.data[_VALUES]), (_VALUES,)
    for chart in chart_values(manifest):
        found = mapping(chart.values.get(_VALUES))
        if found.get("profiles") and chart.chart == "descheduler" and not chart.is_text:
            yield found, (*chart.path, _VALUES)


def _of_policy(data: Mapping[str, Any]) -> Iterator[Violation]:
    yield from _ignored(data, (), (*_HEAD, *_FIELDS), "a policy")
    for entry in plugin_args(data):
        yield from _of_entry(entry)
    everywhere: dict[str, Path] = {}
    for position, profile in numbered(data.get("profiles")):
        base: Path = ("profiles", position)
        yield from _ignored(profile, base, _PROFILE, "a profile")
        for number, config in numbered(profile.get("pluginConfig")):
            yield from _ignored(
                config, (*base, "pluginConfig", number), _CONFIG, "pluginConfig", text(config.get("name"))
            )
        yield from _enabled(profile, base, everywhere)
    if LOW in everywhere and HIGH in everywhere:
        yield Violation(
            everywhere[HIGH],
            f"{HIGH} empties nodes that {LOW} fills: pods are evicted again and again",
            "enable one of the two",
            Severity.WARNING,
        )


def _ignored(
    data: Mapping[str, Any], base: Path, known: tuple[str, ...], what: str, plugin: str = ""
) -> Iterator[Violation]:
    """The policy is not decoded strictly, only the arguments are."""
    for key in data:
        if not isinstance(key, str) or key in known or is_placeholder(key):
            continue
        owner = plugin if plugin and key in ARGS.get(plugin, ()) else ""
        if not base and key in ARGS[EVICTOR]:
            owner = EVICTOR
        meant = nearest(key, known)
        advice = f"write it in the args of {owner}" if owner else "delete it"
        if meant and not owner:
            advice = f"did you mean {meant}?"
        yield Violation(
            (*base, key),
            f"{key} is not a field of {what}: it has no effect",
            advice,
            Severity.WARNING,
            key=True,
        )


def _of_entry(entry: PluginArgs) -> Iterator[Violation]:
    known = ARGS.get(entry.plugin)
    if known is None:
        yield from _unknown(entry.plugin, (*entry.path, "name"), "pluginConfig")
        return
    wrong = [*_unknown_arguments(entry, known)]
    yield from wrong
    for key, release in dated(entry, READ_BEFORE):
        yield Violation(
            (*entry.path, "args", *key[1:]),
            f"{key[-1]} is not an argument of {entry.plugin} since 0.{release}: {END}",
            "delete it",
            Severity.WARNING,
            key=True,
        )
    yield from refused(entry)


def _unknown_arguments(entry: PluginArgs, known: tuple[str, ...]) -> Iterator[Violation]:
    base = (*entry.path, "args")
    stated: list[tuple[Path, tuple[str, ...]]] = [
        ((key,), known) for key in entry.args if key not in ("apiVersion", "kind")
    ]
    for field, parts in PARTS.items():
        stated += [((field, key), parts) for key in mapping(entry.args.get(field)) if field in known]
    for steps, allowed in stated:
        key = steps[-1]
        if not isinstance(key, str) or key in allowed or is_placeholder(key):
            continue
        meant = nearest(key, allowed)
        owners = [plugin for plugin, fields in ARGS.items() if key in fields] if len(steps) == 1 else []
        advice = f"did you mean {meant}?" if meant else "delete it"
        if not meant and len(owners) == 1:
            advice = f"it is an argument of {owners[0]}"
        yield Violation(
            (*base, *steps),
            f"{'.'.join(map(str, steps))} is not an argument of {entry.plugin}: {END}",
            advice,
            key=True,
        )


def _enabled(profile: Mapping[str, Any], base: Path, everywhere: dict[str, Path]) -> Iterator[Violation]:
    configured = {text(each.get("name")) for _, each in numbered(profile.get("pluginConfig"))}
    for point, stated in mapping(profile.get("plugins")).items():
        path: Path = (*base, "plugins", point)
        names = lookup(mapping(stated), ("enabled",))
        listed = [(n, each) for n, each in enumerate(names if isinstance(names, list) else ())]
        if point not in _POINTS:
            if any(each != EVICTOR for _, each in listed):
                meant = nearest(str(point), _POINTS)
                yield Violation(
                    path,
                    f"{point} is not an extension point: its plugins do nothing",
                    f"did you mean {meant}?" if meant else f"write one of {', '.join(_POINTS[2:])}",
                    Severity.WARNING,
                    key=True,
                )
            continue
        yield from _ignored(mapping(stated), path, _SET, "an extension point")
        for number, name in listed:
            if isinstance(name, str) and name and not is_placeholder(name):
                at: Path = (*path, "enabled", number)
                everywhere.setdefault(name, at)
                yield from _placed(name, str(point), at, name in configured)


def _placed(name: str, point: str, at: Path, is_configured: bool) -> Iterator[Violation]:
    points = POINTS.get(name)
    if points is None:
        if not is_configured:  # otherwise said there
            yield from _unknown(name, at, point)
    elif point not in points and point in _POINTS[2:]:
        yield Violation(
            at,
            f"{name} is not a plugin for {point}: the profile evicts nothing",
            f"enable it under {points[0]}",
        )
    elif not is_configured and name != EVICTOR:
        yield Violation(
            at,
            f"{name} is enabled, but pluginConfig has no entry for it: the profile evicts nothing",
            f"add - name: {name}, with its args",
        )


def _unknown(name: str, at: Path, where: str) -> Iterator[Violation]:
    """Volcano's descheduler and builds of one's own have plugins of other names."""
    if meant := nearest(name, tuple(POINTS)):
        yield Violation(at, f"{name} in {where} is not a plugin of the descheduler", f"did you mean {meant}?")


RULE = Rule(
    code="PK816",
    name="invalid-descheduler-policy",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("eschedulerPolicy",),
)
