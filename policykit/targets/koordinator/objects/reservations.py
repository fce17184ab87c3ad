"""Reservation objects: scheduling.koordinator.sh/v1alpha1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue.koordinator import durations
from policykit.kube import affinity, requests, tolerations
from policykit.kube.names import is_extended
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.taint import Toleration
from policykit.placement.wanted import expression
from policykit.targets.koordinator.objects.shapes import present, texts

API_VERSION = "scheduling.koordinator.sh/v1alpha1"
KIND = "Reservation"
DAY = 24 * 3600
"""Seconds that a reservation lasts where it does not say."""

PLACES: Mapping[str, Path] = {
    "requests": ("spec", "template", "spec", "containers"),
    "owners": ("spec", "owners"),
    "ttl": ("spec", "ttl"),
    "allocate_once": ("spec", "allocateOnce"),
    "scheduler": ("spec", "template", "spec", "schedulerName"),
    "tolerations": ("spec", "template", "spec", "tolerations"),
    "required": ("spec", "template", "spec", "affinity"),
}
"""Where a Reservation says each of its fields."""


class Owner(NamedTuple):
    """Pods that may take what is reserved: all parts that are stated must fit."""

    namespace: str = ""
    labels: Mapping[str, str] = {}
    pod: str = ""
    """Name of the one pod."""


class Reserved(NamedTuple):
    """Room for one pod."""

    name: str
    requests: Amounts
    owners: tuple[Owner, ...] = ()
    """ORed; one without any part is every pod."""
    ttl: int = DAY
    """Seconds; 0: it does not end."""
    allocate_once: bool = True
    """The first pod that takes it has it alone, and it ends with that pod."""
    scheduler: str = ""
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node label key, values) of required In expressions."""
    tolerations: tuple[Toleration, ...] = ()
    annotations: Mapping[str, str] = {}
    """Of the object itself."""


def write(reserved: Reserved) -> dict[str, Any]:
    """The object. Its template is a pod that is never made: it says what is reserved, and where."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": reserved.name, **present(annotations=dict(reserved.annotations))},
        "spec": {
            "ttl": durations.written(reserved.ttl),
            "allocateOnce": reserved.allocate_once,
            "owners": [write_owner(owner) for owner in reserved.owners],
            "template": {"spec": _pod(reserved)},
        },
    }


def write_owner(owner: Owner) -> dict[str, Any]:
    """An item of `owners`."""
    pod = present(namespace=owner.namespace, name=owner.pod)
    selector = {"labelSelector": {"matchLabels": dict(owner.labels)}} if owner.labels else {}
    # A selector without conditions takes every pod; an owner without any part is refused.
    return {**present(object=pod), **selector} or {"labelSelector": {}}


def _pod(reserved: Reserved) -> dict[str, Any]:
    wanted = {r: amount_text(r, amount) for r, amount in sorted(reserved.requests.items())}
    limits = {r: amount for r, amount in wanted.items() if is_extended(r)}
    node_affinity = {}
    if reserved.required:
        expressions = [expression(key, values) for key, values in reserved.required]
        node_affinity = {affinity.REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    return present(
        schedulerName=reserved.scheduler,
        containers=[{"name": "reserved", "resources": {"requests": wanted, **present(limits=limits)}}],
        affinity=present(nodeAffinity=node_affinity),
        tolerations=[tolerations.to_dict(toleration) for toleration in reserved.tolerations],
    )


def read(data: Mapping[str, Any]) -> Reserved:
    """A Reservation; what is absent or of another shape has Koordinator's default."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    pod = mapping(mapping(spec.get("template")).get("spec"))
    ttl = durations.seconds(text(spec.get("ttl")))
    return Reserved(
        text(metadata.get("name")),
        requests.effective(pod),
        tuple(read_owner(owner) for owner in mappings(spec.get("owners"))),
        DAY if ttl is None else ttl,
        spec.get("allocateOnce") is not False,
        text(pod.get("schedulerName")),
        _required(pod),
        tolerations.read(pod.get("tolerations")),
        texts(metadata.get("annotations")),
    )


def read_owner(data: Mapping[str, Any]) -> Owner:
    """An item of `owners`, as far as it speaks of namespace, labels and name of pods."""
    pod = mapping(data.get("object"))
    labels = texts(mapping(data.get("labelSelector")).get("matchLabels"))
    return Owner(text(pod.get("namespace")), labels, text(pod.get("name")))


def _required(pod: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The In expressions of a single term: of several, none must hold."""
    terms = affinity.read(pod).required or ()
    alone = terms[0].expressions if len(terms) == 1 else ()
    return tuple((each.key, each.values) for each in alone if each.operator == "In")
