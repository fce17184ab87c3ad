"""Built-in kinds: rollouts, jobs, disruption budgets, schedules, device claims, a kubelet's file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube import cron
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    mappings,
    name_of,
    not_below,
    refused,
    time_zone,
    words,
)
from policykit.kube.structure.problem import BAD_VALUE, INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, whole
from policykit.nearest import nearest, some

_PROGRESS_DEADLINE = 600
"""Seconds that a rollout may take if a Deployment states no deadline."""


def deployment(data: Data) -> Iterator[Problem]:
    """Source: `ValidateDeploymentSpec` and `ValidateDeploymentStrategy` (Kubernetes v1.36)."""
    ready = whole(lookup(data, ("spec", "minReadySeconds")))
    stated = lookup(data, ("spec", "progressDeadlineSeconds"))
    deadline = _PROGRESS_DEADLINE if stated is None else whole(stated)
    if ready is not None and deadline is not None and deadline <= ready:
        field = "minReadySeconds" if stated is None else "progressDeadlineSeconds"
        yield refused(
            ("spec", field),
            f"is {ready}, not below progressDeadlineSeconds, which is {deadline} by default"
            if stated is None
            else f"is {deadline}, not above minReadySeconds {ready}",
            f"write progressDeadlineSeconds: {ready + 1} or more, or lower minReadySeconds",
        )
    base: Path = ("spec", "strategy")
    strategy = lookup(data, base)
    if not isinstance(strategy, dict):
        return
    update = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and update is not None:
        yield refused(
            (*base, "rollingUpdate"), "conflicts with type Recreate", "delete one of the two", key=True
        )
    elif isinstance(update, dict) and _none(update.get("maxSurge")) and _none(update.get("maxUnavailable")):
        yield _stuck((*base, "rollingUpdate"), "maxSurge")


def daemon_set(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRollingUpdateDaemonSet` (Kubernetes v1.36): without a value it is 1 and 0."""
    base: Path = ("spec", "updateStrategy", "rollingUpdate")
    update = lookup(data, base)
    if not isinstance(update, dict):
        return
    surge, absent = update.get("maxSurge"), update.get("maxUnavailable")
    if _none(absent) and (surge is None or _none(surge)):
        yield _stuck(base, "maxSurge")
    elif _some(surge) and (absent is None or _some(absent)):
        yield refused(
            (*base, "maxSurge"),
            f"is {surge}, but a DaemonSet that adds pods must not remove any first",
            "write maxUnavailable: 0, or delete maxSurge",
        )


def stateful_set(data: Data) -> Iterator[Problem]:
    """Source: `ValidateStatefulSetSpec` (Kubernetes v1.36)."""
    base: Path = ("spec", "updateStrategy", "rollingUpdate")
    update = lookup(data, base)
    if isinstance(update, dict):
        yield from not_below(update, base, "partition", 0, "write the first ordinal that is updated")


def runtime_class(data: Data) -> Iterator[Problem]:
    """Source: `ValidateRuntimeClass` (Kubernetes v1.36)."""
    handler = data.get("handler")
    if isinstance(handler, str) and handler != handler.lower() and not is_filled_in(handler):
        advice = "write the name as the container runtime has it, in lower case"
        yield refused(("handler",), f"is {handler}, with a capital letter", advice, kind=BAD_VALUE)


def device_requests(data: Data) -> Iterator[Problem]:
    """Source: `validateDeviceClaim` and `validateDeviceRequest` of resource.k8s.io (Kubernetes v1.36)."""
    for spec in (("spec",), ("spec", "spec")):
        base: Path = (*spec, "devices")
        names: set[str] = set()
        for position, request in mappings(lookup(data, (*base, "requests"))):
            at: Path = (*base, "requests", position)
            name = name_of(request)
            names.add(name)
            path = (*at, "exactly") if "exactly" in request else at
            yield from _devices(lookup(data, path), path)
            for number, choice in mappings(request.get("firstAvailable")):
                names.add(f"{name}/{name_of(choice)}")
                yield from _devices(choice, (*at, "firstAvailable", number))
        if names and not any(each.endswith("/") or not each for each in names):
            yield from _of_requests(data, base, names)


