"""Reservation objects (scheduling.koordinator.sh/v1alpha1): written, read, and those of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit import durations
from policykit.kube import affinity, requests, tolerations
from policykit.kube.names import is_extended
from policykit.manifests.shape import mapping, mappings, pairs, text
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool, Toleration
from policykit.model.quantity import amount_text
from policykit.model.queue import Reservation as PolicyReservation
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.placement.desired_placement import desired_placement, expression
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator.objects.values import admitted_amounts, present

API_VERSION = "scheduling.koordinator.sh/v1alpha1"
KIND = "Reservation"
DAY = 24 * 3600
"""Default ttl, in seconds."""


class Owner(NamedTuple):
    """Pods that may use the reservation. They must match every field that is set."""

    namespace: str = ""
    labels: Mapping[str, str] = {}
    pod: str = ""
    """Name of the one pod."""


class Reservation(NamedTuple):
    """Resources reserved for one pod."""

    name: str
    requests: Amounts
    owners: tuple[Owner, ...] = ()
    """A pod must match one of them. An owner without fields matches every pod."""
    ttl: int = DAY
    """Seconds; 0: it never expires."""
    allocate_once: bool = True
    """Only one pod may use it, and it ends with that pod."""
    scheduler: str = ""
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node label key, values) of required In expressions."""
    tolerations: tuple[Toleration, ...] = ()
    annotations: Mapping[str, str] = {}
    """Of the object itself."""


def write(reservation: Reservation) -> dict[str, Any]:
    """The object. No pod is created from its template, which defines the resources and the nodes."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": reservation.name, **present(annotations=dict(reservation.annotations))},
        "spec": {
            "ttl": durations.format_seconds(reservation.ttl),
            "allocateOnce": reservation.allocate_once,
            "owners": [write_owner(owner) for owner in reservation.owners],
            "template": {"spec": _pod(reservation)},
        },
    }


def write_owner(owner: Owner) -> dict[str, Any]:
    """An item of `owners`."""
    pod = present(namespace=owner.namespace, name=owner.pod)
    selector = {"labelSelector": {"matchLabels": dict(owner.labels)}} if owner.labels else {}
    # A selector without conditions selects every pod; an owner without any field is refused.
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
    """A Reservation. A field that is missing or has the wrong type gets Koordinator's default."""
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
    """The In expressions of a single term; none if there are several terms."""
    terms = affinity.read(pod).required or ()
    alone = terms[0].expressions if len(terms) == 1 else ()
    return tuple((each.key, each.values) for each in alone if each.operator == "In")


RESERVATION_ANNOTATION = "policykit.io/reservation"
"""Annotation of policykit: the policy's reservation that an object belongs to."""
PODS_ANNOTATION, TENANT_ANNOTATION, POOL_ANNOTATION = (
    "policykit.io/pods",
    "policykit.io/tenant",
    "policykit.io/pool",
)
"""Its other fields, so that the policy can be read back."""

Terms = tuple[tuple[str, tuple[str, ...]], ...]


def reservations_of(
    cluster: Cluster, scheduler: str, version: Version
) -> tuple[tuple[Reservation, ...], tuple[str, ...]]:
    """Objects for the policy's reservations, and notices. `scheduler` is Koordinator's schedulerName."""
    found: list[Reservation] = []
    notices: list[str] = []
    names = {reservation.name for reservation in cluster.reservations}
    for reservation in cluster.reservations:
        pools = _pools(cluster, reservation)
        required, ambiguous = _required_labels(cluster, reservation)
        notices += (*ambiguous, *_mismatch_notices(cluster, reservation, scheduler))
        common = Reservation(
            reservation.name,
            admitted_amounts(reservation.requests, version),
            _owners(cluster, reservation),
            reservation.ttl,
            reservation.ttl > 0,
            scheduler,
            required,
            _tolerations(pools),
            _annotations(reservation),
        )
        found += (common._replace(name=name) for name in _names(reservation, names))
    return tuple(found), tuple(notices)


def _names(reservation: PolicyReservation, taken: set[str]) -> Iterator[str]:
    """Its own name for a single pod; numbered for several, avoiding the names of other reservations."""
    if reservation.pods == 1:
        yield reservation.name
        return
    number = 0
    for _ in range(reservation.pods):
        number += 1
        while f"{reservation.name}-{number}" in taken:
            number += 1
        yield f"{reservation.name}-{number}"


