"""Kueue's manager does not start with its configuration.

It refuses a field that it does not know, and values of another type: a duration is text. It refuses an
integration that it does not have, each of which is named by API group and kind in lower case, namespaces to
manage with kube-system or its own among them, before 0.15 the integrations of Deployments, StatefulSets and
LeaderWorkerSets without that of pods, strategies of fair sharing in another order than it tries them, in
v1beta2 none, times below 0, and a feature gate that it does not know. Until it starts nothing is admitted,
and its webhooks refuse new jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.durations import is_signed_duration
from policykit.kube.names import label_value_problem
from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import described
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping, numbered, text, texts, whole
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.nearest import nearest, some
from policykit.rules.kueue import managed_namespaces
from policykit.rules.kueue.configuration_fields import (
    ANY,
    DURATION,
    FIELDS,
    FLAG,
    GATES,
    GONE,
    NUMBER,
    START,
    TEXT,
    WHOLE,
    Fields,
)
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import (
    CONFIGURATION,
    CONFIGURATION_GROUP,
    FRAMEWORKS,
    OF_PODS,
)
from policykit.targets.kueue.release_facts import INTEGRATIONS

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kueue-manager-config
  namespace: kueue-system
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    integrations:
      frameworks:
      - batch/job
      - kubeflow.org/PyTorchJob
"""

GOOD = BAD.replace("PyTorchJob", "pytorchjob")

