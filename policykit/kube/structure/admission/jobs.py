"""Jobs and CronJobs: what ends them, their schedules, and annotations for Kueue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube import cron
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, alternatives, name_of, refused, time_zone
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import TRUE, digits, is_boolean, numbered, whole
from policykit.nearest import some


def job(data: Data) -> Iterator[Problem]:
    """Sources: `validateSuccessPolicy` (Kubernetes v1.36), the webhook for Jobs of Kueue (0.9 to 0.19)."""
    yield from _job(lookup(data, ("spec",)), ("spec",))
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


def _equal(written: object, spec: Data) -> Iterator[Problem]:
    if not isinstance(written, str) or is_filled_in(written):
        return
    path: Path = (*_ANNOTATIONS, _EQUAL)
    if not is_boolean(written):
        yield refused(
            path, f"is {written!r}, not true or false", 'write "true", or delete it: Kueue refuses it'
        )
    elif written not in TRUE:
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


_WHO = "the API server refuses the Job"


def _job(spec: object, base: Path) -> Iterator[Problem]:
    """Source: `validateJobSpec`, `ValidateJobSpec` and `generateSelector` (Kubernetes v1.36)."""
    yield from _successes(spec, base)
    if not isinstance(spec, dict):
        return
    selector = spec.get("selector")
    # The API server completes an empty one, of a Job alone.
    empty = isinstance(selector, dict) and not any(selector.values()) and "jobTemplate" not in base
    if (
        selector is not None
        and not empty
        and spec.get("manualSelector") is not True
        and "controller-uid" not in str(selector)
    ):
        advice = f"delete it: Kubernetes selects the pods of a Job by a label of its own; {_WHO}"
        yield refused((*base, "selector"), "may not be set without manualSelector", advice, key=True)
    most, indexed = whole(spec.get("maxFailedIndexes")), whole(spec.get("completions"))
    if most is not None and spec.get("backoffLimitPerIndex") is None:
        what = "needs backoffLimitPerIndex beside it"
        yield refused((*base, "maxFailedIndexes"), what, f"add it: {_WHO}", key=True, kind=INCONSISTENT)
    elif most is not None and indexed is not None and most > indexed:
        what = f"is {most}, above completions {indexed}"
        yield refused((*base, "maxFailedIndexes"), what, f"write at most {indexed}: {_WHO}")
    manager = spec.get("managedBy")
    if isinstance(manager, str) and "/" not in manager and not is_filled_in(manager):
        advice = f"write the controller with its domain, or delete it: {_WHO}"
        yield refused((*base, "managedBy"), f"is {manager}, without the domain of a controller", advice)
    policy: Path = ("podFailurePolicy", "rules")
    rules = [*numbered(lookup(spec, policy))]
    if rules and spec.get("podReplacementPolicy") == "TerminatingOrFailed":
        what = "is TerminatingOrFailed, but podFailurePolicy judges only pods that have failed"
        yield refused((*base, "podReplacementPolicy"), what, f"write Failed: {_WHO}")
    names = [name_of(each) for field in _LISTS for _, each in numbered(lookup(spec, (*_POD, field)))]
    for position, rule in rules:
        yield from _failure(rule, (*base, *policy, position), names)
        if rule.get("action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            what = "is FailIndex, but there is no backoffLimitPerIndex"
            yield refused((*base, *policy, position, "action"), what, f"add it: {_WHO}")


_POD: Path = ("template", "spec")
_LISTS = ("containers", "initContainers")
_WHEN = ("onExitCodes", "onPodConditions")


def _failure(rule: Data, path: Path, names: list[str]) -> Iterator[Problem]:
    """Source: `validatePodFailurePolicyRule` (Kubernetes v1.36)."""
    yield from alternatives(rule, path, _WHEN, _WHO, needed=True)
    codes = rule.get(_WHEN[0])
    if not isinstance(codes, dict):
        return
    at: Path = (*path, _WHEN[0])
    listed = codes.get("values")
    numbers = [whole(each) for each in listed] if isinstance(listed, list) else []
    for position, number in enumerate(numbers):
        if number == 0 and codes.get("operator") == "In":
            what = "is 0, which is not a failure"
            yield refused((*at, "values", position), what, f"delete it: {_WHO}")
    plain = [number for number in numbers if number is not None]
    if plain != sorted(set(plain)):
        ordered = ", ".join(map(str, sorted(set(plain))))
        yield refused((*at, "values"), "is not in ascending order", f"write [{ordered}]: {_WHO}")
    name = name_of(codes, "containerName")
    if name and names and all(names) and name not in names:
        what = f"is {name}, which is not a container of the pods"
        yield refused((*at, "containerName"), what, f"the containers are {some(names)}: {_WHO}")


def _successes(spec: object, base: Path) -> Iterator[Problem]:
    """Indexes begin at 0, and those of a rule are of the Job."""
    completions = whole(lookup(spec, ("completions",)))
    for position, rule in numbered(lookup(spec, ("successPolicy", "rules"))):
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
    yield from _job(lookup(data, base), base)
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
