"""Reservation objects: scheduling.koordinator.sh/v1alpha1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue.koordinator import durations
from policykit.kube import affinity, requests, tolerations
from policykit.kube.names import is_extended
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, pairs, text
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.taint import Toleration
from policykit.placement.desired_placement import expression
from policykit.targets.koordinator.objects.shapes import present

API_VERSION = "scheduling.koordinator.sh/v1alpha1"
KIND = "Reservation"
DAY = 24 * 3600
"""Default ttl, in seconds."""

PLACES: Mapping[str, Path] = {
    "requests": ("spec", "template", "spec", "containers"),
    "owners": ("spec", "owners"),
    "ttl": ("spec", "ttl"),
    "allocate_once": ("spec", "allocateOnce"),
    "scheduler": ("spec", "template", "spec", "schedulerName"),
    "tolerations": ("spec", "template", "spec", "tolerations"),
    "required": ("spec", "template", "spec", "affinity"),
}
"""Where a Reservation has each of these fields."""


class Owner(NamedTuple):
    """Pods that may use the reservation: they must match all parts that are stated."""

    namespace: str = ""
    labels: Mapping[str, str] = {}
    pod: str = ""
    """Name of the one pod."""


class Reservation(NamedTuple):
    """Resources reserved for one pod."""

    name: str
    requests: Amounts
    owners: tuple[Owner, ...] = ()
    """ORed; one without any part is every pod."""
    ttl: int = DAY
    """Seconds; 0: it does not end."""
    allocate_once: bool = True
    """Only one pod may use it, and it ends with that pod."""
    scheduler: str = ""
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node label key, values) of required In expressions."""
    tolerations: tuple[Toleration, ...] = ()
    annotations: Mapping[str, str] = {}
    """Of the object itself."""


def write(reservation: Reservation) -> dict[str, Any]:
    """The object. No pod is created from its template, which defines what is reserved, and where."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": reservation.name, **present(annotations=dict(reservation.annotations))},
        "spec": {
            "ttl": durations.written(reservation.ttl),
            "allocateOnce": reservation.allocate_once,
            "owners": [write_owner(owner) for owner in reservation.owners],
            "template": {"spec": _pod(reservation)},
        },
    }


def write_owner(owner: Owner) -> dict[str, Any]:
    """An item of `owners`."""
    pod = present(namespace=owner.namespace, name=owner.pod)
    selector = {"labelSelector": {"matchLabels": dict(owner.labels)}} if owner.labels else {}
    # A selector without conditions selects every pod; an owner without any part is refused.
    return {**present(object=pod), **selector} or {"labelSelector": {}}


def _pod(reservation: Reservation) -> dict[str, Any]:
    wanted = {r: amount_text(r, amount) for r, amount in sorted(reservation.requests.items())}
    limits = {r: amount for r, amount in wanted.items() if is_extended(r)}
    node_affinity = {}
    if reservation.required:
        expressions = [expression(key, values) for key, values in reservation.required]
        node_affinity = {affinity.REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    return present(
        schedulerName=reservation.scheduler,
        containers=[{"name": "reserved", "resources": {"requests": wanted, **present(limits=limits)}}],
        affinity=present(nodeAffinity=node_affinity),
        tolerations=[tolerations.to_dict(toleration) for toleration in reservation.tolerations],
    )


def read(data: Mapping[str, Any]) -> Reservation:
    """A Reservation; what is absent or of another shape gets Koordinator's default."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    pod = mapping(mapping(spec.get("template")).get("spec"))
    ttl = durations.seconds(text(spec.get("ttl")))
    return Reservation(
        text(metadata.get("name")),
        requests.effective(pod),
        tuple(read_owner(owner) for owner in mappings(spec.get("owners"))),
        DAY if ttl is None else ttl,
        spec.get("allocateOnce") is not False,
        text(pod.get("schedulerName")),
        _required(pod),
        tolerations.read(pod.get("tolerations")),
        pairs(metadata.get("annotations")),
    )


def read_owner(data: Mapping[str, Any]) -> Owner:
    """Namespace, labels and pod name of an item of `owners`."""
    pod = mapping(data.get("object"))
    labels = pairs(mapping(data.get("labelSelector")).get("matchLabels"))
    return Owner(text(pod.get("namespace")), labels, text(pod.get("name")))


def _required(pod: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The In expressions of a single term; of several terms none is required."""
    terms = affinity.read(pod).required or ()
    alone = terms[0].expressions if len(terms) == 1 else ()
    return tuple((each.key, each.values) for each in alone if each.operator == "In")
