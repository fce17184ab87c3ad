"""Number of pods that a template makes: fields of the object, or a rule of the kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from policykit.kube.podsets.kind_entry import (
    Binding,
    KindEntry,
    Lookup,
    Number,
    Pattern,
    Replicas,
    Template,
    hold,
    value,
)
from policykit.manifests.path import Path


def pods(
    data: Any, entry: KindEntry, template: Template, binding: Binding, apart: Collection[Pattern] = ()
) -> int | None:
    """Pods of one match of `template`; None: the object alone does not determine it.

    Numbers at the paths `apart` count as 1, which leaves the pods of one of many equal units.
    """
    if template.replicas is None:
        return None
    return _PodCount(data, entry, binding, apart).pods(template.replicas)


class _PodCount:
    """One match of a template, being counted."""

    __slots__ = ("apart", "binding", "data", "entry")

    def __init__(self, data: Any, entry: KindEntry, binding: Binding, apart: Collection[Pattern]) -> None:
        self.data = data
        self.entry = entry
        self.binding = binding
        self.apart = apart

    def pods(self, replicas: Replicas) -> int | None:
        for conditions, other in replicas.override:
            if hold(conditions, self.data, self.binding):
                return self.pods(other)
        total = self.number(replicas.number)
        if replicas.at_least or replicas.at_most:
            total = self.bounded(total, replicas)
        for factor in replicas.times:
            by = self.number(factor)
            total = None if total is None or by is None else total * by
        return total

    def bounded(self, total: int | None, replicas: Replicas) -> int | None:
        """Raised to one bound, then lowered to the other; a bound without a value is ignored."""
        for bound, choose in ((replicas.at_least, max), (replicas.at_most, min)):
            if bound is None or total is None:
                continue
            if bound.default is None and self._at(bound.path) is None:
                continue
            limit = self.number(bound)
            total = None if limit is None else choose(total, limit)
        return total

    def number(self, number: Number) -> int | None:
        if self.apart and number.path in self.apart:
            return 1
        found = self.lookup(number.lookup) if number.lookup else self._at(number.path)
        counted = self.missing(number) if found is None else whole(found)
        if counted is None or not number.less:
            return counted
        return max(0, counted - number.less) if self._matches(number.less_where) else counted

    def missing(self, number: Number) -> int | None:
        """The default number."""
        if number.parent is not None and self._at(number.parent) is not None:
            return number.parent_default
        if number.default is not None or not number.rule:
            return number.default
        return REPLICA_RULES[number.rule](self.data, self.binding, number.inputs)

    def lookup(self, lookup: Lookup) -> Any:
        wanted = self._at(lookup.equals)
        listed = self._at(lookup.listed)
        for item in listed if isinstance(listed, list) else ():
            held = value(item, lookup.contains)
            if wanted is not None and isinstance(held, list) and wanted in held:
                return value(item, lookup.value)
        return None

    def _at(self, path: Pattern | None) -> Any:
        return None if path is None else self.binding.value(self.data, path)

    def _matches(self, name: str) -> bool:
        """Whether the template with that name exists in the same object, for the same match."""
        template = self.entry.template(name) if name else None
        if template is None:
            return not name
        where = template.path if template.exists is None else template.exists
        return self.binding.value(self.data, where) is not None


_DIGITS = re.compile(r"\s*[0-9]+\s*\Z")

ReplicaRule = Callable[[Any, Binding, tuple[Pattern, ...]], int | None]
"""(object, match of the template, paths of the inputs) to a count; None: unknown."""


def whole(found: Any) -> int | None:
    """A whole number as written; None for a placeholder, a percentage, anything else."""
    return found if type(found) is int and found >= 0 else None


def textual(found: Any) -> int | None:
    """A whole number in places that hold text: annotations, configuration maps."""
    if isinstance(found, str) and _DIGITS.match(found) and len(found) < 20:
        return int(found)
    return whole(found)


def _unknown(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    return None


def _spark_executors(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    """The initial executors of dynamic allocation, else those of sparkConf, else 1 (spark-operator 2.5)."""
    application = binding.path[:-1]
    if value(data, (*application, "dynamicAllocation", "enabled")) is True:
        written = [
            value(data, (*application, *path))
            for path in (
                ("executor", "instances"),
                ("dynamicAllocation", "initialExecutors"),
                ("dynamicAllocation", "minExecutors"),
            )
        ]
        counts = [whole(one) for one in written if one is not None]
        return None if None in counts else max((c for c in counts if c is not None), default=0)
    configured = value(data, (*application, "sparkConf", "spark.executor.instances"))
    return 1 if configured is None else textual(configured)


def _kserve_canary(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    """The share of the stable predictor's replicas, rounded up (KServe 0.20)."""
    stable = value(data, ("spec", "predictor", "minReplicas"))
    replicas = 1 if stable is None else whole(stable)
    percent = whole(value(data, (*binding.path[:-1], "trafficPercent")))
    return None if replicas is None or percent is None else -(-replicas * percent // 100)


def kserve_group_size(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    """Pods of one LLMInferenceService group; inputs are data, dataLocal and pipeline."""
    counts: list[int] = []
    for path in inputs:
        found = binding.value(data, path)
        counted = 0 if found is None else whole(found)
        if counted is None:
            return None
        counts.append(counted)
    parallel, local, pipeline = counts
    if parallel or local:
        return max(1, (parallel or 1) // (local or 1))
    return pipeline or 1


def _kserve_worker_nodes(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    """Nodes of a multi-node model without its head (KServe 0.20), as set in the object itself."""
    worker, head = value(data, binding.path), value(data, binding.path[:-1])
    is_runtime = "supportedModelFormats" in head if isinstance(head, dict) else False
    pipeline = _parallel_size(worker, "pipelineParallelSize", default=is_runtime)
    tensor = _parallel_size(worker, "tensorParallelSize", default=is_runtime)
    if pipeline is None or tensor is None:
        return None
    if value(data, ("metadata", "annotations", "multinode/executor-backend")) == "mp":
        return max(0, pipeline - 1)
    wanted, per_worker, per_head = pipeline * tensor, _gpus(worker), _gpus(head)
    if per_worker is None or per_head is None:
        return None
    if per_worker:
        nodes = 1 if per_head >= wanted else -(-wanted // per_worker)
    else:
        nodes = max(1, 1 + wanted - per_head) if per_head else wanted
    return max(0, nodes - 1)


def _parallel_size(worker: Any, field: str, *, default: bool) -> int | None:
    """A parallel size; one that is missing in a service may be set in its runtime."""
    found = value(worker, (field,))
    if found is None:
        return 1 if default else None
    return whole(found)


def _gpus(pod: Any) -> int | None:
    """GPUs of one pod, over its containers and a KServe model; None: a placeholder."""
    containers = value(pod, ("containers",))
    asking = [*(containers if isinstance(containers, list) else ()), value(pod, ("model",))]
    total = 0
    for one in asking:
        resources: dict[str, Any] = {}
        for part in ("requests", "limits"):
            listed = value(one, ("resources", part))
            resources.update(listed if isinstance(listed, dict) else {})
        for resource, amount in resources.items():
            if isinstance(resource, str) and resource.endswith("/gpu"):
                counted = textual(amount)
                if counted is None:
                    return None
                total += counted
    return total


def _flink_taskmanagers(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    """Task managers that a Flink job's parallelism needs, or a session starts with."""
    spec = binding.path[:-2]
    if value(data, (*spec, "job")) is None:
        return 1 if value(data, (*spec, "mode")) == "standalone" else 0
    parallelism = value(data, (*spec, "job", "parallelism"))
    wanted = _configured(data, spec, "parallelism.default") if parallelism is None else whole(parallelism)
    slots = _configured(data, spec, "taskmanager.numberOfTaskSlots")
    return None if wanted is None or not slots else -(-wanted // slots)


def _configured(data: Any, spec: Path, key: str) -> int | None:
    found = value(data, (*spec, "flinkConfiguration", key))
    return 1 if found is None else textual(found)


def _mpi_legacy(data: Any, binding: Binding, inputs: tuple[Pattern, ...]) -> int | None:
    """Workers of an MPIJob v1alpha1: processing units divided by those of one node, if both are set."""
    for units, per_node in (("gpus", "gpusPerNode"), ("processingUnits", "processingUnitsPerNode")):
        total = whole(value(data, ("spec", units)))
        each = whole(value(data, ("spec", per_node)))
        if total and each:
            return max(1, total // each)
    return None


REPLICA_RULES: dict[str, ReplicaRule] = {
    "per-node": _unknown,
    "autoscaled": _unknown,
    "runtime-nodes": _unknown,
    "spark-executors": _spark_executors,
    "kserve-worker-nodes": _kserve_worker_nodes,
    "kserve-canary": _kserve_canary,
    "kserve-group-size": kserve_group_size,
    "flink-taskmanagers": _flink_taskmanagers,
    "mpi-legacy": _mpi_legacy,
}
"""Rules that count the pods of a template."""
