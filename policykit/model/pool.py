"""Cards, and node pools: nodes with the same labels, taints and cards; tolerations of their taints."""

from collections.abc import Iterable, Mapping

from policykit.namedtuple import NamedTuple

HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


class Taint(NamedTuple):
    """A node taint. Effect is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"

    @property
    def hard(self) -> bool:
        """Whether it keeps pods away; PreferNoSchedule only lowers the score."""
        return self.effect in HARD_EFFECTS

    @property
    def evicts(self) -> bool:
        """Whether it also removes running pods that do not tolerate it."""
        return self.effect == "NoExecute"

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


class Toleration(NamedTuple):
    """A pod toleration as stored: an empty operator means Equal, an empty effect any."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def __str__(self) -> str:
        value = "" if self.operator == "Exists" else f"={self.value}"
        effect = f":{self.effect}" if self.effect else ""
        return f"{self.key or '*'}{value}{effect}"


class Card(NamedTuple):
    """A card model. `product` is the value of `product_key` on its nodes."""

    name: str
    """Name in the policy."""
    resource: str
    """Extended resource of a whole card: nvidia.com/gpu."""
    vendor: str = ""
    """Id in the catalogue; empty: the policy defines the card in full."""
    product: str = ""
    product_key: str = ""
    count_key: str = ""
    memory_key: str = ""
    label_keys: tuple[str, ...] = ()
    """Every node label key that discovery or the scheme sets for this card."""
    memory_mib: int | None = None
    per_node: int = 0
    aliases: tuple[str, ...] = ()
    """Other correct values of the product label for the same card."""
    mistaken: tuple[str, ...] = ()
    """Informal names: short names and wrong forms."""
    mig_profiles: Mapping[str, int] = {}
    """MIG profile to its largest number on one card."""
    arch: str = ""
    """Host architecture if the card determines it (arm64 with GH200), else empty."""


Amounts = Mapping[str, int]
"""Resource name to amount: cpu in milli-cores, everything else in units (bytes, cards)."""


def smallest(amounts: Iterable[Amounts]) -> dict[str, int]:
    """The smallest amount of each resource that any of them has."""
    found: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            found[name] = min(amount, found.get(name, amount))
    return found


def largest(amounts: Iterable[Amounts]) -> dict[str, int]:
    """The largest amount of each resource that any of them has."""
    found: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            found[name] = max(amount, found.get(name, amount))
    return found


class Shape(NamedTuple):
    """Nodes of one size in a pool.

    `minimum` equals `maximum` for a fixed count; `maximum` None is unbounded; a shape
    whose size nobody stated has minimum 0 and maximum None.
    """

    allocatable: Amounts
    """Empty: unknown, so sizes are never checked."""
    minimum: int = 0
    maximum: int | None = None
    node_names: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}
    """Labels that select the nodes, if the policy states any."""
    labels: Mapping[str, str] = {}
    """Labels of these nodes in addition to the pool's: zone, rack, name."""


class Sharing(NamedTuple):
    """How the device plugin partitions or shares the cards of a pool."""

    mode: str = "none"
    """none, time-slicing, mps, mig-single, mig-mixed, hami or volcano-vgpu."""
    replicas: int = 1
    """Pods that share one card, or one partition of it."""
    profiles: Mapping[str, int] = {}
    """MIG profile to its number on one card."""


class Pool(NamedTuple):
    """A node pool as seen by a scheduler."""

    name: str
    shapes: tuple[Shape, ...]
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    usage: str = ""
    """Empty: the pool has no usage."""
    card: str = ""
    """Name of its card in `Cluster.cards`; empty: no cards."""
    resources: tuple[str, ...] = ()
    """Card resources the pool offers, after sharing: nvidia.com/mig-1g.10gb, ..."""
    sharing: Sharing = Sharing()
    injects: tuple[Toleration, ...] = ()
    """Tolerations added to pods bound here (by provider or webhook)."""
    injects_resource_tolerations: bool = False
    """Admission adds `{key: <resource>, Exists, NoSchedule}` per requested resource."""
    unschedulable: bool = False
    discovered: frozenset[str] = frozenset()
    """Label keys that discovery sets; they are not generated."""
    autoscaled: bool = False
    shared_by_schedulers: str = ""
    """Why several schedulers may place pods here; empty: not stated."""
    protected: bool = False
    """It may not be removed from the policy without a word."""
    ready: bool = True
    """False: a node that reports that its kubelet does not run pods, whether it has a taint or not."""

    @property
    def hard_taints(self) -> tuple[Taint, ...]:
        return tuple(taint for taint in self.taints if taint.hard)


class NodeFilters(NamedTuple):
    """How a scheduler filters nodes, where it differs from kube-scheduler."""

    resources_first: bool = False
    """Whether missing resources are its first reason against a node, other than a cordon it skips."""
    affinity_first: bool = False
    """Whether it reports selectors and affinity before taints."""
    skips_cordoned: bool = False
    """Whether it never looks at a cordoned node, whatever the pod tolerates, but for a DaemonSet."""


KUBE_SCHEDULER = NodeFilters()
