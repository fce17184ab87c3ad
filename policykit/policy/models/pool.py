"""Node pools."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Effect, Model
from policykit.policy.models.nodes import Nodes, Topology
from policykit.policy.models.scheme import PoolSchemeChoice


class Sharing(Model):
    """How the device plugin partitions or shares cards."""

    mode: Literal["none", "time-slicing", "mps", "mig-single", "mig-mixed"] = Field(
        "none", description="none: whole cards; time-slicing, mps: replicas of a card; mig-*: partitions."
    )
    replicas: int | None = Field(
        None, ge=2, description="Number of pods that share one card (time-slicing, mps)."
    )
    rename: bool = Field(
        False, description="The plugin advertises replicas as <resource>.shared (renameByDefault)."
    )
    profiles: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="MIG profile to its number per card: {1g.12gb: 7}."
    )
    whole_cards: int = Field(0, ge=0, description="Cards per node left unpartitioned under mig-mixed.")


class Taint(Model):
    """A node taint."""

    key: str = Field("", description="Taint key.")
    value: str = Field("", description="Taint value. Default: none.")
    effect: Effect = Field("NoSchedule", description="NoSchedule, PreferNoSchedule or NoExecute.")


TaintForm = Annotated[Annotated[str, Tag("<text>")] | Annotated[Taint, Tag("<map>")], BY_FORM]


class Toleration(Model):
    """A toleration that is added to pods for the pool."""

    key: str = Field("", description="Key of the tolerated taint; empty with operator Exists: every taint.")
    operator: Literal["Equal", "Exists"] = Field("Equal", description="Equal also compares the value.")
    value: str = Field("", description="Tolerated value, with operator Equal.")
    effect: Effect | None = Field(None, description="Tolerated effect. Default: every effect.")


class Pool(Model):
    """Nodes with the same usage, card, labels and taints."""

    usage: str = Field("", description="Purpose of the nodes: training, inference, hybrid. Default: none.")
    card: str = Field("", description="Name of a card of this policy. Default: nodes without cards.")
    nodes: Nodes | None = Field(
        None, description="A number, {min, max}, {names}, {selector}, or a list of node shapes."
    )
    allocatable: Amounts = Field(
        {}, description="Allocatable amounts per node: cpu, memory, pods, ... Default: unknown."
    )
    cards_per_node: int | None = Field(None, ge=0, description="Default: the card's number per node.")
    sharing: Sharing = Field(
        Sharing.model_construct(), description="How the cards are partitioned or shared."
    )
    topology: Topology = Field(
        (), description="Zone, domain, rack, switch and nvlink of all nodes, or of some by name."
    )
    labels: dict[str, str] = Field({}, description="Additional labels of the nodes.")
    taints: tuple[TaintForm, ...] = Field(
        (), description="Additional taints, as {key, value, effect} or key=value:Effect."
    )
    injects: tuple[Toleration, ...] = Field(
        (), description="Tolerations that the provider or a webhook adds to pods for this pool."
    )
    unschedulable: bool = Field(False, description="Whether the nodes are cordoned.")
    scheme: PoolSchemeChoice | None = Field(None, description="Differences from the cluster's scheme.")
    shared_by_schedulers: str = Field(
        "", description="Reason why several schedulers may place pods here (see PK911)."
    )
