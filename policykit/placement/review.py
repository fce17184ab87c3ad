"""Everything the placement rules and `where` need to know about one pod set, computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.catalogue import daemons
from policykit.kube import affinity as affinities
from policykit.kube import requests, runtime_classes, tolerations
from policykit.kube.affinity import NodeAffinity, Preference, Term
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.memoize import computed_once, memoize_beside, memoize_last_call
from policykit.model.pool import KUBE_SCHEDULER, NodeFilters, Toleration
from policykit.namedtuple import NamedTuple
from policykit.placement.card_requests import card_resources_in, has_unknown_amounts
from policykit.placement.owner import may_still_change, owner

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Amounts, Pool
    from policykit.model.workload import WorkloadKind
    from policykit.placement.landing import Landing

SYSTEM_NAMESPACE = "kube-system"
_ANYWHERE = frozenset({"", "exporter"})
"""Roles of daemons that also run as sidecars of applications: log shippers, metrics."""


_BY_CONTROLLER = tuple(
    Toleration(f"node.kubernetes.io/{key}", "Exists", effect=effect)
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
"""What pods of a DaemonSet tolerate besides. Source: `AddOrUpdateDaemonPodTolerations` (v1.36)."""


class _ReviewFields(NamedTuple):
    """A pod set under a policy; without a policy only the fields before `cluster` are set."""

    manifest: Manifest
    pod_set: PodSet
    tolerations: tuple[Toleration, ...]
    """As written, one per list item."""
    affinity: NodeAffinity
    requests: Amounts
    """Effective request of one pod; empty if nothing is requested."""
    card_resources: tuple[str, ...]
    """Requested card resources (amount above 0), sorted."""
    is_system_pod: bool
    """A kube-system pod or device component that may tolerate everything."""
    may_still_change: bool
    """Selectors or tolerations may still be added: see `owner.may_still_change`."""
    cluster: Cluster | None = None
    workload: WorkloadKind | None = None
    decided_by: str = ""
    """How the workload kind was recognized, for display; empty if it was not."""
    candidates: tuple[str, ...] = ()
    """Kinds between which recognition could not choose."""
    products: tuple[str, ...] = ()
    """Products named by selector, required affinity or Equal tolerations."""
    eligible_pools: tuple[Pool, ...] | None = None
    """Pools that the policy allows, in its order; None if it does not cover the pod set."""
    landings: tuple[Landing, ...] = ()
    """One per pool, in the policy's order."""
    namespace: str = "default"
    """Namespace of the object if it sets none."""


