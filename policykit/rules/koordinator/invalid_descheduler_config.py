"""koord-descheduler does not start with its configuration, or evicts nothing with it.

It reads the file at start-up and exits where a value is outside its bounds: nothing balances the load of the
nodes, and no pod is migrated. The args of LowNodeLoad count only where a profile enables the plugin. A
workload whose pods might all be migrated at once, or be unavailable, is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import digits, is_number, mapping, mappings, numbered, text, texts, whole
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import DESCHEDULER_CONFIGURATION

BAD = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
profiles:
- name: koord-descheduler
  plugins:
    balance:
      enabled: [{name: LowNodeLoad}]
  pluginConfig:
  - name: LowNodeLoad
    args:
      apiVersion: descheduler/v1alpha2
      kind: LowNodeLoadArgs
      lowThresholds: {cpu: 70}
      highThresholds: {cpu: 50}
"""

GOOD = BAD.replace("{cpu: 70}", "{cpu: 45}")

_END = "koord-descheduler does not start"
_LOAD, _MIGRATION = "LowNodeLoad", "MigrationController"
_ANOMALY, _CONSECUTIVE = "anomalyCondition", ("consecutiveAbnormalities", "consecutiveNormalities")
_MODES = ("ReservationFirst", "EvictDirectly")
_LEAST: Mapping[str, int] = {
    "evictBurst": 1,
    "maxConcurrentReconciles": 1,
    "maxMigratingGlobally": 0,
    "maxMigratingPerNamespace": 0,
    "maxMigratingPerNode": 0,
}


_FIELDS: Mapping[str, tuple[str, ...]] = {
    _LOAD: (
        "anomalyCondition",
        "detectorCacheTimeout",
        "dryRun",
        "evictableNamespaces",
        "highThresholds",
        "lowThresholds",
        "nodeFit",
        "nodeMetricExpirationSeconds",
        "nodePools",
        "nodeSelector",
        "numberOfNodes",
        "paused",
        "podSelectors",
        "prodHighThresholds",
        "prodLowThresholds",
        "resourceWeights",
        "useDeviationThresholds",
    ),
    _MIGRATION: (
        "arbitrationArgs",
        "defaultDeleteOptions",
        "defaultJobMode",
        "defaultJobTTL",
        "dryRun",
        "evictAllBarePods",
        "evictBurst",
        "evictFailedBarePods",
        "evictLocalStoragePods",
        "evictQPS",
        "evictSystemCriticalPods",
        "evictionPolicy",
        "ignorePvcPods",
        "labelSelector",
        "maxConcurrentReconciles",
        "maxMigratingGlobally",
        "maxMigratingPerNamespace",
        "maxMigratingPerNode",
        "maxMigratingPerWorkload",
        "maxUnavailablePerWorkload",
        "namespaces",
        "nodeFit",
        "nodeSelector",
        "objectLimiters",
        "priorityThreshold",
        "schedulerNames",
        "skipCheckExpectedReplicas",
        "skipEvictionGates",
    ),
}
"""Source: `pkg/descheduler/apis/config/v1alpha2` (1.8)."""
_GATES = (
    "BarePods",
    "ExpectedReplicas",
    "LabelSelector",
    "LocalStorage",
    "MaxMigratingGlobally",
    "MaxMigratingPerNamespace",
    "MaxMigratingPerNode",
    "MaxMigratingPerWorkload",
    "MaxUnavailablePerWorkload",
    "Namespaces",
    "NodeFit",
    "PVC",
    "PriorityThreshold",
    "SystemCritical",
)
"""What skipEvictionGates may list (1.8)."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/descheduler/apis/config/validation` of Koordinator (1.8)."""
    if manifest.partial or not manifest.api_version.startswith("descheduler/"):
        return
    seen: set[str] = set()
    profiles = [*numbered(manifest.data.get("profiles"))]
    for position, profile in profiles:
        base: Path = ("profiles", position)
        name = text(profile.get("name"))
        if not profile.get("name") and len(profiles) > 1:  # a single one is named koord-descheduler
            yield Violation(base, f"the profile has no name: {_END}", "name it")
        elif name and name in seen and not is_placeholder(name):
            yield Violation(
                (*base, "name"), f"two profiles are named {name}: {_END}", "give each its own name"
            )
        seen.add(name)
        for number, each in numbered(lookup(profile, ("plugins", "deschedule", "enabled"))):
            if text(each.get("name")) == _LOAD:
                yield Violation(
                    (*base, "plugins", "deschedule", "enabled", number, "name"),
                    f"{_LOAD} has no point deschedule: {_END}",
                    "move it to balance",
                )
        enabled = mappings(lookup(profile, ("plugins", "balance", "enabled")))
        plugins = {text(each.get("name")) for each in enabled}
        configured: set[str] = set()
        for number, config in numbered(profile.get("pluginConfig")):
            path: Path = (*base, "pluginConfig", number)
            plugin, args = text(config.get("name")), mapping(config.get("args"))
            if plugin and plugin in configured:
                yield Violation((*path, "name"), f"{plugin} is configured twice: {_END}", "merge the two")
            configured.add(plugin)
            yield from _misspelt(plugin, args, (*path, "args"))
            if plugin == _LOAD and plugin in plugins:
                yield from _load(args, (*path, "args"))
                yield from _anomaly(args, (*path, "args"), versions.release_of(context.cluster))
            elif plugin == _MIGRATION:
                yield from _migration(args, (*path, "args"))


