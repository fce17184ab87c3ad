"""Replica types of the training operator's jobs and of MPIJobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.values import Data, not_below, number, refused
from policykit.kube.structure.problem import INCONSISTENT
from policykit.kube.structure.scalars import is_filled_in
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
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
            f"is no replica type of {_a(kind)}",
            f"write {lower[name.lower()]}" if name.lower() in lower else f"known: {', '.join(types)}",
            Severity.WARNING if other_letters or kind == "TFJob" else None,
            key=True,
        )


def _count(there: Data, base: Path, *, only_one: bool, kind: str) -> Iterator[Problem]:
    count = number(there.get("replicas"))
    if only_one and count is not None and count != 1:
        yield refused(
            (*base, "replicas"), f"is {count}, but {_a(kind)} has one {base[-1]}", "write replicas: 1"
        )
    elif not only_one and kind in ("MPIJob", "PyTorchJob"):
        yield from not_below(there, base, "replicas", 1, f"the operator refuses {_a(kind)} with fewer")


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'MX' else 'a'} {kind}"
