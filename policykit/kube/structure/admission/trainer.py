"""Kubeflow Trainer: runtimes and the jobs that use them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.names import is_extended
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    name_of,
    not_below,
    one_of,
    refused,
    service_name,
    words,
)
from policykit.kube.structure.admission.job_sets import claims_elsewhere
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, numbered, whole
from policykit.model.severity import Severity

_WHO = "Trainer's webhook refuses it"
_API = "the API server refuses it"
_RUN = ("flux", "jax", "mpi", "torch", "xgboost")
_PROCESSES: Path = ("torch", "numProcPerNode")
_WORDS = ("auto", "cpu", "gpu")
_JOBS: Path = ("spec", "template", "spec", "replicatedJobs")
_POD: Path = ("template", "spec", "template", "spec", "containers")
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_CONTAINERS: Mapping[str, str] = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
"""What a replicated job does, by its label, to the container that does it."""


def runtime(data: Data) -> Iterator[Problem]:
    """Sources: `validateReplicatedJobs` (Trainer v2.0 to 2.3), and the CRD's rules."""
    base: Path = ("spec", "mlPolicy")
    policy = mapping(lookup(data, base))
    yield from alternatives(policy, base, _RUN, _API)
    for problem in not_below(policy, base, "numNodes", 1, "jobs that state none have no pod"):
        none = whole(policy.get("numNodes")) == 0
        yield problem._replace(severity=Severity.WARNING) if none else problem
    for field in ("flux", "mpi"):
        yield from not_below(mapping(policy.get(field)), (*base, field), "numProcPerNode", 1, _API)
    yield from _processes(lookup(policy, _PROCESSES), (*base, *_PROCESSES))
    listed = [*numbered(lookup(data, _JOBS))]
    for position, job in listed:
        yield from _step(job, (*_JOBS, position))
    order: Path = (*_JOBS[:-1], "startupPolicy", "startupPolicyOrder")
    waiting = next((position for position, job in listed if job.get("dependsOn")), None)
    if waiting is not None and lookup(data, order) == "InOrder":
        what = "conflicts with startupPolicyOrder InOrder"
        advice = f"delete startupPolicy: {_API}"
        yield refused((*_JOBS, waiting, "dependsOn"), what, advice, key=True)

    for position, one in numbered(lookup(policy, _INJECTED)):
        for number, name in words(one.get("containerNames")):
            if name == "node":
                where = (*base, *_INJECTED, position, "containerNames", number)
                what = "is node, which gets the variables anyway"
                yield refused(where, what, f"delete it: {_API}")
    yield from claims_elsewhere(lookup(data, _CLAIMS), _CLAIMS)


_INJECTED: Path = ("torch", "envInjection", "targets")
_CLAIMS: Path = ("spec", "template", "spec", "volumeClaimPolicies")


def _processes(value: object, path: Path) -> Iterator[Problem]:
    """A word or a number (v2.0 to 2.3)."""
    if isinstance(value, str) and value not in _WORDS and digits(value) is None and not is_filled_in(value):
        yield refused(path, f"is {value}", f"write {', '.join(_WORDS)} or a number: {_API}")


def _step(job: Data, at: Path) -> Iterator[Problem]:
    labels: Path = ("template", "metadata", "labels", _STEP)
    wanted = _CONTAINERS.get(str(lookup(job, labels)), "")
    if not wanted:
        return
    replicas = whole(job.get("replicas"))
    if replicas is not None and replicas != 1:
        what = f"is {replicas}, but a step of a TrainJob is one job"
        yield refused((*at, "replicas"), what, f"write numNodes of mlPolicy instead: {_WHO}")
    names = [name_of(each) for _, each in numbered(lookup(job, _POD))]
    if names and all(names) and wanted not in names:
        what = f"is {names[0]}, and no container is named {wanted}"
        yield refused((*at, *_POD, 0, "name"), what, f"name the main container {wanted}: {_WHO}")


