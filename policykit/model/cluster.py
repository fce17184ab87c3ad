"""A policy compiled: what the cluster is meant to be. Everything downstream sees only this."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.card import Card
from policykit.model.placement import Placement
from policykit.model.pool import Pool
from policykit.model.queue import Preemption, Priority, Queue, Quota
from policykit.model.taint import Taint
from policykit.model.tenant import Reservation, Tenant
from policykit.model.topology import Level
from policykit.model.workload import WorkloadKind


class Target(NamedTuple):
    """A system the policy generates for."""

    name: str
    """volcano, koordinator, kubernetes, ..."""
    version: str = ""
    """As stated: 1.15.1; empty: the newest known."""
    delivery: str = ""
    """helm-values, post-render or manifest."""
    scheduler_name: str = ""
    namespace: str = ""
    options: Mapping[str, Any] = {}
    """What this system alone knows, checked by the policy models."""


class LintSettings(NamedTuple):
    """The policy's `lint:` section; codes and names as the user wrote them."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = {}
    per_path: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(glob, codes ignored there), in file order."""
    exclude: tuple[str, ...] = ()
    extra_plugins: tuple[str, ...] = ()
    """Names of scheduler plugins outside the tree that the cluster's schedulers carry."""
    preset: str = "recommended"
    """minimal, recommended or strict: how much is told where nothing is selected."""
    crds: tuple[str, ...] = ()
    """Files and folders with the user's own kinds, relative to the file with these settings."""


class Cluster(NamedTuple):
    """Pools, cards, workload kinds, queues and the systems in play."""

    name: str
    pools: tuple[Pool, ...]
    cards: Mapping[str, Card] = {}
    workloads: Mapping[str, WorkloadKind] = {}
    usage_key: str = ""
    """Node label and taint key of the usage; empty where the scheme has none."""
    control_plane_taint: Taint | None = None
    complete: bool = False
    """The pools are all there is (coverage: complete)."""
    provider: str = ""
    """gke, eks, aks, ack or empty."""
    queues: tuple[Queue, ...] = ()
    priorities: tuple[Priority, ...] = ()
    quotas: tuple[Quota, ...] = ()
    targets: Mapping[str, Target] = {}
    schedulers: frozenset[str] = frozenset()
    """Every schedulerName something serves, default-scheduler included."""
    kubernetes_version: str = ""
    """`1.36`; empty: unstated."""
    declared_keys: frozenset[str] = frozenset()
    """Owned keys: the usage key, the cards' keys and every key a pool declares."""
    taint_keys: frozenset[str] = frozenset()
    """Keys of the taints the pools and the control plane carry."""
    lint: LintSettings = LintSettings()
    output: str = ""
    """Folder of generated files relative to the policy, as `generate.out` says."""
    observed: bool = False
    """The pools are real nodes: what their labels and allocatable do not list is absent."""
    source: str = ""
    """The policy file, or profile:NAME."""
    node_forms: tuple[str, ...] | None = None
    """Forms of generated node labels and taints, as `generate.nodes` says; None: all that apply."""
    placements: Mapping[str, Placement] = {}
    """Placements of the policy by name."""
    levels: tuple[Level, ...] = ()
    """Levels of the topology that the policy has a label for, widest first."""
    preemption: Preemption = Preemption()
    tenants: tuple[Tenant, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    taints_pools: bool = False
    """The scheme keeps pods off pools by taints: that a pool has none is an exception."""

    def pool(self, name: str) -> Pool:
        """Raises KeyError where no pool has that name."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)

    def card_of(self, pool: Pool) -> Card | None:
        return self.cards[pool.card] if pool.card else None
