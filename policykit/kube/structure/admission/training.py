"""Training jobs: replica types of Kubeflow, replicated jobs of JobSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    mappings,
    name_of,
    named_differently,
    not_below,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import whole
from policykit.model.severity import Severity
from policykit.nearest import some

_TYPES: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "jaxReplicaSpecs": ("JAXJob", ("Worker",), ""),
    "mpiReplicaSpecs": ("MPIJob", ("Launcher", "Worker"), "Launcher"),
    "paddleReplicaSpecs": ("PaddleJob", ("Master", "Worker"), ""),
    "pytorchReplicaSpecs": ("PyTorchJob", ("Master", "Worker"), "Master"),
    "tfReplicaSpecs": ("TFJob", ("Chief", "Evaluator", "Master", "PS", "Worker"), ""),
    "xgbReplicaSpecs": ("XGBoostJob", ("Master", "Worker"), "Master"),
}
"""Of each field with replica types the kind that has it, the types, and the one that has one pod."""
_REQUIRED = ("MPIJob", "XGBoostJob")
"""Kinds that do not run without the type of one pod."""


def training_job(data: Data) -> Iterator[Problem]:
    """Sources: the webhooks of the training operator (v1.9), `ValidateMPIJob` of mpi-operator (v0.6).

    Earlier releases of the training operator take a type in other letters for the one that is meant.
    """
    spec = data.get("spec")
    if not isinstance(spec, Mapping):
        return
    for field in _TYPES:
        replicas = spec.get(field)
        if isinstance(replicas, Mapping) and replicas:
            yield from _replicas(replicas, field)


def _replicas(replicas: Data, field: str) -> Iterator[Problem]:
    kind, types, single = _TYPES[field]
    base: Path = ("spec", field)
    yield from _types(replicas, base, types, kind)
    if single not in replicas and kind in _REQUIRED and set(replicas) <= set(types):
        yield refused(
            base, f"has no {single}", f"add a {single}: the operator refuses the job", kind=INCONSISTENT
        )
    for name in types:
        there = replicas.get(name)
        if isinstance(there, Mapping):
            yield from _count(there, (*base, name), only_one=name == single, kind=kind)
    if kind == "TFJob" and "Chief" in replicas and "Master" in replicas:
        yield refused((*base, "Master"), "conflicts with Chief", "keep one of the two", key=True)


def _types(replicas: Data, base: Path, types: tuple[str, ...], kind: str) -> Iterator[Problem]:
    lower = {name.lower(): name for name in types}
    for name in replicas:
        if not isinstance(name, str) or name in types or is_filled_in(name):
            continue
        other_letters = name.lower() in lower and kind != "MPIJob"
        yield refused(
            (*base, name),
            f"is not a replica type of {_a(kind)}",
            f"write {lower[name.lower()]}" if name.lower() in lower else f"known: {', '.join(types)}",
            Severity.WARNING if other_letters or kind == "TFJob" else None,
            key=True,
        )


def _count(there: Data, base: Path, *, only_one: bool, kind: str) -> Iterator[Problem]:
    count = whole(there.get("replicas"))
    if only_one and count is not None and count != 1:
        yield refused(
            (*base, "replicas"), f"is {count}, but {_a(kind)} has one {base[-1]}", "write replicas: 1"
        )
    elif not only_one and kind in ("MPIJob", "PyTorchJob"):
        yield from not_below(there, base, "replicas", 1, f"the operator refuses {_a(kind)} with fewer")


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'MX' else 'a'} {kind}"


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
                yield refused(
                    path,
                    f"is {reason}, which is not a failure reason",
                    f"known: {some(_REASONS)}",
                )
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
                (*path, position), f'is "{name}", which is not a replicated job', advice, kind=INCONSISTENT
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
            (*base, "replicatedJob"), f'is "{name}", which is not a replicated job', advice, kind=INCONSISTENT
        )
        return
    index = whole(coordinator.get("jobIndex"))
    replicas = whole(jobs.get(name, {}).get("replicas", 1))
    if index is not None and replicas is not None and index >= replicas:
        what = f"is {index}, but {name} has {replicas} {'job' if replicas == 1 else 'jobs'}"
        yield refused((*base, "jobIndex"), what, "indices start at 0")
