"""Arguments of the descheduler's plugins that it refuses at its start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import digits, is_number, mapping, text, texts, whole
from policykit.model.severity import Severity
from policykit.targets.kubernetes.descheduler import EVICTOR, HIGH, LOW, PluginArgs

END = "the descheduler does not start"
_CONSTRAINTS = ("DoNotSchedule", "ScheduleAnyway")
_DEFAULT = ("PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods")
_EXTRA = ("PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims")
_DEPRECATED = (
    "evictDaemonSetPods",
    "evictFailedBarePods",
    "evictLocalStoragePods",
    "evictSystemCriticalPods",
    "ignorePodsWithoutPDB",
    "ignorePvcPods",
)
_NUMBERS = (
    "maxPodLifeTimeSeconds",
    "minPodLifetimeSeconds",
    "minReplicas",
    "numberOfNodes",
    "podRestartThreshold",
)
_STATES = (
    *("Running", "Pending", "Succeeded", "Failed", "Unknown"),
    *("NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError"),
    *("PodInitializing", "ContainerCreating", "ImagePullBackOff", "CrashLoopBackOff"),
    *("CreateContainerConfigError", "ErrImagePull", "CreateContainerError", "InvalidImageName"),
    *("OOMKilled", "Error", "Completed", "DeadlineExceeded", "Evicted", "ContainerCannotRun", "StartError"),
)
_RESOURCES = ("cpu", "ephemeral-storage", "memory", "pods")
_NO_EVICTION = ("Preferred", "Mandatory")


def refused(entry: PluginArgs) -> Iterator[Violation]:
    """Source: `validation.go` of each plugin (0.27 to 0.36)."""
    base = (*entry.path, "args")
    for field in ("namespaces", "ownerKinds"):
        both = mapping(entry.args.get(field))
        if both.get("include") and both.get("exclude"):
            yield Violation(
                (*base, field), f"{field} has include and exclude: {END}", "delete one of the two", key=True
            )
    for field in _NUMBERS:
        stated = entry.args.get(field)
        if isinstance(stated, (str, bool)) and not is_placeholder(stated):
            advice = "remove the quotes" if digits(stated) is not None else "write a whole number"
            message = f"{field} is {stated!r}, but must be a whole number: {END}"
            yield Violation((*base, field), message, advice)
    yield from _owners(entry.args, base)
    check = _CHECKS.get(entry.plugin)
    if check is not None:
        yield from check(entry.args, base)


def _low(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _only_excluded(args, base)
    yield from _percentages(args, base, "thresholds")
    yield from _percentages(args, base, "targetThresholds")
    low, high = mapping(args.get("thresholds")), mapping(args.get("targetThresholds"))
    if not low or not high:
        return
    for name in sorted({*map(str, low)} ^ {*map(str, high)}):
        field, other = (
            ("thresholds", "targetThresholds") if name in low else ("targetThresholds", "thresholds")
        )
        yield Violation(
            (*base, field, name),
            f"{name} is in {field}, but not in {other}: {END}",
            f"state {name} in both, or in neither",
            key=True,
        )
    if args.get("useDeviationThresholds"):
        return
    for name, percent in low.items():
        most = high.get(name)
        if is_number(percent) and is_number(most) and percent > most:
            yield Violation(
                (*base, "thresholds", name),
                f"{name} is {percent:g}, above its targetThresholds {most:g}: {END}",
                "lower it: pods are moved from nodes above targetThresholds to nodes below thresholds",
            )


def _high(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _only_excluded(args, base)
    yield from _percentages(args, base, "thresholds")


def _only_excluded(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    if mapping(args.get("evictableNamespaces")).get("include"):
        yield Violation(
            (*base, "evictableNamespaces", "include"),
            f"evictableNamespaces has include, but only exclude is supported: {END}",
            "list the namespaces to leave alone in exclude",
            key=True,
        )


def _percentages(args: Mapping[str, Any], base: Path, field: str) -> Iterator[Violation]:
    stated = args.get(field)
    if is_placeholder(stated):
        return
    if not stated:
        yield Violation(
            (*base, field), f"there are no {field}: {END}", f"state percentages: {field}: {{cpu: 50}}"
        )
    for name, percent in mapping(stated).items():
        if is_number(percent) and not 0 <= percent <= 100:
            yield Violation(
                (*base, field, name),
                f"{name} is {percent:g}, but {field} are percentages from 0 to 100: {END}",
                "write the part of a node's allocatable amount, pods included",
            )
        elif isinstance(name, str) and name not in _RESOURCES and name.lower() in _RESOURCES:
            yield Violation(
                (*base, field, name),
                f"{name} in {field} is not a resource of nodes: its use is always 0",
                f"write {name.lower()}",
                Severity.WARNING,
                key=True,
            )


def _restarts(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    stated = args.get("podRestartThreshold")
    number = whole(stated)
    if stated is None or (number is not None and number < 1):
        is_or_has = "has no podRestartThreshold" if stated is None else f"has podRestartThreshold {number}"
        yield Violation(
            (*base, "podRestartThreshold"), f"the plugin {is_or_has}: {END}", "write 1 or more: 100"
        )
    yield from _among(args, base, "states", ("Running", "CrashLoopBackOff"))


def _life_time(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Since 0.36 another condition is enough. The states are those of any release."""
    yield from _among(args, base, "states", _STATES)
    if not any(args.get(key) for key in ("maxPodLifeTimeSeconds", "states", "conditions", "exitCodes")):
        if whole(args.get("maxPodLifeTimeSeconds")) == 0:
            return
        yield Violation(
            (*base, "maxPodLifeTimeSeconds"),
            f"the plugin has no maxPodLifeTimeSeconds: {END}",
            "state after how many seconds a pod is evicted",
        )


