"""KServe's LLMInferenceService and LLMInferenceServiceConfig."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    name_of,
    named_differently,
    not_below,
    ordered,
    refused,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.severity import Severity

_WHO = "KServe's webhook refuses it"
_DATA = ("data", "dataLocal")
_MODEL: Path = ("spec", "model")


def llm_service(data: Data) -> Iterator[Problem]:
    """Sources: `LLMInferenceServiceValidator` (KServe v0.17 to 0.20), and the CRD's rules (v0.20)."""
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    for base, workload in _workloads(spec):
        yield from _parallelism(workload, base)
        yield from _on_one_node(spec, workload, base)
        yield from _scaling(workload, base)
    yield from _one_mode(spec)
    yield from _scheduler(spec)
    yield from _route(spec)
    yield from _adapters(data)


def llm_config(data: Data) -> Iterator[Problem]:
    """Sources: `LLMInferenceServiceConfigValidator`, and the CRD's rules (v0.17 to 0.20).

    What is missing from it may be in the service that uses it.
    """
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    for base, workload in _workloads(spec):
        yield from _scaling(workload, base)
    if spec.get("baseRefs"):
        advice = f"name all of them in baseRefs of the service: {_WHO}"
        yield refused(("spec", "baseRefs"), "may not be set in a configuration", advice, key=True)
    yield from _scheduler_replicas(spec)


def _workloads(spec: Data) -> Iterator[tuple[Path, Data]]:
    """The service itself decodes, and may have pods that prefill."""
    yield ("spec",), spec
    prefill = spec.get("prefill")
    if isinstance(prefill, dict):
        yield ("spec", "prefill"), prefill


def _parallelism(workload: Data, base: Path) -> Iterator[Problem]:
    stated = workload.get("parallelism")
    path: Path = (*base, "parallelism")
    there = mapping(stated)
    pipeline, replicas = whole(there.get("pipeline")), [whole(there.get(field)) for field in _DATA]
    parts = any(each is not None and each > 0 for each in (pipeline, *replicas))
    if workload.get("worker") is not None and not parts and (stated is None or isinstance(stated, dict)):
        yield refused(
            (*base, "worker"),
            "is set, but parallelism has neither data nor pipeline",
            f"write parallelism with data and dataLocal, or with pipeline: {_WHO}",
            key=True,
        )
    for field in ("pipeline", *_DATA):
        yield from not_below(there, path, field, 1, _WHO)
    if pipeline and any(replicas):
        field = next(field for field in _DATA if there.get(field))
        what = f"conflicts with {field}: a service is parallel in one way only"
        yield refused((*path, "pipeline"), what, f"delete one of the two: {_WHO}", key=True)
    one, other = _DATA if there.get(_DATA[0]) is not None else _DATA[::-1]
    if there.get(one) is not None and there.get(other) is None:
        advice = f"add {other}, the number of a node's replicas" if other == _DATA[1] else f"add {other}"
        yield refused((*path, one), f"needs {other} beside it", f"{advice}: {_WHO}", kind=INCONSISTENT)


def _on_one_node(spec: Data, workload: Data, base: Path) -> Iterator[Problem]:
    """Without workers no stage of a pipeline is made. Source: `combineBaseRefsConfig` (v0.20), whose presets
    for one node have no stages; nor is there one for workers that are (v0.15 to 0.20)."""
    stages = whole(lookup(workload, ("parallelism", "pipeline")))
    if stages and workload.get("worker") is not None and not spec.get("baseRefs"):
        what = f"is {stages}, but KServe brings no template for workers that are stages of a pipeline"
        advice = "write parallelism.data and dataLocal, or name a configuration of your own in baseRefs"
        yield refused((*base, "parallelism", "pipeline"), what, advice, Severity.WARNING)
    apart = any(lookup(workload, ("parallelism", field)) for field in _DATA)
    if stages and stages > 1 and not apart and workload.get("worker") is None and not spec.get("baseRefs"):
        what = f"is {stages}, but there is no worker: KServe's templates for one node have no pipeline"
        advice = "add worker, or write parallelism.tensor for the cards of the node"
        yield refused((*base, "parallelism", "pipeline"), what, advice, Severity.WARNING)