_RESERVED = frozenset(
    {"PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE"}
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")
_MANAGERS = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")
_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")


_PATCHED: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
_OVERRIDES: Mapping[str, tuple[Path, Path]] = {
    "podSpecOverrides": ((), ()),
    "podTemplateOverrides": ((), ("spec",)),
    "runtimePatches": (_PATCHED, ("template", "spec", "template", "spec")),
}
"""What Trainer 2.0, 2.1 and 2.2 call them, with where each has its jobs, and those their pods."""


def _overridden(data: Data) -> Iterator[Problem]:
    """Source: `Validate` of Trainer's plugin for JobSets (v2.0 to 2.3)."""
    for field, (jobs, pod) in _OVERRIDES.items():
        for position, override in numbered(lookup(data, ("spec", field))):
            base: Path = ("spec", field, position)
            changed: list[tuple[Path, Data]] = [(base, override)]
            if jobs:
                listed = numbered(lookup(override, jobs))
                changed = [((*base, *jobs, number), job) for number, job in listed]
            for at, job in changed:
                yield from _set_elsewhere(lookup(job, (*pod, "containers")), (*at, *pod, "containers"))


def _set_elsewhere(containers: object, path: Path) -> Iterator[Problem]:
    for position, container in numbered(containers):
        name = name_of(container)
        if name in _CONTAINERS.values() and container.get("env"):
            field = "trainer" if name == "node" else f"initializer.{name.removesuffix('-initializer')}"
            what = f"is for {name}, whose variables are those of spec.{field}"
            advice = f"move it to spec.{field}.env: {_WHO}"
            yield refused((*path, position, "env"), what, advice, key=True)


def train_job(data: Data) -> Iterator[Problem]:
    """Sources: the webhook for TrainJobs, `Validate` of its plugin for torch (v2.0 to 2.3), the CRD's rules.

    Of what the name of the runtime says, its name alone is read: one for torch reserves variables.
    """
    yield from service_name(data, _WHO)
    yield from one_of(data, ("spec", "managedBy"), _MANAGERS, _API)
    yield from one_of(data, ("spec", "runtimeRef", "kind"), _RUNTIMES, "no runtime is found")
    base: Path = ("spec", "trainer")
    trainer = mapping(lookup(data, base))
    for problem in not_below(trainer, base, "numNodes", 1, "Trainer up to 2.3 takes 0, and makes no pod"):
        none = whole(trainer.get("numNodes")) == 0
        yield problem._replace(severity=Severity.WARNING) if none else problem
    yield from not_below(trainer, base, "numProcPerNode", 1, _API)
    yield from _processes(trainer.get("numProcPerNode"), (*base, "numProcPerNode"))
    per_node = mapping(trainer.get("resourcesPerNode"))
    for name in mapping(per_node.get("requests")):
        if isinstance(name, str) and is_extended(name) and name not in mapping(per_node.get("limits")):
            yield refused(
                (*base, "resourcesPerNode", "requests", name),
                "has no limit beside it",
                "write the same amount under limits: unless the runtime states it, the job is refused",
                Severity.WARNING,
                key=True,
                kind=INCONSISTENT,
            )
    for part in ("dataset", "model"):
        place: Path = ("spec", "initializer", part)
        address = name_of(mapping(lookup(data, place)), "storageUri")
        if address and not _ADDRESS.match(address):
            what = f"is {address}, without a scheme"
            advice = "write one such as hf://, s3:// or file://: Trainer refuses it from 2.3 on"
            yield refused((*place, "storageUri"), what, advice, Severity.WARNING)
    yield from _overridden(data)
    if "torch" not in str(lookup(data, ("spec", "runtimeRef", "name"))):
        return
    for position, variable in numbered(trainer.get("env")):
        if str(variable.get("name")) in _RESERVED:
            what = f"is {variable['name']}, which Trainer sets"
            where = (*base, "env", position, "name")
            yield refused(where, what, f"delete it, or write numNodes and numProcPerNode: {_WHO}")
