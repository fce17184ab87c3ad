"""Training and its groups of pods: Kubeflow, PodMigrationJob, LeaderWorkerSet; KAI-Scheduler's Topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.kube.structure.admission.checks import (
    Data,
    name_of,
    named_differently,
    not_below,
    one_of,
    ordered,
    refused,
    service_name,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, numbered, whole
from policykit.model.severity import Severity

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
    yield from _uncounted(data)
    workers = whole(lookup(spec, ("mpiReplicaSpecs", "Worker", "replicas"))) or 1
    appended = f"-worker-{workers - 1}" if "mpiReplicaSpecs" in spec else ""
    yield from service_name(data, "the operator refuses it", 63 - len(appended))
    yield from _run(mapping(spec.get("runPolicy")), of_mpi="mpiReplicaSpecs" in spec)
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
        yield from _elastic(spec, elastic)


def _uncounted(data: Data) -> Iterator[Problem]:
    """Sources: `setDefaultsTypeWorker` and `validateWorkerReplicaSpec` of mpi-operator (v0.4 to 0.8)."""
    path: Path = ("spec", "mpiReplicaSpecs", "Worker")
    there = lookup(data, path)
    if data.get("apiVersion") != "kubeflow.org/v2beta1" or not isinstance(there, dict) or not there:
        return
    if there.get("replicas") is None and not any(map(is_placeholder, there)):
        what = "has no replicas, which is taken for 0"
        advice = "write replicas: 1 or more: the operator refuses the job"
        yield refused(path, what, advice, key=True, kind=INCONSISTENT)


_MANAGERS = ("kubeflow.org/training-operator", "kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue")


def _run(policy: Data, *, of_mpi: bool) -> Iterator[Problem]:
    """Sources: `ValidateRunPolicy` (v1.9), `validateRunPolicy` of mpi-operator (v0.6)."""
    base: Path = ("spec", "runPolicy")
    if of_mpi:
        for field in ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit"):
            yield from not_below(policy, base, field, 0, "the operator refuses the job")
    yield from one_of(policy, ("managedBy",), _MANAGERS, "the operator refuses the job", base)


def _elastic(spec: Data, elastic: Data) -> Iterator[Problem]:
    """Source: `validateSpec` of the webhook for PyTorchJobs (v1.9)."""
    base: Path = ("spec", "elasticPolicy")
    if elastic.get("nProcPerNode") is not None and spec.get("nprocPerNode") is not None:
        what = "conflicts with nprocPerNode of the job"
        yield refused((*base, "nProcPerNode"), what, "delete it: the operator refuses the job", key=True)
    replicas = spec.get("pytorchReplicaSpecs")
    if isinstance(replicas, dict) and replicas and "Worker" not in replicas and "Master" in replicas:
        what = "needs workers, and there is no Worker"
        advice = "write Worker in place of Master: the operator refuses the job"
        yield refused(base, what, advice, key=True, kind=INCONSISTENT)


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
    listed = [*numbered(lookup(there, path[len(base) :]))]
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


_HOST = "kubernetes.io/hostname"


def topology(data: Data) -> Iterator[Problem]:
    """Source: the rules of KAI-Scheduler's CRD Topology (v0.9 to 0.10)."""
    base: Path = ("spec", "levels")
    levels = [name_of(each, "nodeLabel") for _, each in numbered(lookup(data, base))]
    yield from named_differently(lookup(data, base), base, "nodeLabel", "level")
    if _HOST in levels[:-1]:
        where: Path = (*base, levels.index(_HOST), "nodeLabel")
        advice = "move it to the end of the levels: the API server refuses it"
        yield refused(where, f"is {_HOST}, which can only be the lowest level", advice)


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
    yield from _leader_apart(data, template)
    update = lookup(data, _UPDATE)
    yield from service_name(data, who)
    yield from _shares(mapping(update))
    if isinstance(update, dict) and all(update.get(each) in (0, "0%") for each in _REPLACED):
        advice = "raise maxSurge or maxUnavailable"
        yield refused(_UPDATE, "allows neither an extra group nor a missing one", advice)


def _shares(update: Data) -> Iterator[Problem]:
    """Source: `validatePositiveIntOrPercent` and `isNotMoreThan100Percent` (v0.8)."""
    who = "LeaderWorkerSet's webhook refuses it"
    for field in ("maxSurge", "maxUnavailable", "partition"):
        yield from not_below(update, _UPDATE, field, 0, who)
        share = update.get(field)
        if not isinstance(share, str) or field == "partition" or is_filled_in(share):
            continue
        percent = digits(share[:-1]) if share.endswith("%") else None
        if percent is None or percent > 100:
            yield refused((*_UPDATE, field), f"is {share}", f"write a number, or a share such as 25%: {who}")


_EXCLUSIVE, _PART_EXCLUSIVE = (
    f"leaderworkerset.sigs.k8s.io/{name}" for name in ("exclusive-topology", "subgroup-exclusive-topology")
)


_ALIKE = ("cloud.google.com/gke-nodepool", "kubernetes.io/hostname")
"""Labels whose nodes are alike: what one selects by another label has one value."""


def _leader_apart(data: Data, template: Data) -> Iterator[Problem]:
    """A leader that belongs to the first subgroup, which is in one domain. Source: the pod webhook (v0.8)."""
    domain = lookup(data, ("metadata", "annotations", _PART_EXCLUSIVE))
    policy = mapping(template.get("subGroupPolicy"))
    if not isinstance(domain, str) or not policy or policy.get("subGroupPolicyType") == "LeaderExcluded":
        return
    leader, workers = (
        mapping(lookup(template, (field, "spec", "nodeSelector")))
        for field in ("leaderTemplate", "workerTemplate")
    )
    for key, value in leader.items():
        other = workers.get(key)
        if not isinstance(value, str) or not isinstance(other, str) or value == other:
            continue
        alike = key == domain or domain in _ALIKE
        if alike and not is_filled_in(value) and not is_filled_in(other):
            yield refused(
                (*_TEMPLATE, "leaderTemplate", "spec", "nodeSelector", key),
                f"is {value}, but the workers select {other}, and the leader is in a subgroup with them, "
                f"which must be in one {domain}",
                "write subGroupPolicyType: LeaderExcluded, or select the same nodes",
                Severity.WARNING,
            )
            return


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
