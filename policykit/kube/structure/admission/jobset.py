"""Names within a JobSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.values import (
    Data,
    mappings,
    name_of,
    named_differently,
    number,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.nearest import some

_JOBS: Path = ("spec", "replicatedJobs")
_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


def job_set(data: Data) -> Iterator[Problem]:
    """Sources: the CRD's list keys, `ValidateCreate` and `validateCoordinator` of JobSet (v0.12)."""
    jobs = lookup(data, _JOBS)
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        return
    yield from named_differently(jobs, _JOBS, "name", "replicated job")
    names = [name_of(job) for job in jobs]
    yield from _order(jobs, names)
    if not all(names):
        return  # a placeholder may become any name
    yield from _targets(data, ("spec", "successPolicy"), names)
    rules: Path = ("spec", "failurePolicy", "rules")
    yield from named_differently(lookup(data, rules), rules, "name", "rule")
    for position, rule in mappings(lookup(data, rules)):
        yield from _targets(data, (*rules, position), names)
        for at, reason in words(rule.get("onJobFailureReasons")):
            if reason not in _REASONS:
                path = (*rules, position, "onJobFailureReasons", at)
                yield refused(path, f"is {reason}, which no Job fails with", f"known: {some(_REASONS)}")
    yield from _coordinator(data, {name_of(job): job for job in jobs})


def _order(jobs: list[Data], names: list[str]) -> Iterator[Problem]:
    """A job may wait for those that are listed before it."""
    for position, job in enumerate(jobs):
        listed = job.get("dependsOn")
        if position == 0 and listed:
            yield refused(
                (*_JOBS, 0, "dependsOn"),
                "is set, but the first replicated job cannot wait for another",
                "list the job after those that it waits for",
                key=True,
            )
            continue
        for at, other in mappings(listed):
            name = name_of(other)
            if name and name not in names[:position] and all(names):
                where = "does not come before it" if name in names else "does not exist"
                yield refused(
                    (*_JOBS, position, "dependsOn", at, "name"),
                    f'is "{name}", which {where}',
                    f"a replicated job waits for those listed before it: {some(names[:position])}",
                    kind=INCONSISTENT,
                )


def _targets(data: Data, base: Path, names: list[str]) -> Iterator[Problem]:
    path = (*base, "targetReplicatedJobs")
    for position, name in words(lookup(data, path)):
        if name not in names:
            advice = f"the replicated jobs are {some(names)}"
            yield refused(
                (*path, position), f'is "{name}", which is no replicated job', advice, kind=INCONSISTENT
            )


def _coordinator(data: Data, jobs: Mapping[str, Data]) -> Iterator[Problem]:
    base: Path = ("spec", "coordinator")
    coordinator = lookup(data, base)
    if not isinstance(coordinator, Mapping):
        return
    name = name_of(coordinator, "replicatedJob")
    if name and name not in jobs:
        advice = f"the replicated jobs are {some(jobs)}"
        yield refused(
            (*base, "replicatedJob"), f'is "{name}", which is no replicated job', advice, kind=INCONSISTENT
        )
        return
    index = number(coordinator.get("jobIndex"))
    replicas = number(jobs.get(name, {}).get("replicas", 1))
    if index is not None and replicas is not None and index >= replicas:
        what = f"is {index}, but {name} has {replicas} {'job' if replicas == 1 else 'jobs'}"
        yield refused((*base, "jobIndex"), what, "indices begin with 0")
