"""Training and its groups of pods: Kubeflow, JobSet, Spark, PodMigrationJob, LeaderWorkerSet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    mappings,
    name_of,
    named_differently,
    not_below,
    ordered,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, whole
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
_CONTAINERS: Mapping[str, str] = {
    "JAXJob": "jax",
    "PaddleJob": "paddle",
    "PyTorchJob": "pytorch",
    "TFJob": "tensorflow",
    "XGBoostJob": "xgboost",
}
"""Kind to the name of the container that the operator demands in each replica."""
_CLEANED = ("None", "Running", "All")
_REQUIRED = ("MPIJob", "XGBoostJob")
"""Kinds that do not run without the type of one pod."""


def training_job(data: Data) -> Iterator[Problem]:
    """Sources: the webhooks of the training operator (v1.9), `ValidateMPIJob` of mpi-operator (v0.6).

    Earlier releases of the training operator take a type in other letters for the one that is meant.
    """
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    for field in _TYPES:
        replicas = spec.get(field)
        if isinstance(replicas, dict) and replicas:
            yield from _replicas(replicas, field)
    clean: Path = ("spec", "runPolicy", "cleanPodPolicy")
    policy = lookup(data, clean)
    if isinstance(policy, str) and policy not in ("", *_CLEANED) and not is_filled_in(policy):
        refuses = "mpiReplicaSpecs" in spec
        yield refused(
            clean,
            f"is {policy}" if refuses else f"is {policy}, which the operator treats as All",
            f"write one of {', '.join(_CLEANED)}",
            None if refuses else Severity.WARNING,
        )
    elastic = spec.get("elasticPolicy")
    if isinstance(elastic, dict):
        base: Path = ("spec", "elasticPolicy")
        yield from ordered(elastic, base, "minReplicas", "maxReplicas", "torchrun does not start")


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
        if isinstance(there, dict):
            yield from _count(there, (*base, name), only_one=name == single, kind=kind)
            yield from _main_container(there, (*base, name), kind)
    if kind == "TFJob" and "Chief" in replicas and "Master" in replicas:
        yield refused((*base, "Master"), "conflicts with Chief", "keep one of the two", key=True)


def _main_container(there: Data, base: Path, kind: str) -> Iterator[Problem]:
    """Source: `validateSpec` in pkg/webhooks of the training operator (v1.9)."""
    path: Path = (*base, "template", "spec", "containers")
    listed = [*mappings(lookup(there, path[len(base) :]))]
    wanted, names = _CONTAINERS.get(kind, ""), [name_of(each) for _, each in listed]
    if wanted and names and wanted not in names and all(names):
        at = (*path, 0, "name")
        advice = f"name the main container {wanted}: the operator refuses the job"
        yield refused(at, f"is {names[0]}, and no container is named {wanted}", advice)


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
_RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_LONGEST_RULE_NAME = 128


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
        yield from _rule_name((*rules, position, "name"), name_of(rule))
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


def _rule_name(path: Path, name: str) -> Iterator[Problem]:
    """Source: `validateFailurePolicyRuleName` of JobSet (v0.12)."""
    if name and not _RULE_NAME.fullmatch(name):
        what = "which has other characters than letters, digits, _ , and :, or does not begin with a letter"
        yield refused(path, f'is "{name}", {what}', f"write {re.sub(r'[^A-Za-z0-9_,:]', '_', name)}")
    elif len(name) > _LONGEST_RULE_NAME:
        yield refused(path, f"has {len(name)} characters, but may have {_LONGEST_RULE_NAME}", "shorten it")


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
    if not isinstance(coordinator, dict):
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


def spark_application(data: Data) -> Iterator[Problem]:
    """Sources: `ExecutorAllocationManager` and `KubernetesUtils.buildResourcesQuantities` of Spark (3.5)."""
    yield from _spark(data, ("spec",))


def scheduled_spark_application(data: Data) -> Iterator[Problem]:
    """As of the applications that it makes."""
    yield from _spark(data, ("spec", "template"))


_SPARK_RESOURCE = re.compile(r"spark\.(driver|executor)\.resource\.([^.]+)\.amount")


def _spark(data: Data, base: Path) -> Iterator[Problem]:
    conf: Path = (*base, "sparkConf")
    settings = mapping(lookup(data, conf))
    for key in settings:
        found = _SPARK_RESOURCE.fullmatch(key) if isinstance(key, str) else None
        if found and (vendor := f"{key.removesuffix('amount')}vendor") not in settings:
            yield refused(
                (*conf, key),
                f"has no vendor beside it: Spark makes no {found.group(1)} of an amount without one",
                f"add {vendor}: the resource is <vendor>/{found.group(2)}, such as nvidia.com/gpu",
                key=True,
                kind=INCONSISTENT,
            )
    path: Path = (*base, "dynamicAllocation")
    stated = lookup(data, path)
    if isinstance(stated, dict) and stated.get("enabled") is True:
        yield from ordered(stated, path, "minExecutors", "maxExecutors", "the driver does not start")


def pod_migration_job(data: Data) -> Iterator[Problem]:
    """Source: `doMigrate` in `pkg/descheduler/controllers/migration` of Koordinator (1.8)."""
    path: Path = ("spec", "mode")
    mode = lookup(data, path)
    known = ("", "ReservationFirst", "EvictDirectly")
    if isinstance(mode, str) and mode not in known and not is_filled_in(mode):
        yield refused(
            path,
            f'is "{mode}", which Koordinator takes for ReservationFirst',
            "write ReservationFirst or EvictDirectly",
            Severity.WARNING,
        )


_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_UPDATE: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")


def leader_worker_set(data: Data) -> Iterator[Problem]:
    """Source: `generalValidate` of LeaderWorkerSet's webhook (v0.8)."""
    spec, template = data.get("spec"), lookup(data, _TEMPLATE)
    if not isinstance(spec, dict) or not isinstance(template, dict):
        return
    who = "LeaderWorkerSet's webhook refuses it"
    yield from not_below(spec, ("spec",), "replicas", 0, who)
    yield from not_below(template, _TEMPLATE, "size", 1, who)
    policy = template.get("subGroupPolicy")
    if isinstance(policy, dict):
        yield from _divided(policy, whole(template.get("size", 1)))
    yield from _exclusive(data, policy)
    update = lookup(data, _UPDATE)
    if isinstance(update, dict) and all(update.get(each) in (0, "0%") for each in _REPLACED):
        advice = "raise maxSurge or maxUnavailable"
        yield refused(_UPDATE, "allows neither an extra group nor a missing one", advice)