class Review(_ReviewFields):
    """A pod set, and what many rules ask of it, computed once."""

    @computed_once
    def is_final(self) -> bool:
        """Whether absent fields are really missing: the object is complete and nothing will change it."""
        return not (self.manifest.partial or self.may_still_change)

    @property
    def lacks_workload_kind(self) -> bool:
        """Whether it requests a card and is not a workload kind of a policy that has any."""
        return (
            bool(self.card_resources)
            and self.workload is None
            and not self.is_system_pod
            and not self.manifest.partial
            and self.cluster is not None
            and bool(self.cluster.workloads)
        )

    @computed_once
    def is_covered(self) -> bool:
        """Whether the policy applies: it requests a card, has a workload kind, or the policy lists
        every pool."""
        complete = self.cluster is not None and self.cluster.complete
        return bool(self.card_resources) or self.workload is not None or complete

    @computed_once
    def open_landings(self) -> tuple[Landing, ...]:
        """Pools that accept it, as far as is known.

        A policy that lists every pool seldom declares the zone or the spot label of a cloud: a pool
        that depends on such a label alone counts, unless the label chooses pools or machines.
        """
        certain = self.cluster is None or not self.cluster.complete or self._selects_pool_or_machine
        return tuple(
            landing
            for landing in self.landings
            if landing.accepts or (landing.verdict == "undecidable" and not certain)
        )

    @computed_once
    def accepting(self) -> tuple[Pool, ...]:
        return tuple(landing.pool for landing in self.open_landings)

    @computed_once
    def possible_pools(self) -> tuple[Pool, ...]:
        """Pools that do not refuse it, each with only the nodes that it selects."""
        if self.cluster is None:
            return ()
        from policykit.placement.landing import selected_nodes

        cluster, affinity = self.cluster, self.affinity
        return tuple(
            selected_nodes(cluster, landing.pool, affinity)
            for landing in self.landings
            if landing.verdict != "refused"
        )

    @property
    def _selects_pool_or_machine(self) -> bool:
        from policykit.catalogue import labels

        terms = self.affinity.required or ()
        keys = {*self.affinity.selector, *(each.key for term in terms for each in term.expressions)}
        by_name = any(term.fields for term in terms)
        return by_name or any(labels.names_pool(key) or labels.names_machine(key) for key in keys)

    @computed_once
    def selects_nodes(self) -> bool:
        """Whether it has a nodeSelector or required node affinity."""
        return bool(self.affinity.selector) or self.affinity.required is not None

    @computed_once
    def selects_unlisted_pool(self) -> bool:
        """Whether it selects, by a label such as gke-nodepool, a pool that a policy that lists only some
        of the pools does not list."""
        return self._selects_unknown(machines=False)

    @computed_once
    def selects_unlisted_machine(self) -> bool:
        """The same, or a type of machine, whose size is then not known."""
        return self._selects_unknown(machines=True)

    def _selects_unknown(self, *, machines: bool) -> bool:
        cluster = self.cluster
        if cluster is None or cluster.complete or cluster.observed or not self.selects_nodes:
            return False
        from policykit.placement.policy_labels import selects_unknown_pool

        return selects_unknown_pool(cluster, self.affinity, machines=machines)

    def is_eligible(self, pool: Pool) -> bool:
        """Whether the policy allows the pool; False: it does not cover the pod set."""
        return pool.name in self._eligible_names

    @computed_once
    def _eligible_names(self) -> frozenset[str]:
        return frozenset(pool.name for pool in self.eligible_pools or ())

    def landing(self, pool: Pool) -> Landing:
        return self._landing_by_pool[pool.name]

    @computed_once
    def _landing_by_pool(self) -> dict[str, Landing]:
        return {landing.pool.name: landing for landing in self.landings}


def review(
    manifest: Manifest,
    pod_set: PodSet,
    cluster: Cluster | None,
    namespace: str = "default",
    filters: NodeFilters = KUBE_SCHEDULER,
) -> Review:
    """Reads a pod set and, with a policy, computes where it can land, with what its RuntimeClass adds.

    `filters`: of the scheduler.
    """
    return _review(manifest, pod_set, cluster, namespace, filters)


@memoize_last_call  # a rule about gangs may have asked already
def _review(
    manifest: Manifest, pod_set: PodSet, cluster: Cluster | None, namespace: str, filters: NodeFilters
) -> Review:
    unknown_class = False
    if cluster is not None and runtime_classes.FIELD in pod_set.spec:
        name = runtime_classes.named(pod_set)
        unknown_class = bool(name) and runtime_classes.may_add(name, cluster.runtime_classes)
        pod_set = runtime_classes.admitted(pod_set, cluster.runtime_classes.get(name))
    if cluster is not None and pod_set.spec.get("nodeSelector"):
        from policykit.kube import compute_classes  # most hooks run without a policy

        pod_set = compute_classes.admitted(pod_set, cluster.pools)
    tolerated = tolerations.read(pod_set.spec.get("tolerations"))
    affinity = affinities.read(pod_set.spec)
    requested = requests.effective(pod_set.spec, pod_set.devices)
    cards = card_resources_in(requested, cluster)
    without_policy = Review(
        manifest,
        pod_set,
        tolerated,
        affinity,
        requested,
        cards,
        _is_system_pod(manifest, pod_set, namespace),
        unknown_class or may_still_change(manifest, pod_set),
        namespace=namespace,
    )
    return without_policy if cluster is None else _under_policy(without_policy, cluster, namespace, filters)


