"""Everything the placement rules and `where` ask about one pod set, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.kube.affinity import NodeAffinity
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.model.card import Card
from policykit.model.pool import Amounts, Pool
from policykit.model.taint import Taint, Toleration
from policykit.model.workload import WorkloadKind


class Landing(NamedTuple):
    """The verdict for one pool."""

    pool: Pool
    verdict: str
    """preferred, accepted, refused or undecidable."""
    reason: str = ""
    """unschedulable, untolerated-taint, selector, affinity, resources; empty when accepted."""
    detail: str = ""
    """The two values that disagree, in words."""
    taint: Taint | None = None
    """The taint that refuses, where that is the reason."""

    @property
    def accepts(self) -> bool:
        return self.verdict in ("preferred", "accepted")


class Review(NamedTuple):
    """A pod set under a policy (or without one: then only the first fields speak)."""

    manifest: Manifest
    pod_set: PodSet
    tolerations: tuple[Toleration, ...]
    """As written, one per list item."""
    affinity: NodeAffinity
    requests: Amounts
    """Effective request of one pod; empty where nothing is requested."""
    card_resources: tuple[str, ...]
    """Card resources its containers ask for (amount above 0), sorted."""
    device_stack: bool
    """A DaemonSet-like, kube-system or device component that may tolerate everything."""
    workload: WorkloadKind | None = None
    decided_by: str = ""
    """Which step of recognition decided: label, match, usage, purpose; empty: none did."""
    candidates: tuple[str, ...] = ()
    """Kinds that recognition could not choose between."""
    meant: tuple[Pool, ...] = ()
    """M of the catalogue: the pools meant for it, in the policy's order."""
    has_meant: bool = False
    """False: the pod set has neither card nor workload kind, so it has no M at all."""
    landings: tuple[Landing, ...] = ()
    """One per pool, in the policy's order."""
    cards: Mapping[str, Card] = {}
    """The policy's cards it asks for by resource (product too where it states one)."""
    products: tuple[str, ...] = ()
    """Products it states by required affinity, selector or Equal tolerations; empty: none."""

    @property
    def accepting(self) -> tuple[Pool, ...]:
        return tuple(landing.pool for landing in self.landings if landing.accepts)

    def landing(self, pool: Pool) -> Landing:
        return next(landing for landing in self.landings if landing.pool.name == pool.name)
