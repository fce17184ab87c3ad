"""What the RuntimeClass that a pod names adds to it when the API server admits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.kube import requests, tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, pairs, text
from policykit.model.pod_admission import RuntimeClass
from policykit.namedtuple import NamedTuple

FIELD = "runtimeClassName"
PLAIN = frozenset({"nvidia", "nvidia-cdi", "nvidia-legacy"})
"""Made by NVIDIA's GPU Operator and by k3s: they name a handler and add nothing to pods."""


class Conflict(NamedTuple):
    """Why the API server refuses a pod for its RuntimeClass."""

    field: Path
    """The field of the PodSpec, and below it."""
    message: str


def read(data: Mapping[str, Any]) -> RuntimeClass:
    """A RuntimeClass; whatever has the wrong shape counts as absent."""
    scheduling = mapping(data.get("scheduling"))
    return RuntimeClass(
        text(mapping(data.get("metadata")).get("name")),
        pairs(scheduling.get("nodeSelector")),
        tolerations.read(scheduling.get("tolerations")),
        {name: str(value) for name, value in mapping(mapping(data.get("overhead")).get("podFixed")).items()},
        text(data.get("handler")),
    )


def by_name(classes: Iterable[RuntimeClass]) -> dict[str, RuntimeClass | None]:
    """Those of a cluster; None: several of one name differ, so which of them counts is not known."""
    found: dict[str, RuntimeClass | None] = {}
    for each in classes:
        found[each.name] = each if found.setdefault(each.name, each) == each else None
    return found


def named(pod_set: PodSet) -> str:
    """The RuntimeClass that the pods name; empty: none."""
    name = pod_set.spec.get(FIELD)
    return name if isinstance(name, str) else ""


def may_add(name: str, known: Mapping[str, RuntimeClass | None]) -> bool:
    """Whether the RuntimeClass is not known, so that it may add tolerations and selectors."""
    return known.get(name) is None if name in known else name not in PLAIN


def admitted(pod_set: PodSet, found: RuntimeClass | None) -> PodSet:
    """The pods with what their RuntimeClass adds, each addition at the field that names the class.

    Unchanged where it adds nothing, or where the API server refuses the pods. Source: `setOverhead` and
    `setScheduling` of the admission plugin RuntimeClass (Kubernetes v1.36).
    """
    if found is None or next(conflicts(pod_set.spec, found), None):
        return pod_set
    spec, places = dict(pod_set.spec), dict(pod_set.places)
    for field, added in (
        ("nodeSelector", {**mapping(spec.get("nodeSelector")), **found.selector}),
        ("tolerations", [*_listed(spec.get("tolerations")), *map(tolerations.to_dict, found.tolerations)]),
        ("overhead", found.overhead),
    ):
        if added and added != spec.get(field):
            if not spec.get(field):
                places[field] = pod_set.place(FIELD)
            spec[field] = added
    return pod_set._replace(spec=spec, places=places)


def conflicts(spec: Mapping[str, Any], found: RuntimeClass) -> Iterator[Conflict]:
    """Fields of a pod that differ from those of its RuntimeClass."""
    selector = mapping(spec.get("nodeSelector"))
    for key, value in found.selector.items():
        there = selector.get(key, value)
        if there != value and not is_placeholder(there):
            yield Conflict(
                ("nodeSelector", key),
                f"the pod selects {key}={there}, but its RuntimeClass {found.name} selects {key}={value}",
            )
    stated = mapping(spec.get("overhead"))
    if stated and requests.amounts(stated) != requests.amounts(found.overhead):
        theirs = ", ".join(f"{name}={amount}" for name, amount in sorted(found.overhead.items())) or "none"
        message = f"the pod states another overhead than its RuntimeClass {found.name}: {theirs}"
        yield Conflict(("overhead",), message)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