_EXCLUSIVE, _PART_EXCLUSIVE = (
    f"leaderworkerset.sigs.k8s.io/{name}" for name in ("exclusive-topology", "subgroup-exclusive-topology")
)


def _exclusive(data: Data, policy: object) -> Iterator[Problem]:
    """Source: `setNodeSelectorForWorkerPods` and its callers in the pod controller (v0.8)."""
    own = mapping(lookup(data, ("metadata", "annotations")))
    if _PART_EXCLUSIVE in own and policy is None:
        yield refused(
            ("metadata", "annotations", _PART_EXCLUSIVE),
            "is set, but there is no subGroupPolicy",
            "add subGroupPolicy, or delete it: LeaderWorkerSet's webhook refuses it",
            key=True,
        )
    for field in ("leaderTemplate", "workerTemplate"):
        path: Path = (*_TEMPLATE, field, "metadata", "annotations")
        if _EXCLUSIVE in mapping(lookup(data, path)) and _EXCLUSIVE not in own:
            yield refused(
                (*path, _EXCLUSIVE),
                "is on the pods, so the workers are not kept in the domain of their leader",
                "move it to the annotations of the LeaderWorkerSet",
                Severity.WARNING,
                key=True,
            )


def _divided(policy: Data, size: int | None) -> Iterator[Problem]:
    """A subgroup takes an equal share of all pods, or of those without the leader."""
    path: Path = (*_TEMPLATE, "subGroupPolicy")
    part = whole(policy.get("subGroupSize"))
    yield from not_below(policy, path, "subGroupSize", 1, "LeaderWorkerSet's webhook refuses it")
    if part is None or size is None or part < 1 or size < 1:
        return
    excluded = policy.get("subGroupPolicyType") == "LeaderExcluded"
    if (size - 1) % part and (excluded or size % part):
        sizes = f"{size - 1}" if excluded else f"size {size} nor size - 1"
        yield refused(
            (*path, "subGroupSize"),
            f"is {part}, which divides neither {sizes}"
            if not excluded
            else f"is {part}, which does not divide {sizes}",
            "write a divisor of size or of size - 1",
        )


_REPLACED = ("maxSurge", "maxUnavailable")
