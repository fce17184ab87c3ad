"""Reading of pod templates: their PodSpec, the path of each field, and device requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.podsets import spark
from policykit.kube.podsets.kind_entry import Template
from policykit.kube.podsets.podset import DeviceRequest
from policykit.kube.podsets.replicas import textual
from policykit.kube.podsets.walk import Binding, Pattern, literal, matches, value
from policykit.manifests.document import texts
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple

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


def read(data: Any, template: Template, binding: Binding, stands: Path) -> Pod:
    """The template at path `stands`; a value of the wrong shape counts as empty."""
    found = value(data, stands)
    whole = found if isinstance(found, dict) else {}
    if template.shape == "partial":
        pod = _partial(whole, template, stands)
    elif template.shape == "podSpec":
        pod = Pod(whole, {}, {}, {"labels": None, "annotations": None}, stands)
    else:
        pod = pod_template(whole, stands)
    if template.label_maps is None:
        return pod
    places = dict(pod.places)
    labels, places["labels"] = _joined(data, binding, template.label_maps)
    annotations, places["annotations"] = _joined(data, binding, template.annotation_maps or ())
    return pod._replace(labels=labels, annotations=annotations, places=places)


def pod_template(whole: Mapping[str, Any], stands: Path) -> Pod:
    """A map with metadata and spec."""
    spec, metadata = whole.get("spec"), whole.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    return Pod(
        spec if isinstance(spec, dict) else {},
        texts(metadata.get("labels")),
        texts(metadata.get("annotations")),
        {field: (*stands, "metadata", field) for field in _METADATA},
        (*stands, "spec"),
    )


def _partial(whole: Mapping[str, Any], template: Template, stands: Path) -> Pod:
    spec: dict[str, Any] = {}
    places: Places = {"labels": None, "annotations": None}
    for field, below in template.fields.items():
        places[field] = None if below is None else (*stands, *literal(below))
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


def _resources(found: Any, path: Path) -> Iterator[DeviceRequest]:
    """requests and limits by resource name; for devices both are equal, or only the limit is set."""
    seen: set[str] = set()
    for part in ("requests", "limits", None):
        listed = value(found, (part,)) if part else found
        where = (*path, part) if part else path
        for resource, amount in listed.items() if isinstance(listed, dict) else ():
            if isinstance(resource, str) and "/" in resource and resource not in seen:
                seen.add(resource)
                yield DeviceRequest((*where, resource), resource, textual(amount))


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
    "resources": _resources,
    "nameAndQuantity": _name_and_quantity,
    "gpuShort": _gpu_short,
    "gpuAndType": _gpu_and_type,
    "spark": spark.requests,
}