def _node_affinity(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    if not args.get("nodeAffinityType"):
        yield Violation(
            (*base, "nodeAffinityType"),
            f"the plugin has no nodeAffinityType: {END}",
            "args: {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}",
        )


def _taints(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    if args.get("excludedTaints") and args.get("includedTaints"):
        message = f"includedTaints and excludedTaints are both set: {END}"
        yield Violation((*base, "excludedTaints"), message, "delete one of the two", key=True)


def _spread(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    yield from _among(args, base, "constraints", _CONSTRAINTS)


def _evictor(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    threshold = mapping(args.get("priorityThreshold"))
    if threshold.get("name") and threshold.get("value") is not None:
        yield Violation(
            (*base, "priorityThreshold"),
            f"priorityThreshold has name and value: {END}",
            "delete one",
            key=True,
        )
    policy = text(args.get("noEvictionPolicy"))
    if policy and policy not in _NO_EVICTION and not is_placeholder(policy):
        yield Violation(
            (*base, "noEvictionPolicy"),
            f"noEvictionPolicy is {policy}: {END}",
            f"write {' or '.join(_NO_EVICTION)}",
        )
    protections = mapping(args.get("podProtections"))
    path = (*base, "podProtections")
    yield from _among(protections, path, "defaultDisabled", _DEFAULT)
    yield from _among(protections, path, "extraEnabled", _EXTRA)
    old = next((key for key in _DEPRECATED if args.get(key) is True), None)
    if old and (protections.get("defaultDisabled") or protections.get("extraEnabled")):
        yield Violation(
            (*base, old),
            f"{old} is set beside podProtections: {END}",
            "say it in podProtections alone",
            key=True,
        )


def _owners(args: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """Kinds of what owns a pod itself. Source: `removeduplicates`, `removefailedpods` (0.25 to 0.36)."""
    for path in _OWNER_KINDS:
        for kind in texts(lookup(args, path)):
            if owner := _OWNERS.get(kind):
                yield Violation(
                    (*base, *path),
                    f"{dotted(path)} has {kind}, which owns no pod: a pod of a {kind} is owned by a {owner}",
                    f"write {owner}, or delete {kind}",
                    Severity.WARNING,
                    key=True,
                )


_OWNER_KINDS: tuple[Path, ...] = (
    ("excludeOwnerKinds",),
    ("ownerKinds", "exclude"),
    ("ownerKinds", "include"),
)
_OWNERS = {"CronJob": "Job", "Deployment": "ReplicaSet"}


def _among(args: Mapping[str, Any], base: Path, field: str, known: Sequence[str]) -> Iterator[Violation]:
    for value in texts(args.get(field)):
        if value not in known and not is_placeholder(value):
            yield Violation(
                (*base, field), f"{field} has {value}: {END}", f"it may have {', '.join(known)}", key=True
            )


_CHECKS: Mapping[str, Callable[[Mapping[str, Any], Path], Iterator[Violation]]] = {
    EVICTOR: _evictor,
    HIGH: _high,
    LOW: _low,
    "PodLifeTime": _life_time,
    "RemovePodsHavingTooManyRestarts": _restarts,
    "RemovePodsViolatingNodeAffinity": _node_affinity,
    "RemovePodsViolatingNodeTaints": _taints,
    "RemovePodsViolatingTopologySpreadConstraint": _spread,
}