_FRAMEWORKS: Path = ("integrations", "frameworks")
_EXTERNAL: Path = ("integrations", "externalFrameworks")
_POD = "pod"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Sources: `fromFile` and `validate` in `pkg/config` (0.9 to 0.19)."""
    if manifest.group != CONFIGURATION_GROUP:
        return
    data, new = manifest.data, manifest.api_version.endswith("/v1beta2")
    have = versions.release_of(context.cluster)
    yield from _unknown(data, FIELDS, (), new=new)
    yield from _integrations(data, have)
    yield from managed_namespaces.check(manifest, have)
    if not new:
        yield from _without_pods(data, have)
    yield from _strategies(data, have, new=new)
    yield from _requeuing(data, new=new)
    yield from _times(data, new=new)
    yield from _resources(data)
    yield from _gates(data)
    yield from _controllers(data)


def _unknown(data: Mapping[str, Any], fields: Fields, path: Path, *, new: bool) -> Iterator[Violation]:
    """Fields that it does not have, and values of another type."""
    for name, value in data.items():
        place = (*path, name)
        known = fields.get(name) if isinstance(name, str) else None
        if is_placeholder(name) or not isinstance(name, str):
            continue
        if known is None:
            near = nearest(name, tuple(fields))
            advice = f"did you mean {near}?" if near else f"known here: {some(sorted(fields))}"
            message = f"{dotted(place)} is not a field of Kueue's configuration: {START}"
            yield Violation(place, message, advice, key=True)
        elif new and place in GONE:
            message = f"{dotted(place)} is only of v1beta1: {START}"
            yield Violation(place, message, GONE[place], key=True)
        else:
            yield from _value(value, known, place, new=new)


def _value(value: Any, known: Any, path: Path, *, new: bool) -> Iterator[Violation]:
    if value is None or known == ANY or is_placeholder(value):
        return
    if isinstance(known, dict):
        if isinstance(value, dict):
            yield from _unknown(value, known, path, new=new)
        else:
            yield _of_type(value, "a mapping", path)
    elif isinstance(known, list):
        if isinstance(value, list):
            for position, item in enumerate(value):
                yield from _value(item, known[0], (*path, position), new=new)
        else:
            yield _of_type(value, "a list", path)
    elif known == DURATION:
        if not isinstance(value, str) or not is_signed_duration(value):
            yield _of_type(value, "a duration such as 5m or 90s", path)
    elif not isinstance(value, _TYPES[known]) or (known != FLAG and isinstance(value, bool)):
        yield _of_type(value, _WORDS[known], path)


_TYPES: Mapping[str, tuple[type, ...]] = {TEXT: (str,), FLAG: (bool,), WHOLE: (int,), NUMBER: (int, float)}
_WORDS = {TEXT: "text", FLAG: "true or false", WHOLE: "a whole number", NUMBER: "a number"}


def _of_type(value: Any, wanted: str, path: Path) -> Violation:
    return Violation(path, f"{dotted(path)} is {described(value)}, not {wanted}: {START}", f"write {wanted}")


def _integrations(data: Mapping[str, Any], have: Version | None) -> Iterator[Violation]:
    listed, others = texts(lookup(data, _FRAMEWORKS)), texts(lookup(data, _EXTERNAL))
    for position, name in enumerate(listed):
        if is_placeholder(name):
            continue
        if name not in FRAMEWORKS:
            near = nearest(name.lower(), FRAMEWORKS)
            yield Violation(
                (*_FRAMEWORKS, position),
                f"Kueue has no integration {name}: it does not start",
                f"did you mean {near}?" if near else "list other kinds under externalFrameworks",
            )
        elif have and (fact := _INTEGRATIONS.get(name)) and not fact.read_by(have):
            when = f"added in {fact.since}" if fact.since else f"removed in {fact.gone}"
            message = f"Kueue {have} has no integration {name}, {when}: {START}"
            yield Violation((*_FRAMEWORKS, position), message, "remove it")
        elif name in listed[:position]:
            message = f"integration {name} is listed twice: Kueue does not start"
            yield Violation((*_FRAMEWORKS, position), message, "list it once")
    for position, name in enumerate(others):
        if is_placeholder(name):
            continue
        if name.count(".") < 2:
            message = f"external framework {name} has not the form Kind.version.group: {START}"
            advice = "write it as AppWrapper.v1beta2.workload.codeflare.dev"
            yield Violation((*_EXTERNAL, position), message, advice)
        elif name in others[:position]:
            message = f"external framework {name} is listed twice: {START}"
            yield Violation((*_EXTERNAL, position), message, "list it once")


_INTEGRATIONS = {fact.name: fact for fact in INTEGRATIONS}


def _without_pods(data: Mapping[str, Any], have: Version | None) -> Iterator[Violation]:
    """v1beta1 is also read by releases that need no pod."""
    listed = texts(lookup(data, _FRAMEWORKS))
    if (have is not None and have >= versions.PODS_IMPLIED) or _POD in listed:
        return
    if any(map(is_placeholder, listed)):
        return
    for position, name in enumerate(listed):
        if name in OF_PODS:
            yield Violation(
                (*_FRAMEWORKS, position),
                f"integration {name} needs pod, which is not listed: Kueue before "
                f"{versions.PODS_IMPLIED} does not start",
                "add pod to frameworks",
                Severity.WARNING if have is None else Severity.ERROR,
            )
            return


_FAIR, _LIST = "fairSharing", "preemptionStrategies"
_STRATEGIES: Path = (_FAIR, _LIST)
_FINAL, _INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
_WAITING, _STRATEGY = "waitForPodsReady", "requeuingStrategy"
_REQUEUING: Path = (_WAITING, _STRATEGY)
_STAMPS = ("Creation", "Eviction")


def _is_on(section: Mapping[str, Any], *, new: bool) -> bool:
    """Without `enable: true` a release that reads v1beta2 drops the section of v1beta1."""
    return bool(section) and (new or section.get("enable") is True)


def _strategies(data: Mapping[str, Any], have: Version | None, *, new: bool) -> Iterator[Violation]:
    """Of fair sharing. Releases before v1beta2 check those of a section that is not enabled, too."""
    section, listed = mapping(data.get(_FAIR)), texts(lookup(data, _STRATEGIES))
    if new and isinstance(data.get(_FAIR), dict) and not section.get(_LIST):
        message = f"{_FAIR} has no {_LIST}, which v1beta2 requires: {START}"
        yield Violation((_FAIR,), message, f"list {_FINAL}, {_INITIAL}, as v1beta1 does by default", key=True)
    checked = _is_on(section, new=new) or (have is not None and have < versions.V1BETA2)
    known = ((), (_FINAL,), (_INITIAL,), (_FINAL, _INITIAL))
    if checked and listed not in known and not any(map(is_placeholder, listed)):
        message = f"Kueue does not try {', '.join(listed)} in this order: {START}"
        yield Violation(_STRATEGIES, message, f"write {_FINAL}, {_INITIAL}, or one of the two")


def _requeuing(data: Mapping[str, Any], *, new: bool) -> Iterator[Violation]:
    """Of workloads whose pods did not become ready in time."""
    waiting = mapping(data.get(_WAITING))
    if not _is_on(waiting, new=new):
        return
    strategy = mapping(waiting.get(_STRATEGY))
    stamp = strategy.get("timestamp")
    if isinstance(stamp, str) and stamp not in _STAMPS and not is_placeholder(stamp):
        message = f"timestamp is {stamp}: {START}"
        yield Violation((*_REQUEUING, "timestamp"), message, f"write {' or '.join(_STAMPS)}")
    for field in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"):
        number = whole(strategy.get(field))
        if number is not None and number < 0:
            yield _negative(number, (*_REQUEUING, field))


def _negative(value: object, path: Path) -> Violation:
    return Violation(path, f"{path[-1]} is {value}, below 0: {START}", "write 0 or more")


_TIMES: tuple[tuple[str, ...], ...] = (
    ("admissionFairSharing", "usageHalfLifeTime"),
    ("admissionFairSharing", "usageSamplingInterval"),
    ("multiKueue", "gcInterval"),
    ("multiKueue", "workerLostTimeout"),
    ("objectRetentionPolicies", "workloads", "afterDeactivatedByKueue"),
    ("objectRetentionPolicies", "workloads", "afterFinished"),
    ("waitForPodsReady", "recoveryTimeout"),
    ("waitForPodsReady", "timeout"),
)


def _times(data: Mapping[str, Any], *, new: bool) -> Iterator[Violation]:
    for path in _TIMES:
        value, section = lookup(data, path), mapping(data.get(path[0]))
        checked = path[0] != _WAITING or _is_on(section, new=new)
        if isinstance(value, str) and is_signed_duration(value) and value.startswith("-") and checked:
            yield _negative(value, path)
    weights = ("admissionFairSharing", "resourceWeights")
    for name, weight in mapping(lookup(data, weights)).items():
        if isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight < 0:
            yield _negative(weight, (*weights, name))
    origin = lookup(data, ("multiKueue", "origin"))
    if isinstance(origin, str) and not is_placeholder(origin) and (fault := label_value_problem(origin)):
        message = f"origin is {origin!r}, which {fault}: {START}"
        yield Violation(("multiKueue", "origin"), message, "write a value of a label")


_TRANSFORMED: Path = ("resources", "transformations")
_MAPPED: Path = ("resources", "deviceClassMappings")


def _resources(data: Mapping[str, Any]) -> Iterator[Violation]:
    seen: set[str] = set()
    for position, each in numbered(lookup(data, _TRANSFORMED)):
        strategy, name = each.get("strategy"), text(each.get("input"))
        if (
            isinstance(strategy, str)
            and strategy not in ("", "Retain", "Replace")
            and not is_placeholder(strategy)
        ):
            message = f"strategy is {strategy}: {START}"
            yield Violation((*_TRANSFORMED, position, "strategy"), message, "write Retain or Replace")
        if name and name in seen:
            message = f"{name} is transformed twice: {START}"
            yield Violation((*_TRANSFORMED, position, "input"), message, "list it once, with all outputs")
        seen.add(name)
    yield from _device_classes(data)


def _device_classes(data: Mapping[str, Any]) -> Iterator[Violation]:
    """One class counts as one resource (since 0.14; one with counters as several since 0.18)."""
    names: set[str] = set()
    classes: dict[str, str] = {}
    for position, each in numbered(lookup(data, _MAPPED)):
        name = text(each.get("name"))
        path: Path = (*_MAPPED, position)
        if name and name in names:
            yield Violation((*path, "name"), f"{name} is listed twice: {START}", "list it once")
        names.add(name)
        listed = each.get("deviceClassNames")
        if not listed:
            at = (*path, "deviceClassNames") if listed == [] else path
            yield Violation(at, f"deviceClassNames is empty: {START}", "name a DeviceClass")
        for number, device in enumerate(texts(listed)):
            owner = classes.setdefault(device, name)
            if owner != name and not each.get("sources"):
                message = f"{device} counts as {owner} already: {START}"
                yield Violation((*path, "deviceClassNames", number), message, "list it under one name")


_CONCURRENCY: Path = ("controller", "groupKindConcurrency")
_SUITES: Path = ("tls", "cipherSuites")


def _controllers(data: Mapping[str, Any]) -> Iterator[Violation]:
    for name, number in mapping(lookup(data, _CONCURRENCY)).items():
        yield from _value(number, WHOLE, (*_CONCURRENCY, name), new=False)
    if lookup(data, ("tls", "minVersion")) == "VersionTLS13" and lookup(data, _SUITES):
        message = f"cipherSuites conflicts with minVersion VersionTLS13: {START}"
        yield Violation(_SUITES, message, "delete it: TLS 1.3 chooses for itself", key=True)


def _gates(data: Mapping[str, Any]) -> Iterator[Violation]:
    """A gate of a release to come cannot be told from a wrong one, unless it is nearly one of these."""
    for name, value in mapping(data.get("featureGates")).items():
        if not isinstance(name, str) or is_placeholder(name):
            continue
        if not isinstance(value, bool) and not is_placeholder(value):
            yield _of_type(value, "true or false", ("featureGates", name))
        elif name not in GATES and (near := nearest(name, GATES)):
            message = f"Kueue has no feature gate {name}: {START}"
            yield Violation(("featureGates", name), message, f"did you mean {near}?", key=True)


RULE = Rule(
    code="PK933",
    name="invalid-kueue-configuration",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({CONFIGURATION}),
    substrings=(CONFIGURATION_GROUP,),
)