def _misspelt(plugin: str, args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Decoding is strict. Fields that are unlike any of these may be those of another release."""
    known = _FIELDS.get(plugin, ())
    for field in args:
        near = "" if field in known or is_placeholder(field) else nearest(str(field), known)
        if near and near not in args:
            yield Violation(
                (*base, field), f"{plugin} has no field {field}: {_END}", f"did you mean {near}?", key=True
            )


def _load(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _either(args, base, "evictableNamespaces")
    yield from _at_least(args, base, "numberOfNodes", 0)
    yield from _at_least(args, base, "nodeMetricExpirationSeconds", 1)
    yield from _thresholds(args, base)
    for position, pool in numbered(args.get("nodePools")):
        yield from _thresholds(pool, (*base, "nodePools", position))


def _anomaly(args: Mapping[str, Any], base: Path, release: Version | None) -> Iterator[Violation]:
    """1.8 fills in one of the two numbers, not both, and refuses 0. Source: `SetDefaults_LowNodeLoadArgs`."""
    pools = [((*base, "nodePools", number), pool) for number, pool in numbered(args.get("nodePools"))]
    for path, owner in ((base, args), *pools):
        for field in _CONSECUTIVE:
            yield from _at_least(mapping(owner.get(_ANOMALY)), (*path, _ANOMALY), field, 0)
    stated = args.get(_ANOMALY)
    old = release is not None and release < versions.ANOMALY_NUMBERS
    if isinstance(stated, dict) and not old and all(stated.get(field) in (None, 0) for field in _CONSECUTIVE):
        yield Violation(
            (*base, _ANOMALY),
            f"{_ANOMALY} has neither {' nor '.join(_CONSECUTIVE)} above 0: {_END}",
            f"write {_CONSECUTIVE[1]}: 3",
            Severity.WARNING if release is None else None,
        )


_THRESHOLDS = ("lowThresholds", "highThresholds", "prodLowThresholds", "prodHighThresholds")
_ORDERED = (
    ("lowThresholds", "highThresholds"),
    ("prodLowThresholds", "prodHighThresholds"),
    ("prodHighThresholds", "highThresholds"),
)
"""The first may not be above the second."""


def _thresholds(data: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    stated = {field: mapping(data.get(field)) for field in _THRESHOLDS}
    for field, percentages in stated.items():
        for name, percent in percentages.items():
            if is_number(percent) and percent < 0:
                yield Violation(
                    (*base, field, name), f"{name} is {percent:g}, but must be 0 or more: {_END}", "write 0"
                )
    for low, high in _ORDERED:
        for name, percent in stated[low].items():
            most = stated[high].get(name)
            if is_number(percent) and is_number(most) and percent > most:
                yield Violation(
                    (*base, low, name),
                    f"{name} is {percent:g}, above its {high} {most:g}: {_END}",
                    "lower it: nodes below the low thresholds take what those above the high ones give away",
                )


def _migration(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _either(args, base, "namespaces")
    for field, least in _LEAST.items():
        yield from _at_least(args, base, field, least)
    yield from _shares(args, base)
    for number, gate in enumerate(texts(args.get(_GATE))):
        likely = "" if gate in _GATES or is_placeholder(gate) else nearest(gate, _GATES)
        if likely:
            message = f"{_MIGRATION} has no eviction gate {gate}: {_END}"
            yield Violation((*base, _GATE, number), message, f"did you mean {likely}?")
    rate = args.get("evictQPS")
    if isinstance(rate, int | float) and not isinstance(rate, bool) and rate <= 0:
        message = f"evictQPS is {rate:g}, but must be above 0: {_END}"
        yield Violation((*base, "evictQPS"), message, "write 10, or delete it")
    mode = args.get("defaultJobMode")
    if isinstance(mode, str) and mode not in ("", *_MODES) and not is_placeholder(mode):
        message = f"defaultJobMode is {mode}: {_END}"
        yield Violation((*base, "defaultJobMode"), message, f"write {' or '.join(_MODES)}")


_SHARES = ("maxMigratingPerWorkload", "maxUnavailablePerWorkload")
_SKIP, _GATE = "skipCheckExpectedReplicas", "skipEvictionGates"


def _shares(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Text is a percentage. No pod of a workload is evicted whose limit is as high as its replicas.

    Source: `filterExpectedReplicas` and `GetMaxUnavailable` in `pkg/descheduler/controllers/migration`
    (1.2 to 1.8).
    """
    skipped = args.get(_SKIP) is True or "ExpectedReplicas" in texts(args.get(_GATE))
    for field in _SHARES:
        share = args.get(field)
        if not isinstance(share, str) or is_placeholder(share):
            continue
        percent = digits(share.removesuffix("%").removeprefix("-"))
        if percent is None or not share.endswith("%"):
            message = f"{field} is {share!r}, neither a number nor a percentage: {_END}"
            yield Violation((*base, field), message, "write a number without quotes, or a share such as 10%")
        elif percent >= 100 and not share.startswith("-") and not skipped:
            yield Violation(
                (*base, field),
                f"{field} is {share}, all pods of a workload: {_MIGRATION} evicts no pod of any workload",
                f"write a smaller share, or {_SKIP}: true",
                Severity.WARNING,
            )


def _either(args: Mapping[str, Any], base: Path, field: str) -> Iterator[Violation]:
    stated = mapping(args.get(field))
    if stated.get("include") and stated.get("exclude"):
        yield Violation((*base, field), f"{field} has include and exclude: {_END}", "delete one of the two")


def _at_least(args: Mapping[str, Any], base: Path, field: str, least: int) -> Iterator[Violation]:
    number = whole(args.get(field))
    if number is not None and number < least:
        yield Violation(
            (*base, field), f"{field} is {number}, but must be {least} or more: {_END}", f"write {least}"
        )


RULE = Rule(
    code="PK616",
    name="invalid-descheduler-config",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({DESCHEDULER_CONFIGURATION}),
)
