"""Objects of inference servers: KServe's runtimes, Dynamo's graphs, Seldon's deployments."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in, is_placeholder
from policykit.kube.structure.admission.checks import Data, name_of, refused
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.severity import Severity

_FORMATS: Path = ("spec", "supportedModelFormats")
_AMOUNTS = ("cpu", "memory", "gpu", "gpuType", "custom")
_SIDES = ("requests", "limits")


def serving_runtime(data: Data) -> Iterator[Problem]:
    """Source: `validateModelFormatPrioritySame` of KServe's webhook (v0.20)."""
    first: dict[str, int] = {}
    for position, one in numbered(mapping(data.get("spec")).get("supportedModelFormats")):
        name, priority = name_of(one), whole(one.get("priority"))
        if not name or priority is None or one.get("autoSelect") is not True:
            continue
        other = first.setdefault(name, priority)
        if other != priority:
            yield refused(
                (*_FORMATS, position, "priority"),
                f"is {priority}, but an earlier version of {name} has {other}",
                "write one priority for all versions of the format: KServe's webhook refuses others",
            )


def seldon_deployment(data: Data) -> Iterator[Problem]:
    """Sources: the CRD of Seldon Core (1.2 to 1.19), which requires name and graph of each predictor, and its
    `SeldonPredictorSpec`, whose containers are in the pods of componentSpecs."""
    listed = mapping(data.get("spec")).get("predictors")
    if listed == []:
        what = "is empty, and a deployment is made of predictors"
        yield refused(_PREDICTORS, what, "add one", Severity.WARNING, key=True, kind=INCONSISTENT)
    for position, predictor in numbered(listed):
        base: Path = (*_PREDICTORS, position)
        lacks = [field for field in ("graph", "name") if predictor.get(field) is None]
        if lacks and not any(map(is_placeholder, predictor)):
            what = f"has no {' and no '.join(lacks)}"
            advice = "write a predictor as one item of the list: the API server refuses it"
            yield refused(base, what, advice, kind=INCONSISTENT)
        for number, component in numbered(predictor.get("componentSpecs")):
            if component.get("spec") is None and component.get("containers") is not None:
                what = "is beside spec, which is empty"
                advice = "indent it below spec: the API server drops or refuses it"
                where: Path = (*base, "componentSpecs", number, "containers")
                yield refused(where, what, advice, key=True)


_PREDICTORS: Path = ("spec", "predictors")


def dynamo_graph(data: Data) -> Iterator[Problem]:
    for name, service in mapping(mapping(data.get("spec")).get("services")).items():
        yield from _resources(service, ("spec", "services", name))


def dynamo_component(data: Data) -> Iterator[Problem]:
    yield from _resources(data.get("spec"), ("spec",))


def _resources(service: object, base: Path) -> Iterator[Problem]:
    """Source: `ResourceItem` of Dynamo's operator, which is not a ResourceList of Kubernetes (0.5)."""
    stated = mapping(mapping(service).get("resources"))
    for side in _SIDES:
        for name in mapping(stated.get(side)):
            if not isinstance(name, str) or name in _AMOUNTS or is_filled_in(name):
                continue
            card = name.endswith("/gpu")
            yield refused(
                (*base, "resources", side, name),
                f"is unknown: Dynamo's resources are {', '.join(_AMOUNTS)}",
                "write gpu, and the resource as gpuType if it is not nvidia.com/gpu"
                if card
                else f"write custom: {{{name}: ...}}",
                Severity.WARNING,
                key=True,
            )
