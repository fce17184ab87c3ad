"""The compiled policy: the intended cluster. Everything downstream uses only this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.model.pod_admission import RuntimeClass
from policykit.model.pool import Card, Pool, Taint
from policykit.model.queue import Preemption, Priority, Queue, Quota, Reservation, Tenant
from policykit.model.topology import Level
from policykit.model.workload import Placement, WorkloadKind
from policykit.namedtuple import NamedTuple


class Renames(NamedTuple):
    """The policy's `formerly:`, from former name to present one."""

    keys: Mapping[str, str] = {}
    """Key of a node label or taint."""
    values: Mapping[str, Mapping[str, str]] = {}
    """Present key to the former values."""
    queues: Mapping[str, str] = {}
    names: tuple[str, ...] = ()
    """Former values of `metadata.name`."""

    @property
    def on_nodes(self) -> bool:
        """Whether labels or taints of nodes have former names."""
        return bool(self.keys or self.values)

    def present(self, key: str, value: str) -> tuple[str, str]:
        """The present key and value of a label or taint."""
        key = self.keys.get(key, key)
        return key, self.values.get(key, {}).get(value, value)

    def former_keys(self, key: str) -> tuple[str, ...]:
        return tuple(old for old, new in self.keys.items() if new == key)

    def former_values(self, key: str, value: str) -> tuple[str, ...]:
        return tuple(old for old, new in self.values.get(key, {}).items() if new == value)

    def spellings(self, key: str, value: str) -> Iterator[tuple[str, str]]:
        """Every other key and value that mean the same."""
        for one in (key, *self.former_keys(key)):
            for each in (value, *self.former_values(key, value)):
                if (one, each) != (key, value):
                    yield one, each


class TargetSettings(NamedTuple):
    """A system the policy generates for."""

    name: str
    """volcano, koordinator, kubernetes, ..."""
    version: str = ""
    """1.15.1; empty: the newest known."""
    delivery: str = ""
    """helm-values, post-render or manifest."""
    scheduler_name: str = ""
    namespace: str = ""
    options: object = None
    """The system's own options, of the type that its target declares; None: none are set."""
    schedulers: tuple[str, ...] = ()
    """Further schedulerNames that it serves."""
    card_vendors: frozenset[str] = frozenset()
    """Vendors of the catalogue under whose resources it shares the cards of nodes, whoever made them."""


class LintSettings(NamedTuple):
    """The policy's `lint:` section; codes and names as the user wrote them."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = {}
    per_path: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(glob, codes ignored there), in file order."""
    exclude: tuple[str, ...] = ()
    extra_plugins: tuple[str, ...] = ()
    """Names of out-of-tree scheduler plugins in the cluster's schedulers."""
    preset: str = "recommended"
    """minimal, recommended or strict: the rules that run if none are selected."""
    crds: tuple[str, ...] = ()
    """Files and folders with the user's own kinds, relative to the file with these settings."""
    accept_not_judged: Mapping[str, tuple[str, ...]] = {}
    """Reason to globs of the paths that need not be judged, for `--require-judged`."""


class Cluster(NamedTuple):
    """Pools, cards, workload kinds, queues and target systems."""

    name: str
    pools: tuple[Pool, ...]
    cards: Mapping[str, Card] = {}
    workloads: Mapping[str, WorkloadKind] = {}
    usage_key: str = ""
    """Node label and taint key of the usage; empty: the scheme has none."""
    control_plane_taint: Taint | None = None
    complete: bool = False
    """The pools include every node (coverage: complete)."""
    provider: str = ""
    """gke, eks, aks, ack or empty."""
    queues: tuple[Queue, ...] = ()
    priorities: tuple[Priority, ...] = ()
    quotas: tuple[Quota, ...] = ()
    targets: Mapping[str, TargetSettings] = {}
    schedulers: frozenset[str] = frozenset()
    """Every schedulerName in the cluster, including default-scheduler."""
    placed_elsewhere: frozenset[str] = frozenset()
    """Namespaces whose pods something outside the policy places."""
    kubernetes_version: str = ""
    """`1.36`; empty: unknown."""
    feature_gates: Mapping[str, bool] = {}
    """Feature gates of Kubernetes that the cluster has switched on or off."""
    declared_keys: frozenset[str] = frozenset()
    """Keys the policy manages: the usage key, the cards' keys and every key that a pool declares."""
    taint_keys: frozenset[str] = frozenset()
    """Taint keys of the pools and the control plane."""
    lint: LintSettings = LintSettings()
    output: str = ""
    """Folder of generated files relative to the policy, from `generate.out`."""
    observed: bool = False
    """The pools are live nodes: labels and resources they do not list do not exist."""
    source: str = ""
    """The policy file, or profile:NAME."""
    node_forms: tuple[str, ...] | None = None
    """Forms of generated node labels and taints, from `generate.nodes`; None: all that apply."""
    placements: Mapping[str, Placement] = {}
    """Placements of the policy by name."""
    levels: tuple[Level, ...] = ()
    """Levels of the topology that the policy has a label for, widest first."""
    preemption: Preemption = Preemption()
    tenants: tuple[Tenant, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    taints_pools: bool = False
    """The scheme taints pools, so a pool without taints is an exception."""
    runtime_classes: Mapping[str, RuntimeClass | None] = {}
    """RuntimeClasses of the manifests, by name; None: several differ."""
    formerly: Renames = Renames()
    """Names of an earlier policy that hold beside the present ones."""

    def pool(self, name: str) -> Pool:
        """Raises KeyError if no pool has that name."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)

    def card_of(self, pool: Pool) -> Card | None:
        return self.cards[pool.card] if pool.card else None