def _scaling(workload: Data, base: Path) -> Iterator[Problem]:
    scaling = workload.get("scaling")
    if not isinstance(scaling, dict):
        return
    path: Path = (*base, "scaling")
    yield from alternatives(workload, base, ("scaling", "replicas"), _WHO)
    yield from ordered(scaling, path, "minReplicas", "maxReplicas", _WHO)
    yield from alternatives(scaling, path, ("wva", "keda"), _WHO, needed=True)
    wva = scaling.get("wva")
    if isinstance(wva, dict):
        yield from alternatives(wva, (*path, "wva"), ("hpa", "keda"), _WHO, needed=True)
    for at in (("keda",), ("wva", "keda")):
        idle, least = whole(lookup(scaling, (*at, "idleReplicaCount"))), whole(scaling.get("minReplicas"))
        if idle is not None and (least is None or idle >= least):
            says = "without minReplicas" if least is None else f"not below minReplicas {least}"
            yield refused((*path, *at, "idleReplicaCount"), f"is {idle}, {says}", f"lower it: {_WHO}")


def _one_mode(spec: Data) -> Iterator[Problem]:
    """Both kinds of pods are scaled by the same component."""
    one, other = mapping(spec.get("scaling")), mapping(lookup(spec, ("prefill", "scaling")))
    path: Path = ("spec", "prefill", "scaling")
    if not one or not other:
        return
    if ("keda" in one) != ("keda" in other):
        here, there = ("keda" if "keda" in each else "wva" for each in (other, one))
        what = f"has {here}, but spec.scaling has {there}"
        yield refused(path, what, f"write {there} in both: {_WHO}")
        return
    mine, its = mapping(one.get("wva")), mapping(other.get("wva"))
    if mine and its and ("hpa" in mine) != ("hpa" in its):
        here, there = ("hpa" if "hpa" in each else "keda" for each in (its, mine))
        what = f"has {here}, but spec.scaling.wva has {there}"
        yield refused((*path, "wva"), what, f"write {there} in both: {_WHO}")


_SCHEDULER: Path = ("router", "scheduler")


def _scheduler_replicas(spec: Data) -> Iterator[Problem]:
    scheduler = lookup(spec, _SCHEDULER)
    yield from not_below(mapping(scheduler), ("spec", *_SCHEDULER), "replicas", 1, _WHO)


def _scheduler(spec: Data) -> Iterator[Problem]:
    yield from _scheduler_replicas(spec)
    path: Path = ("spec", *_SCHEDULER, "config")
    config = lookup(spec, (*_SCHEDULER, "config"))
    if not isinstance(config, dict):
        return
    yield from alternatives(config, path, ("inline", "ref"), _WHO, needed=True)
    if lookup(config, ("ref", "name")) == "":
        yield refused((*path, "ref", "name"), "is empty", f"name the ConfigMap: {_WHO}")


def _route(spec: Data) -> Iterator[Problem]:
    router = mapping(spec.get("router"))
    http, gateway = lookup(router, ("route", "http")), router.get("gateway")
    path: Path = ("spec", "router", "route", "http")
    if not isinstance(http, dict) or not http.get("refs"):
        return
    if http.get("spec") is not None:
        what = "conflicts with refs: a route is either named or written"
        yield refused((*path, "spec"), what, f"delete one of the two: {_WHO}", key=True)
    elif isinstance(gateway, dict) and not gateway.get("refs"):
        what = "conflicts with spec.router.gateway, which KServe makes"
        advice = f"name the gateway in refs of spec.router.gateway, or delete refs: {_WHO}"
        yield refused((*path, "refs"), what, advice, key=True)


def _adapters(data: Data) -> Iterator[Problem]:
    path: Path = (*_MODEL, "lora")
    lora = mapping(lookup(data, path))
    for field in ("maxRank", "maxAdapters", "maxCpuAdapters"):
        yield from not_below(lora, path, field, 1, _WHO)
    listed: Path = (*path, "adapters")
    yield from named_differently(lora.get("adapters"), listed, "name", "adapter")
    model = name_of(mapping(lookup(data, _MODEL))) or name_of(mapping(data.get("metadata")))
    for position, adapter in numbered(lora.get("adapters")):
        if model and name_of(adapter) == model:
            what = f'is "{model}", which is also the name of the model'
            yield refused((*listed, position, "name"), what, f"give it a name of its own: {_WHO}")