def _under_policy(without_policy: Review, cluster: Cluster, namespace: str, filters: NodeFilters) -> Review:
    """The review with everything that depends on the policy."""
    # Most hooks run without a policy on one file and do not need the pool checks.
    from policykit.placement.eligible_pools import named_products
    from policykit.placement.recognition import recognize

    if cluster.placed_elsewhere:
        pod_owner = owner(without_policy.manifest, without_policy.pod_set)
        if (pod_owner.namespace or namespace) in cluster.placed_elsewhere:
            without_policy = without_policy._replace(may_still_change=True)
    if cluster.formerly.on_nodes:
        from policykit.placement.former_names import present_affinity, present_tolerations

        without_policy = without_policy._replace(
            tolerations=present_tolerations(without_policy.tolerations, cluster.formerly),
            affinity=present_affinity(without_policy.affinity, cluster.formerly),
        )
    tolerated, affinity, cards = (
        without_policy.tolerations,
        without_policy.affinity,
        without_policy.card_resources,
    )
    recognition = recognize(
        cluster, without_policy.manifest, without_policy.pod_set, tolerated, affinity, bool(cards), namespace
    )
    products = named_products(cluster, tolerated, affinity)
    return without_policy._replace(
        cluster=cluster,
        workload=recognition.workload,
        decided_by=recognition.decided_by if recognition.workload else "",
        candidates=recognition.candidates,
        products=products,
        eligible_pools=_eligible_pools(cluster, without_policy, recognition.workload, products),
        landings=_landings(
            cluster,
            (*tolerated, *_BY_CONTROLLER) if without_policy.pod_set.per_node else tolerated,
            (*affinity.selector.items(),),
            affinity.required,
            affinity.preferred,
            (*without_policy.requests.items(),),
            filters,
        ),
    )


@memoize_beside  # pods of one kind are alike
def _landings(
    cluster: Cluster,
    tolerated: tuple[Toleration, ...],
    selector: tuple[tuple[str, str], ...],
    required: tuple[Term, ...] | None,
    preferred: tuple[Preference, ...],
    requested: tuple[tuple[str, int], ...],
    filters: NodeFilters,
) -> tuple[Landing, ...]:
    """Every pool's verdict; accepting pools with the highest score are preferred."""
    from policykit.placement.landing import land

    affinity, requests = NodeAffinity(dict(selector), required, preferred), dict(requested)
    found = [land(cluster, pool, tolerated, affinity, requests, filters) for pool in cluster.pools]
    best = max((landing.score for landing in found if landing.accepts), default=0)
    return tuple(
        landing._replace(verdict="preferred") if landing.accepts and 0 < landing.score == best else landing
        for landing in found
    )


def _eligible_pools(
    cluster: Cluster, without_policy: Review, workload: WorkloadKind | None, products: tuple[str, ...]
) -> tuple[Pool, ...] | None:
    claims = without_policy.pod_set.spec.get("resourceClaims")
    if not without_policy.card_resources and (claims or has_unknown_amounts(without_policy.pod_set, cluster)):
        return None  # a claim may be for a card, which only its DeviceClass identifies
    return _pools_of(cluster, workload.name if workload else None, without_policy.card_resources, products)


@memoize_beside
def _pools_of(
    cluster: Cluster, workload: str | None, card_resources: tuple[str, ...], products: tuple[str, ...]
) -> tuple[Pool, ...] | None:
    from policykit.placement.eligible_pools import eligible_pools

    kind = None if workload is None else cluster.workloads[workload]
    return eligible_pools(cluster, kind, card_resources, products)


def _is_system_pod(manifest: Manifest, pod_set: PodSet, namespace: str) -> bool:
    """By namespace, or by image: a node daemon, not an application with a log shipper as sidecar."""
    if (owner(manifest, pod_set).namespace or namespace) == SYSTEM_NAMESPACE:
        return True
    images = [c.get("image") for field, _, c in requests.containers(pod_set.spec) if field == "containers"]
    roles = [daemons.role(image) if isinstance(image, str) else "" for image in images]
    return any(role not in _ANYWHERE for role in roles) or (bool(roles) and all(roles))