def _devices(request: object, path: Path) -> Iterator[Problem]:
    if not isinstance(request, dict):
        return
    mode, count = request.get("allocationMode"), whole(request.get("count"))
    if isinstance(mode, str) and mode not in _ALLOCATIONS and not is_filled_in(mode):
        yield refused((*path, "allocationMode"), f"is {mode}", f"write {' or '.join(_ALLOCATIONS)}")
    if count is not None and count < 0:  # 0 becomes the default
        yield refused((*path, "count"), f"is {count}, but must be at least 1", "write 1 or more")
    elif count and mode == "All":
        yield refused((*path, "count"), f"is {count}, which conflicts with allocationMode All", "delete one")


def _of_requests(data: Data, base: Path, names: set[str]) -> Iterator[Problem]:
    """Constraints and configurations name requests of the same claim."""
    for field in ("constraints", "config"):
        for position, each in mappings(lookup(data, (*base, field))):
            for number, name in words(each.get("requests")):
                if name not in names:
                    yield refused(
                        (*base, field, position, "requests", number),
                        f"is {name}, which is not a request of the claim",
                        f"the requests are {some(sorted(names))}",
                        kind=INCONSISTENT,
                    )


_ALLOCATIONS = ("ExactCount", "All")


def disruption_budget(data: Data) -> Iterator[Problem]:
    """Source: `ValidatePodDisruptionBudgetSpec` (Kubernetes v1.36)."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield refused(
            ("spec", "maxUnavailable"),
            "conflicts with minAvailable: a budget takes only one of them",
            "delete one of the two",
            key=True,
        )
    for field in ("minAvailable", "maxUnavailable"):
        share = spec.get(field)
        percent = _percent(share)
        if percent is not None and percent > 100:
            yield refused(("spec", field), f"is {share}, above 100%", "write at most 100%")


def _stuck(path: Path, field: str) -> Problem:
    return refused(
        path,
        "allows neither an extra pod nor a missing one, so the pods can never be replaced",
        f"raise {field} or maxUnavailable",
    )


def _none(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool) and value == 0) or value == "0%"


def _some(value: object) -> bool:
    percent = _percent(value)
    if percent is not None:
        return percent > 0
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _percent(value: object) -> int | None:
    return digits(value[:-1]) if isinstance(value, str) and value[-1:] == "%" else None


def job(data: Data) -> Iterator[Problem]:
    """Sources: `validateSuccessPolicy` (Kubernetes v1.36), the webhook for Jobs of Kueue (0.9 to 0.19)."""
    yield from _successes(lookup(data, ("spec",)), ("spec",))
    annotations = lookup(data, _ANNOTATIONS)
    spec = lookup(data, ("spec",))
    if isinstance(annotations, dict) and isinstance(spec, dict):
        yield from _of_kueue(annotations, spec)


_ANNOTATIONS: Path = ("metadata", "annotations")
_LEAST_PARALLEL = "kueue.x-k8s.io/job-min-parallelism"
_EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"


def _of_kueue(annotations: Data, spec: Data) -> Iterator[Problem]:
    """Kueue checks these annotations of every Job."""
    parallel, completions = whole(spec.get("parallelism", 1)), whole(spec.get("completions"))
    written = annotations.get(_LEAST_PARALLEL)
    if isinstance(written, str) and not is_filled_in(written) and parallel is not None:
        pods = parallel if completions is None else min(parallel, completions)
        least = digits(written)
        if least is None or not 0 < least < pods:
            fewer = f"write 1 to {pods - 1}" if pods > 1 else "delete it"
            yield refused(
                (*_ANNOTATIONS, _LEAST_PARALLEL),
                f"is {written!r}, but must be a number above 0 and below the {pods} pods of the Job",
                f"{fewer}: Kueue's webhook refuses the Job",
            )
    if written is not None and annotations.get(_ELASTIC) == "true":
        advice = "delete one of the two: Kueue's webhook refuses the Job"
        yield refused((*_ANNOTATIONS, _LEAST_PARALLEL), f"conflicts with {_ELASTIC}", advice, key=True)
    yield from _equal(annotations.get(_EQUAL), spec)


_ELASTIC = "kueue.x-k8s.io/elastic-job"
_BOOLEANS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
"""Of Go's `strconv.ParseBool`."""


