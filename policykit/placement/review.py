"""Everything the placement rules and `where` ask about one pod set, computed once."""

from __future__ import annotations

from typing import NamedTuple

from policykit.catalogue import daemons
from policykit.catalogue.cards import is_card
from policykit.kube import affinity as affinities
from policykit.kube import requests, tolerations
from policykit.kube.affinity import NodeAffinity
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool
from policykit.model.taint import Toleration
from policykit.model.workload import WorkloadKind
from policykit.placement.landing import land
from policykit.placement.meant import meant_pools, stated_products
from policykit.placement.recognition import recognise
from policykit.placement.verdict import Landing

_SYSTEM_NAMESPACE = "kube-system"
_KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"


class Review(NamedTuple):
    """A pod set under a policy (without one only the fields before `cluster` speak)."""

    manifest: Manifest
    pod_set: PodSet
    tolerations: tuple[Toleration, ...]
    """As written, one per list item."""
    affinity: NodeAffinity
    requests: Amounts
    """Effective request of one pod; empty where nothing is requested."""
    card_resources: tuple[str, ...]
    """Card resources it asks for (amount above 0), sorted."""
    device_stack: bool
    """A kube-system pod or device component that may tolerate everything."""
    unsettled: bool
    """Something may still add selectors or tolerations before it is scheduled: Kueue, a gate,
    a suspended owner, or a node named outright that no scheduler looks at."""
    cluster: Cluster | None = None
    workload: WorkloadKind | None = None
    decided_by: str = ""
    """What recognised it, in words; empty: nothing did."""
    candidates: tuple[str, ...] = ()
    """Kinds that recognition could not choose between."""
    products: tuple[str, ...] = ()
    """Products it states by selector, required affinity or Equal tolerations; empty: none."""
    meant: tuple[Pool, ...] | None = None
    """M of the catalogue, in the policy's order; None: the pod set has none at all."""
    landings: tuple[Landing, ...] = ()
    """One per pool, in the policy's order."""

    @property
    def judged(self) -> bool:
        """Whether what it lacks may be called missing: a whole object that nothing will change."""
        return not (self.manifest.partial or self.unsettled)

    @property
    def accepting(self) -> tuple[Pool, ...]:
        return tuple(landing.pool for landing in self.landings if landing.accepts)

    @property
    def selects_nodes(self) -> bool:
        """States a nodeSelector or required node affinity."""
        return bool(self.affinity.selector) or self.affinity.required is not None

    def landing(self, pool: Pool) -> Landing:
        return next(landing for landing in self.landings if landing.pool.name == pool.name)


def review(manifest: Manifest, pod_set: PodSet, cluster: Cluster | None, namespace: str = "default") -> Review:
    """Reads a pod set and, with a policy, computes where it may land."""
    tolerated = tolerations.read(pod_set.spec.get("tolerations"))
    affinity = affinities.read(pod_set.spec)
    asked = requests.effective(pod_set.spec, pod_set.devices)
    cards = tuple(sorted(r for r, amount in asked.items() if amount > 0 and _is_card(r, cluster)))
    plain = Review(
        manifest,
        pod_set,
        tolerated,
        affinity,
        asked,
        cards,
        _device_stack(manifest, pod_set, namespace),
        _unsettled(manifest, pod_set),
    )
    if cluster is None:
        return plain
    recognised = recognise(cluster, manifest, pod_set, tolerated, affinity, bool(cards), namespace)
    products = stated_products(cluster, tolerated, affinity)
    return plain._replace(
        cluster=cluster,
        workload=recognised.workload,
        decided_by=recognised.decided_by if recognised.workload else "",
        candidates=recognised.candidates,
        products=products,
        meant=meant_pools(cluster, recognised.workload, cards, products),
        landings=landings(cluster, tolerated, affinity, asked),
    )


def landings(
    cluster: Cluster, tolerated: tuple[Toleration, ...], affinity: NodeAffinity, asked: Amounts
) -> tuple[Landing, ...]:
    """Every pool's verdict; of the accepting pools, those with the highest score are preferred."""
    found = [land(cluster, pool, tolerated, affinity, asked) for pool in cluster.pools]
    best = max((landing.score for landing in found if landing.accepts), default=0)
    return tuple(
        landing._replace(verdict="preferred") if landing.accepts and 0 < landing.score == best else landing
        for landing in found
    )


def _is_card(resource: str, cluster: Cluster | None) -> bool:
    if is_card(resource):
        return True
    return cluster is not None and any(resource in pool.resources for pool in cluster.pools)


def _unsettled(manifest: Manifest, pod_set: PodSet) -> bool:
    spec = manifest.data.get("spec")
    return (
        bool(pod_set.spec.get("schedulingGates"))
        or bool(pod_set.spec.get("nodeName"))
        or (isinstance(spec, dict) and spec.get("suspend") is True)
        or _KUEUE_QUEUE in manifest.labels
        or _KUEUE_QUEUE in pod_set.labels
    )


def _device_stack(manifest: Manifest, pod_set: PodSet, namespace: str) -> bool:
    if (manifest.namespace or namespace) == _SYSTEM_NAMESPACE:
        return True
    return any(
        daemons.role(container["image"])
        for _, _, container in requests.containers(pod_set.spec)
        if isinstance(container.get("image"), str)
    )
