"""A model of KServe on several nodes."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity

KSERVE = "KServe's webhook refuses it"
SCALER = "serving.kserve.io/autoscalerClass"
_SIZES = ("PIPELINE_PARALLEL_SIZE", "TENSOR_PARALLEL_SIZE")
_KNOWN_CARDS = frozenset({"amd.com/gpu", "habana.ai/gaudi", "intel.com/gpu", "nvidia.com/gpu"})
_USUAL = "nvidia.com/gpu"
_ORDINARY = frozenset({"cpu", "ephemeral-storage", "memory", "storage"})
_CARDS = "serving.kserve.io/gpu-resource-types"


def several_nodes(data: Data) -> Iterator[Problem]:
    """A model on several nodes. Source: `validateMultiNodeVariables` (v0.15 to 0.17)."""
    path: Path = ("spec", "predictor")
    predictor = mapping(lookup(data, path))
    stated, model = predictor.get("workerSpec"), predictor.get("model")
    if not isinstance(stated, dict):
        return
    listed = [*numbered(stated.get("containers"))]
    if len(listed) > 1:
        at: Path = (*path, "workerSpec", "containers", 1)
        yield refused(at, "is one too many: workers have one container", f"delete it: {KSERVE}")
    annotations = mapping(lookup(data, ("metadata", "annotations")))
    holders: list[tuple[Path, Data]] = [
        ((*path, "workerSpec", "containers", at), each) for at, each in listed
    ]
    if isinstance(model, dict):
        holders.append(((*path, "model"), model))
        yield from _model(model, (*path, "model"))
        yield from _not_scaled(annotations)
    unknown = [] if annotations.get(_CARDS) else [*_unknown_cards(holders)]
    yield from unknown
    if isinstance(model, dict) and not unknown:
        yield from _other_cards(model, [each for _, each in listed], (*path, "workerSpec"))


def _model(model: Data, path: Path) -> Iterator[Problem]:
    for position, each in numbered(model.get("env")):
        if each.get("name") in _SIZES:
            field = "pipelineParallelSize" if each["name"] == _SIZES[0] else "tensorParallelSize"
            where = (*path, "env", position, "name")
            yield refused(where, f"is {each['name']}", f"write {field} of workerSpec: {KSERVE}")
    source = model.get("storageUri")
    if isinstance(source, str) and not is_filled_in(source) and not source.startswith(("pvc://", "oci://")):
        what = f"is {source}, but a model on several nodes is read from a volume or an image"
        yield refused((*path, "storageUri"), what, f"write pvc:// or oci://: {KSERVE}")


def _not_scaled(annotations: Data) -> Iterator[Problem]:
    scaler = annotations.get(SCALER)
    if scaler in ("external", "hpa", "keda"):
        severity = Severity.WARNING if scaler == "external" else None
        what = f"is {scaler}, but a model on several nodes is not scaled"
        yield refused(("metadata", "annotations", SCALER), what, f"write none: {KSERVE}", severity)


def _other_cards(model: Data, containers: list[Data], path: Path) -> Iterator[Problem]:
    """Source: `addGPUResourceToDeployment` (v0.15 to 0.18)."""
    wanted = next((name for name in _limits(model) if name not in (*_ORDINARY, _USUAL)), "")
    if wanted and not any(name not in _ORDINARY for each in containers for name in _limits(each)):
        yield refused(
            path,
            f"states no card of its own, but the model asks for {wanted}",
            f"write the limits of worker-container here: KServe gives workers {_USUAL} unless the runtime "
            "names another card for them",
            Severity.WARNING,
            key=True,
        )


def _limits(holder: Data) -> list[str]:
    return [str(name) for name in mapping(lookup(holder, ("resources", "limits")))]


def _unknown_cards(holders: list[tuple[Path, Data]]) -> Iterator[Problem]:
    """It demands to know every resource that is not one of every node."""
    for path, holder in holders:
        for side in ("limits", "requests"):
            for name in mapping(lookup(holder, ("resources", side))):
                if name not in _KNOWN_CARDS | _ORDINARY and isinstance(name, str) and not is_filled_in(name):
                    where = (*path, "resources", side, name)
                    advice = f"list it in the annotation {_CARDS}: '[\"{name}\"]': {KSERVE}"
                    yield refused(where, "is not a card that KServe knows", advice, key=True)
                    return