def _equal(written: object, spec: Data) -> Iterator[Problem]:
    if not isinstance(written, str) or is_filled_in(written):
        return
    path: Path = (*_ANNOTATIONS, _EQUAL)
    if written not in _BOOLEANS:
        yield refused(
            path, f"is {written!r}, not true or false", 'write "true", or delete it: Kueue refuses it'
        )
    elif written not in ("1", "t", "T", "TRUE", "true", "True"):
        return
    elif spec.get("completionMode", "NonIndexed") == "NonIndexed":
        yield refused(
            path,
            "is true, which requires completionMode Indexed",
            "write completionMode: Indexed, or delete it: Kueue's webhook refuses the Job",
        )
    else:
        parallel, completions = whole(spec.get("parallelism", 1)), whole(spec.get("completions", 1))
        if parallel is not None and completions is not None and parallel != completions:
            what = f"is true, but completions is {completions} and parallelism {parallel}"
            yield refused(path, what, "write the same number: Kueue's webhook refuses the Job")


def _successes(spec: object, base: Path) -> Iterator[Problem]:
    """Indexes begin at 0, and those of a rule are of the Job."""
    completions = whole(lookup(spec, ("completions",)))
    for position, rule in mappings(lookup(spec, ("successPolicy", "rules"))):
        path: Path = (*base, "successPolicy", "rules", position)
        indexes, count = rule.get("succeededIndexes"), whole(rule.get("succeededCount"))
        highest = max((digits(each) or 0 for each in re.split("[,-]", str(indexes))), default=0)
        if completions is not None and isinstance(indexes, str) and highest >= completions:
            yield refused(
                (*path, "succeededIndexes"),
                f"is {indexes}, but the Job has the indexes 0 to {completions - 1}",
                f"write indexes below {completions}, or raise completions",
            )
        elif completions is not None and count is not None and count > completions:
            yield refused(
                (*path, "succeededCount"),
                f"is {count}, above completions {completions}",
                f"write at most {completions}",
            )


_HELP = "write minute, hour, day of the month, month and day of the week, as in `0 2 * * *`"


def cron_job(data: Data) -> Iterator[Problem]:
    """Source: `validateScheduleFormat` and `validateTimeZone` (Kubernetes v1.36)."""
    base: Path = ("spec", "jobTemplate", "spec")
    yield from _successes(lookup(data, base), base)
    yield from time_zone(lookup(data, ("spec", "timeZone")), ("spec", "timeZone"))
    schedule = lookup(data, ("spec", "schedule"))
    if not isinstance(schedule, str) or not schedule:
        return
    in_schedule = schedule.startswith(("TZ=", "CRON_TZ="))
    if is_filled_in(schedule) and not (in_schedule and "/" in schedule):
        return
    if in_schedule:
        zone, _, rest = schedule.partition(" ")
        advice = f"write schedule: {rest!r} and timeZone: {zone.partition('=')[2]}"
        yield refused(("spec", "schedule"), "states a time zone, which belongs to timeZone", advice)
    elif wrong := cron.problem(schedule):
        yield refused(("spec", "schedule"), wrong, _HELP)


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static", "BestEffort"),
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}


def kubelet_configuration(data: Data) -> Iterator[Problem]:
    """Source: `ValidateKubeletConfiguration` and the managers it starts (Kubernetes v1.36)."""
    for field, known in _KNOWN.items():
        value = data.get(field)
        if isinstance(value, str) and value and value not in known and not is_filled_in(value):
            close = nearest(value, known)
            advice = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
            yield refused((field,), f"is {value}: the kubelet does not start", advice, kind=BAD_VALUE)