def _annotations(reservation: PolicyReservation) -> dict[str, str]:
    pods = str(reservation.pods)
    stated = {
        RESERVATION_ANNOTATION: reservation.name,
        PODS_ANNOTATION: pods,
        TENANT_ANNOTATION: reservation.tenant,
        POOL_ANNOTATION: reservation.pool,
    }
    return {key: value for key, value in stated.items() if value}


def _owners(cluster: Cluster, reservation: PolicyReservation) -> tuple[Owner, ...]:
    labels = {WORKLOAD_KEY: reservation.workload} if reservation.workload else {}
    namespaces = [
        namespace
        for tenant in cluster.tenants
        if tenant.name == reservation.tenant
        for namespace in tenant.namespaces
    ]
    return tuple(Owner(namespace, labels) for namespace in namespaces or ("",))


def _pools(cluster: Cluster, reservation: PolicyReservation) -> tuple[Pool, ...]:
    """The pool it names, or else those with its cards that its workload kind may use."""
    if reservation.pool:
        return tuple(pool for pool in cluster.pools if pool.name == reservation.pool)
    kind = cluster.workloads.get(reservation.workload)
    cards = {r for pool in cluster.pools for r in pool.resources if reservation.requests.get(r)}
    return tuple(
        pool
        for pool in cluster.pools
        if cards <= set(pool.resources) and (kind is None or not cards or is_allowed(kind, pool))
    )


def _required_labels(cluster: Cluster, reservation: PolicyReservation) -> tuple[Terms, tuple[str, ...]]:
    """Required node labels: those that identify its pool, or else those of its workload kind."""
    if reservation.pool:
        return _pool_labels(cluster, reservation)
    kind = cluster.workloads.get(reservation.workload)
    if kind is None:
        return (), ()
    cards = [c for c in cluster.cards.values() if reservation.requests.get(c.resource)]
    return desired_placement(
        cluster, kind, cards[0] if len(cards) == 1 else None
    ).required if cards else (), ()


def _pool_labels(cluster: Cluster, reservation: PolicyReservation) -> tuple[Terms, tuple[str, ...]]:
    """The labels that identify the pool: usage and product first, then those that differ."""
    pool = next((each for each in cluster.pools if each.name == reservation.pool), None)
    if pool is None:
        return (), ()
    others = [each for each in cluster.pools if each.name != pool.name]
    card = cluster.card_of(pool)
    first = [key for key in (cluster.usage_key, card.product_key if card else "") if key in pool.labels]
    chosen = dict.fromkeys(first)
    for key in sorted(pool.labels):
        alike = [each for each in others if all(each.labels.get(k) == pool.labels[k] for k in chosen)]
        if any(each.labels.get(key) != pool.labels[key] for each in alike):
            chosen[key] = None
    same = [each.name for each in others if all(each.labels.get(k) == pool.labels[k] for k in chosen)]
    notices = (
        (
            f"reservation {reservation.name} is for pool {pool.name}, which no label distinguishes from pool "
            f"{', '.join(same)}: it may be placed there too. Give the pool a label of its own",
        )
        if same
        else ()
    )
    return tuple((key, (pool.labels[key],)) for key in chosen), notices


def _tolerations(pools: tuple[Pool, ...]) -> tuple[Toleration, ...]:
    """One for each hard taint: unlike for pods, admission adds none to a reservation."""
    found = dict.fromkeys(
        Toleration(taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect)
        for pool in pools
        for taint in pool.hard_taints
    )
    return tuple(found)


def _mismatch_notices(cluster: Cluster, reservation: PolicyReservation, scheduler: str) -> Iterator[str]:
    """About reservations that the intended pods cannot use, or that others can."""
    name, kind = reservation.name, cluster.workloads.get(reservation.workload)
    if kind is not None and kind.scheduler != scheduler:
        yield (
            f"reservation {name} is for workload kind {kind.name}, whose scheduler is "
            f"{kind.scheduler or 'not stated'}: only pods with schedulerName {scheduler} can use it"
        )
    if not reservation.tenant and not reservation.workload:
        yield (
            f"reservation {name} has neither tenant nor workload: any pod with schedulerName {scheduler} may "
            "use it"
        )
    tenants = {tenant.name: tenant for tenant in cluster.tenants}
    if reservation.tenant in tenants and not tenants[reservation.tenant].namespaces:
        yield (
            f"reservation {name} is for tenant {reservation.tenant}, which owns no namespace: pods of any "
            "namespace may use it"
        )
