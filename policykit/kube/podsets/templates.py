"""Reads pod templates: the PodSpec, the path of each field, and requests, also of Spark's operator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.podsets.kind_entry import Binding, Pattern, Template, literal, matches, value
from policykit.kube.podsets.podset import DeviceRequest
from policykit.kube.podsets.replicas import textual
from policykit.manifests.document import texts
from policykit.manifests.path import Path
from policykit.model.quantity import amount
from policykit.namedtuple import NamedTuple

_MEMORY = r"([0-9]{1,12})([kmgtp]?)b?\Z"
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
"""Powers of two."""
_LEAST_OVERHEAD = 384 << 20
_DEFAULT_MEMORY = 1 << 30


def spark_requests(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """Of `driver` or `executor`; the least that Spark asks for, since its configuration may add more.

    Source: `BasicDriverFeatureStep` and `BasicExecutorFeatureStep` (Spark 3.5).
    """
    if not isinstance(found, dict) or "template" in found:
        return
    cores = "cores" if found.get("coreRequest") is None else "coreRequest"
    written = found.get(cores)
    asked = amount("cpu", 1 if written is None else written)
    if asked:
        yield DeviceRequest(_written(found, path, cores), "cpu", asked)
    heap, overhead = _bytes(found, "memory", _DEFAULT_MEMORY), _bytes(found, "memoryOverhead", None)
    if heap is not None:
        added = max(heap // 10, _LEAST_OVERHEAD) if overhead is None else overhead
        yield DeviceRequest(_written(found, path, "memory"), "memory", heap + added)


def _written(found: dict[str, Any], path: Path, field: str) -> Path:
    return path if found.get(field) is None else (*path, field)


def _bytes(found: dict[str, Any], field: str, default: int | None) -> int | None:
    """An amount in the form of the JVM: 512m, 5g; the default where none can be read."""
    written = value(found, (field,))
    if written is None:
        return default
    match = re.match(_MEMORY, written.strip(), re.IGNORECASE) if isinstance(written, str) else None
    return int(match[1]) << _UNITS[match[2].lower()] if match and match[2] else None


Places = dict[str, Path | None]

_POD_FIELDS = frozenset(
    (
        "affinity",
        "containers",
        "initContainers",
        "nodeSelector",
        "priorityClassName",
        "resourceClaims",
        "runtimeClassName",
        "schedulerName",
        "schedulingGates",
        "tolerations",
        "topologySpreadConstraints",
        "volumes",
    )
)
"""Fields of a partial shape with the same meaning as in a PodSpec."""

_METADATA = ("labels", "annotations")


class Pod(NamedTuple):
    """The data of a pod template: PodSpec and the path of each field (see PodSet)."""

    spec: Mapping[str, Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    places: Places
    default_place: Path | None
    patches: tuple[Path, ...] = ()
    """Strings or maps that are applied to the pod last."""

    def place(self, field: str) -> Path | None:
        """Path of a field, also if it is missing; None: the kind has none, or it is unknown."""
        if field in self.places or self.default_place is None:
            return self.places.get(field)
        return (*self.default_place, field)


def read(data: Any, template: Template, binding: Binding, path: Path) -> Pod:
    """The template at `path`; a value of the wrong shape counts as empty."""
    found = value(data, path)
    whole = found if isinstance(found, dict) else {}
    if template.shape == "partial":
        pod = _partial(whole, template, path)
    elif template.shape == "podSpec":
        pod = Pod(whole, {}, {}, {"labels": None, "annotations": None}, path)
    else:
        pod = pod_template(whole, path)
    if template.label_maps is None:
        return pod
    places = dict(pod.places)
    labels, places["labels"] = _joined(data, binding, template.label_maps)
    annotations, places["annotations"] = _joined(data, binding, template.annotation_maps or ())
    return pod._replace(labels=labels, annotations=annotations, places=places)


def pod_template(whole: Mapping[str, Any], path: Path) -> Pod:
    """A map with metadata and spec."""
    spec, metadata = whole.get("spec"), whole.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    return Pod(
        spec if isinstance(spec, dict) else {},
        texts(metadata.get("labels")),
        texts(metadata.get("annotations")),
        {field: (*path, "metadata", field) for field in _METADATA},
        (*path, "spec"),
    )


def _partial(whole: Mapping[str, Any], template: Template, path: Path) -> Pod:
    spec: dict[str, Any] = {}
    places: Places = {"labels": None, "annotations": None}
    for field, below in template.fields.items():
        places[field] = None if below is None else (*path, *literal(below))
        if below is not None and field in _POD_FIELDS:
            found = value(whole, below)
            if found is not None:
                spec[field] = found
    terms = _node_terms(whole, template)
    if terms:
        spec["affinity"] = required_affinity(terms)
    patches = tuple(
        place
        for field in ("podSpecPatch", "patch")
        if (place := places.get(field)) and value(whole, template.fields[field] or ()) is not None
    )
    labels, annotations = (texts(value(whole, template.fields.get(f) or (f"no {f}",))) for f in _METADATA)
    return Pod(spec, labels, annotations, places, None, patches)


def _node_terms(whole: Mapping[str, Any], template: Template) -> list[Any]:
    """Node selector terms that a kind keeps outside an affinity."""
    if "nodeSelectorTerms" in template.fields:
        terms = whole.get("nodeSelectorTerms")
        return terms if isinstance(terms, list) else []
    if "nodeSelectorTerm" in template.fields and isinstance(whole.get("nodeSelectorTerm"), dict):
        return [whole["nodeSelectorTerm"]]
    return []


def required_affinity(terms: list[Any]) -> dict[str, Any]:
    """An affinity that requires one of the terms."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _joined(data: Any, binding: Binding, maps: tuple[Pattern, ...]) -> tuple[dict[str, str], Path | None]:
    """Metadata from several maps, later ones winning, and the path of the last one that exists."""
    joined: dict[str, str] = {}
    place: Path | None = None
    paths = [literal(binding.bound(one)) for one in maps]
    for path in paths:
        found = value(data, path)
        if found is not None:
            joined.update(texts(found))
            place = path
    return joined, place or (paths[-1] if paths else None)


