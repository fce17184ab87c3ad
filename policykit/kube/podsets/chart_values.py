"""What the values of a Helm chart say of pods, in the fields that charts copy into their templates.

By convention a value has the name and the form of the field: `tolerations`, `nodeSelector`, `resources`. A
chart may add to them, or leave them out, so each map with such fields is a part of a pod set. Where a map has
those of several programs, names begin with the program: `controller_tolerations`, `nvidianodeSelector`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube import requests
from policykit.kube.affinity import PREFERRED, REQUIRED
from policykit.kube.chart_values import sources
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.templates import resource_requests
from policykit.kube.tolerations import FIELDS
from policykit.manifests.document import Manifest
from policykit.manifests.memoize import memoize_last
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, numbered
from policykit.namedtuple import NamedTuple

_TYPES = ("array", "object", "string")
"""Of JSON Schema, which may list several."""
_PAIR = frozenset({"key", "operator", "value", "values"})
"""Fields of a chart's own form for one label."""


def _are_tolerations(value: object) -> bool:
    listed = mappings(value)
    return bool(listed) and all(FIELDS & each.keys() for each in listed)


def _is_node_selector(value: object) -> bool:
    """A map of scalars, but not a chart's own with a switch or one label, nor a part of a schema."""
    stated = mapping(value)
    own = "enabled" in stated or stated.get("type") in _TYPES or ("key" in stated and stated.keys() <= _PAIR)
    return bool(stated) and not own and not any(map(_is_nested, stated.values()))


def _is_affinity(value: object) -> bool:
    """A map with the rules of affinity, perhaps in the wrong place, but not `podAntiAffinity: soft`."""
    stated = mapping(value)
    listed = [stated, *(part for part in stated.values() if part)]
    return any(not {REQUIRED, PREFERRED}.isdisjoint(mapping(part)) for part in listed) and all(
        isinstance(part, (dict, list)) and not {"enabled", "type"} & mapping(part).keys() for part in listed
    )


def _are_constraints(value: object) -> bool:
    listed = mappings(value)
    return bool(listed) and all("topologyKey" in each for each in listed)


def _are_resources(value: object) -> bool:
    """Amounts that a chart need not fill in."""
    stated = mapping(value)
    if not stated or not requests.FIELDS.issuperset(stated):
        return False
    amounts = [amount for side in ("limits", "requests") for amount in mapping(stated.get(side)).values()]
    return bool(amounts) and not any(amount == "" or _is_nested(amount) for amount in amounts)


_NESTED = (dict, list)


def _is_nested(value: object) -> bool:
    return isinstance(value, _NESTED)


_FORMS: Mapping[str, Callable[[object], bool]] = {
    "affinity": _is_affinity,
    "nodeSelector": _is_node_selector,
    "resources": _are_resources,
    "tolerations": _are_tolerations,
    "topologySpreadConstraints": _are_constraints,
}


_ENDS: Mapping[str, str] = {
    "olerations": "tolerations",
    "odeSelector": "nodeSelector",
    "ode_selector": "nodeSelector",
}
"""Ends of names of values, and the field whose form they have."""


def _field_of(name: object) -> str:
    """The field that a value with such a name is for by its end; empty: none, or it is the field."""
    if not isinstance(name, str) or name in _FORMS or not name.endswith(tuple(_ENDS)):
        return ""
    return next(field for end, field in _ENDS.items() if name.endswith(end))


def matches_shape(data: object) -> bool:
    """Whether a document without a kind has parts of pods. One of Docker Compose has `services`."""
    if not isinstance(data, dict) or isinstance(data.get("services"), dict):
        return False
    return bool(_parts_of(data))


def pod_sets(manifest: Manifest) -> tuple[PodSet, ...]:
    """One for each map of the values with fields of pods, in document order."""
    return tuple(
        _pod_set((*base, *path), fields)
        for base, values in _values(manifest)
        for path, fields in _parts_of(values)
    )


class _Value(NamedTuple):
    """The value for a field of pods."""

    name: str
    data: Any


def _values(manifest: Manifest) -> Iterator[tuple[Path, Any]]:
    """The values that a document is, or that an object states as a map."""
    spec = mapping(manifest.data.get("spec"))
    if manifest.read_as:
        yield (), manifest.data
    elif manifest.group == "helm.toolkit.fluxcd.io":
        yield ("spec", "values"), spec.get("values")
    elif manifest.kind == "Kustomization":
        for at, chart in numbered(manifest.data.get("helmCharts")):
            yield ("helmCharts", at, "valuesInline"), chart.get("valuesInline")
    elif manifest.group == "argoproj.io":
        base: Path = ("spec",)
        if manifest.kind == "ApplicationSet":
            base, spec = ("spec", "template", "spec"), mapping(mapping(spec.get("template")).get("spec"))
        for place, source in sources(spec, base):
            yield (*place, "helm", "valuesObject"), mapping(source.get("helm")).get("valuesObject")


@memoize_last  # a document is asked for its form first
def _parts_of(values: Any) -> tuple[tuple[Path, Mapping[str, _Value]], ...]:
    return tuple(_parts(values, ()))


def _parts(values: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, _Value]]]:
    """The maps with fields of pods, and the value for each of their fields."""
    if type(values) is list:
        for at, each in enumerate(values):
            if type(each) in _NESTED:
                yield from _parts(each, (*path, at))
    elif type(values) is dict:
        nested = {name: value for name, value in values.items() if type(value) in _NESTED}
        fields = {
            name: _Value(name, value)
            for name, value in nested.items()
            if name in _FORMS and _FORMS[name](value)
        }
        if fields:
            yield path, fields
        for name, value in nested.items():
            if (field := _field_of(name)) and _FORMS[field](value):
                yield path, {field: _Value(name, value)}
            elif name not in fields:
                yield from _parts(value, (*path, name))


def _pod_set(path: Path, fields: Mapping[str, _Value]) -> PodSet:
    spec = {name: value.data for name, value in fields.items() if name != "resources"}
    resources = fields["resources"].data if "resources" in fields else None
    return PodSet(
        name="values",
        path=path,
        spec=spec,
        labels={},
        annotations={},
        replicas=None,
        places={name: (*path, value.name) for name, value in fields.items()},
        default_place=None,
        devices=tuple(resource_requests(resources, (*path, "resources"))),
        stored=True,
    )
