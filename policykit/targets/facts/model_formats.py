"""Facts about the formats of models that runtimes of KServe serve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.references import NamedParts, PartReference, ServedFormat, UnassignedModel

_RUNTIMES = ("ClusterServingRuntime", "ServingRuntime")
_PREDICTOR: Path = ("spec", "predictor")
_MODEL: Path = (*_PREDICTOR, "model")
_OWN_FORMATS = frozenset(
    {
        *("autogluon", "huggingface", "lightgbm", "mlflow", "onnx", "openvino", "paddle", "pmml"),
        *("pytorch", "sklearn", "tensorflow", "tensorrt", "triton", "vLLM", "xgboost"),
    }
)
"""Those of KServe's own runtimes, which a cluster has unless they are left out."""


def formats(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of models that a runtime serves, and of a model whose runtime is named.

    Source: `RuntimeSupportsModel` in `pkg/apis/serving/v1alpha1` of KServe (0.17).
    """
    if manifest.partial or manifest.group != "serving.kserve.io":
        return
    if manifest.kind in _RUNTIMES:
        listed = mappings(lookup(manifest.data, ("spec", "supportedModelFormats")))
        names = frozenset(text(each.get("name")) for each in listed)
        if names and not any(not name or is_placeholder(name) for name in names):
            yield Fact(NamedParts(f"runtime {manifest.name}", "", "model format", names), {}, answers=True)
        for each in listed:
            chosen = each.get("autoSelect") not in (None, False)
            yield Fact(ServedFormat(text(each.get("name")), chosen), {}, answers=True)
    elif manifest.kind == "InferenceService":
        model = mapping(lookup(manifest.data, _MODEL))
        path: Path = ("modelFormat", "name")
        runtime, name = text(model.get("runtime")), text(lookup(model, path))
        if runtime and name and not is_placeholder(runtime) and not is_placeholder(name):
            yield Fact(
                PartReference(f"runtime {runtime}", "", "model format", name), {"name": (*_MODEL, *path)}
            )
        elif name and not model.get("runtime") and not is_placeholder(name):
            yield Fact(UnassignedModel(name, name in _OWN_FORMATS), {"format": (*_MODEL, *path)})
        elif not model:
            of_format = [each for each in mapping(lookup(manifest.data, _PREDICTOR)) if each in _OWN_FORMATS]
            yield from (
                Fact(UnassignedModel(each, True), {"format": (*_PREDICTOR, each)}) for each in of_format
            )
