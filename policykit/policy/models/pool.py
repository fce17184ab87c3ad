"""Node pools as people describe them."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Effect, Model
from policykit.policy.models.nodes import Nodes, Topology
from policykit.policy.models.scheme import PoolSchemeChoice


class Sharing(Model):
    """How the device plugin cuts or shares the cards."""

    mode: Literal["none", "time-slicing", "mps", "mig-single", "mig-mixed"] = Field(
        "none", description="none: whole cards; time-slicing, mps: replicas of a card; mig-*: partitions."
    )
    replicas: int | None = Field(None, ge=2, description="Pods that share one card (time-slicing, mps).")
    rename: bool = Field(
        False, description="The plugin offers replicas as <resource>.shared (renameByDefault)."
    )
    profiles: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="MIG profile to how many of it are cut from one card: {1g.12gb: 7}."
    )
    whole_cards: int = Field(0, ge=0, description="Cards of a node left uncut under mig-mixed.")


class Taint(Model):
    """A node taint."""

    key: str = Field("", description="Taint key.")
    value: str = Field("", description="Taint value. Default: none.")
    effect: Effect = Field("NoSchedule", description="NoSchedule, PreferNoSchedule or NoExecute.")


TaintForm = Annotated[Annotated[str, Tag("<text>")] | Annotated[Taint, Tag("<map>")], BY_FORM]


class Toleration(Model):
    """A toleration that something adds to pods bound for the pool."""

    key: str = Field("", description="Key of the taint tolerated; empty with operator Exists: every taint.")
    operator: Literal["Equal", "Exists"] = Field("Equal", description="Equal compares the value too.")
    value: str = Field("", description="Value tolerated, with operator Equal.")
    effect: Effect | None = Field(None, description="Effect tolerated. Default: every effect.")


class Pool(Model):
    """Nodes that are alike in use, card, labels and taints."""

    usage: str = Field(
        "", description="What the nodes are for: training, inference, hybrid. Default: unsaid."
    )
    card: str = Field("", description="Name of a card of this policy. Default: nodes without cards.")
    nodes: Nodes | None = Field(
        None, description="A number, {min, max}, {names}, {selector}, or a list of node shapes."
    )
    allocatable: Amounts = Field(
        {}, description="What pods may use of one node: cpu, memory, pods, ... Default: unknown."
    )
    cards_per_node: int | None = Field(None, ge=0, description="Default: the card's number per node.")
    sharing: Sharing = Field(Sharing.model_construct(), description="How the cards are cut or shared.")
    topology: Topology = Field(
        (), description="Zone, domain, rack, switch and nvlink of all nodes, or of some by name."
    )
    labels: dict[str, str] = Field({}, description="Further labels of the nodes.")
    taints: tuple[TaintForm, ...] = Field(
        (), description="Further taints, as {key, value, effect} or key=value:Effect."
    )
    injects: tuple[Toleration, ...] = Field(
        (), description="Tolerations that the provider or a webhook adds to pods bound for this pool."
    )
    unschedulable: bool = Field(False, description="The nodes are cordoned.")
    scheme: PoolSchemeChoice | None = Field(
        None, description="Where this pool departs from the cluster's scheme."
    )
    shared_by_schedulers: str = Field(
        "", description="Why it is right that several schedulers place pods here (PK911 asks)."
    )