_DEFAULT_GPU = "nvidia.com/gpu"
_IN_SPEC = ("containers", "initContainers")


def requested(data: Any, template: Template, binding: Binding) -> tuple[DeviceRequest, ...]:
    """Every device request of one match of the template."""
    if not template.devices:
        return ()
    found: list[DeviceRequest] = []
    for form, where in template.devices:
        # These are already counted in the spec.
        if len(where) > len(template.path) and where[len(template.path)] in _IN_SPEC:
            continue
        for path in matches(data, binding.bound(where)):
            found.extend(_FORMS[form](value(data, path), path))
    return tuple(found)


def resource_requests(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """requests and limits by resource name; for devices both are equal, or only the limit is set."""
    seen: set[str] = set()
    for part in ("requests", "limits", None):
        listed = value(found, (part,)) if part else found
        where = (*path, part) if part else path
        for resource, quantity in listed.items() if isinstance(listed, dict) else ():
            if isinstance(resource, str) and "/" in resource and resource not in seen:
                seen.add(resource)
                yield DeviceRequest((*where, resource), resource, textual(quantity))


def _name_and_quantity(found: Any, path: Path) -> Iterator[DeviceRequest]:
    name = value(found, ("name",))
    if isinstance(name, str) and name:
        yield DeviceRequest((*path, "quantity"), name, textual(value(found, ("quantity",))))


def _gpu_short(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """requests and limits with gpu, gpuType and custom (Dynamo v1alpha1)."""
    seen: set[str] = set()
    for part in ("requests", "limits"):
        listed = value(found, (part,))
        named = value(listed, ("gpuType",))
        resource = named if isinstance(named, str) and named else _DEFAULT_GPU
        amount = value(listed, ("gpu",))
        if amount is not None and resource not in seen:
            seen.add(resource)
            yield DeviceRequest((*path, part, "gpu"), resource, textual(amount))
        custom = value(listed, ("custom",))
        for name, amount in custom.items() if isinstance(custom, dict) else ():
            if isinstance(name, str) and "/" in name and name not in seen:
                seen.add(name)
                yield DeviceRequest((*path, part, "custom", name), name, textual(amount))


def _gpu_and_type(found: Any, path: Path) -> Iterator[DeviceRequest]:
    amount, named = value(found, ("gpu",)), value(found, ("gpuType",))
    if amount is not None:
        resource = named if isinstance(named, str) and named else _DEFAULT_GPU
        yield DeviceRequest((*path, "gpu"), resource, textual(amount))


_FORMS: dict[str, Callable[[Any, Path], Iterator[DeviceRequest]]] = {
    "resources": resource_requests,
    "nameAndQuantity": _name_and_quantity,
    "gpuShort": _gpu_short,
    "gpuAndType": _gpu_and_type,
    "spark": spark_requests,
}
