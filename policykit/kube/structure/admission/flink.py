"""Flink: deployments as its operator takes them."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, not_below, refused, service_name
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, whole
from policykit.model.severity import Severity

_WHO = "the operator refuses it"
_LONGEST = 45
_OWN = ("kubernetes.namespace", "kubernetes.cluster-id", "high-availability.cluster-id")
_PARTS = ("jobManager", "taskManager")
_MODE = "high-availability"
_SAVED = {"savepoint": "savepoints.dir", "last-state": "checkpoints.dir"}


def flink_deployment(data: Data) -> Iterator[Problem]:
    """Source: `DefaultValidator` of Flink's operator (1.15). What its own configuration has by default is not
    known here: where that may decide, it is a warning."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    yield from service_name(data, _WHO, _LONGEST)
    stated = spec.get("flinkConfiguration")
    configuration = stated if isinstance(stated, dict) else {}
    for key in _OWN:
        if key in configuration:
            where: Path = ("spec", "flinkConfiguration", key)
            yield refused(where, "is set by the operator alone", f"delete it: {_WHO}", key=True)
    keys = [*_keys(configuration)]
    for part in _PARTS:
        yield from _part(spec, part, keys)
    yield from not_below(mapping(spec.get("taskManager")), ("spec", "taskManager"), "replicas", 1, _WHO)
    yield from _job(spec, keys)


def _keys(configuration: Data, before: str = "") -> Iterator[str]:
    """Keys with dots, as Flink's configuration also has them nested."""
    for key, value in configuration.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def _part(spec: Data, part: str, keys: list[str]) -> Iterator[Problem]:
    there = mapping(spec.get(part))
    places: tuple[Path, ...] = (
        ("resource", "memory"),
        ("resources", "requests", "memory"),
        ("resources", "limits", "memory"),
    )
    in_keys = any(key.startswith(f"{part.lower()}.") and ("memory" in key or "heap" in key) for key in keys)
    if not in_keys and not any(lookup(there, place) for place in places):
        yield refused(
            ("spec", part) if isinstance(spec.get(part), dict) else ("spec",),
            f"states no memory of the {part}",
            f"write {part}.resource.memory: without it in the operator's own configuration {_WHO}",
            Severity.WARNING,
            kind=INCONSISTENT,
        )
    replicas = whole(there.get("replicas"))
    if part == "jobManager" and replicas is not None:
        path: Path = ("spec", part)
        yield from not_below(there, path, "replicas", 1, _WHO)
        if replicas > 1 and not any(key.startswith(_MODE) for key in keys):
            what = f"is {replicas}, but flinkConfiguration has no {_MODE}"
            advice = f"write {_MODE}.type: kubernetes: without it {_WHO}"
            yield refused((*path, "replicas"), what, advice, Severity.WARNING)


def _job(spec: Data, keys: list[str]) -> Iterator[Problem]:
    job = mapping(spec.get("job"))
    mode = job.get("upgradeMode")
    suffix = _SAVED.get(mode) if isinstance(mode, str) and not is_filled_in(mode) else None
    if suffix and not any(key.endswith((suffix, suffix.replace("s.dir", "-dir"))) for key in keys):
        what = f"is {mode}, but flinkConfiguration has no {suffix}"
        advice = f"write execution.checkpointing.{suffix.replace('s.dir', '-dir')}: without it {_WHO}"
        yield refused(("spec", "job", "upgradeMode"), what, advice, Severity.WARNING)
