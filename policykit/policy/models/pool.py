"""Node pools: cards, nodes, labels and taints, and the scheme of labels and taints of all nodes."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Effect, Model, Quantity

PresetName = Literal["seed", "plain", "gke", "eks", "aks", "ack"]
Discovery = Literal["gfd", "vendor", "manual"]


class TaintPart(Model):
    """A taint of the scheme; omitted parts follow from the label it belongs to."""

    key: str = Field("", description="Taint key. Default: the key of the label.")
    value: str | None = Field(
        None, description='Taint value, "" for a taint without one. Default: the value of the label.'
    )
    effect: Effect = Field("NoSchedule", description="Effect on pods that do not tolerate the taint.")


TaintChoice = Annotated[Annotated[bool, Tag("<bool>")] | Annotated[TaintPart, Tag("<map>")], BY_FORM]


class KeyPart(Model):
    """A node label of the scheme and its taint."""

    key: str = Field("", description="Node label key. Default: the preset's.")
    label: bool | None = Field(None, description="Whether the nodes have the label.")
    taint: TaintChoice | None = Field(None, description="true: the preset's taint; false: none; or a taint.")


PartChoice = Annotated[Annotated[bool, Tag("<bool>")] | Annotated[KeyPart, Tag("<map>")], BY_FORM]


class PoolScheme(Model):
    """The parts of a scheme that a pool can override."""

    preset: PresetName | None = Field(
        None,
        description="seed: label and taint for usage and card; plain: labels, no taints on pools; "
        "gke, eks, aks, ack: the labels, taints and admission of that cloud.",
    )
    usage: PartChoice | None = Field(None, description="Label and taint of the node usage; false: none.")
    product: PartChoice | None = Field(None, description="Label and taint of the card; false: none.")
    discovery: Discovery | None = Field(
        None,
        description="Who writes the card labels: gfd (GPU Feature Discovery), vendor (the vendor's own "
        "labeller or the cloud) or manual (you, from what policykit generates).",
    )
    resource_tolerations: bool | None = Field(
        None,
        description="Whether the admission plugin ExtendedResourceToleration is on, which tolerates a "
        "taint whose key is the requested resource.",
    )


class TopologyKeys(Model):
    """Node label keys of the topology levels, widest first."""

    zone: str = Field("", description="Default: topology.kubernetes.io/zone.")
    domain: str = Field("", description="Default: <domain>/network-domain.")
    rack: str = Field("", description="Default: <domain>/rack.")
    switch: str = Field("", description="Default: <domain>/switch.")
    nvlink: str = Field("", description="Default: <domain>/nvlink-domain.")


class Scheme(PoolScheme):
    """The label and taint design of the cluster."""

    control_plane: TaintChoice | None = Field(
        None,
        description="Taint of the control plane nodes; false: none. Default: <domain>/control-plane "
        "under the seed preset.",
    )
    topology: TopologyKeys = Field(
        TopologyKeys.model_construct(), description="Label keys of the topology levels."
    )


SchemeChoice = Annotated[Annotated[PresetName, Tag("<text>")] | Annotated[Scheme, Tag("<map>")], BY_FORM]
PoolSchemeChoice = Annotated[
    Annotated[PresetName, Tag("<text>")] | Annotated[PoolScheme, Tag("<map>")], BY_FORM
]


class Card(Model):
    """A card from the catalogue, given by its product, or any other card, given by its resource."""

    product: str = Field(
        "",
        description="Value of the product label of its nodes, as on a node: NVIDIA-H20. "
        "`policykit cards` lists known values.",
    )
    resource: str = Field(
        "", description="Extended resource that pods request: nvidia.com/gpu. Default: the catalogue's."
    )
    product_key: str = Field("", description="Node label key of the product. Default: the scheme's.")
    per_node: int | None = Field(None, ge=0, description="Cards per node. Default: the catalogue's.")
    memory: Quantity | None = Field(None, description="Memory per card: 96Gi. Default: the catalogue's.")
    labels: dict[str, str] = Field({}, description="Additional labels of nodes with this card.")


class NodeSet(Model):
    """Nodes by range (autoscaled), by name, or by label. Exactly one of the three."""

    min: int | None = Field(
        None, ge=0, description="Minimum number of nodes; 0 for a pool that can scale to zero."
    )
    max: int | None = Field(None, ge=0, description="Maximum number of nodes. Default: unlimited.")
    names: tuple[str, ...] | None = Field(
        None, description='Node names; "gpu-[01-16]" stands for sixteen nodes.'
    )
    selector: dict[str, str] | None = Field(
        None, description="Labels that select the nodes, if their number is not set here."
    )


NodesChoice = Annotated[
    Annotated[Annotated[int, Field(ge=0)], Tag("<int>")] | Annotated[NodeSet, Tag("<map>")], BY_FORM
]


class NodeShape(Model):
    """Nodes of the same size within a pool."""

    nodes: NodesChoice | None = Field(None, description="Their number, or which nodes they are.")
    allocatable: Amounts | None = Field(
        None, description="Allocatable amounts per node. Default: the pool's."
    )
    cards_per_node: int | None = Field(None, ge=0, description="Default: the pool's.")
    labels: dict[str, str] = Field({}, description="Labels of these nodes in addition to the pool's.")


Nodes = Annotated[
    Annotated[Annotated[int, Field(ge=0)], Tag("<int>")]
    | Annotated[NodeSet, Tag("<map>")]
    | Annotated[tuple[NodeShape, ...], Tag("<list>")],
    BY_FORM,
]


class PoolTopology(Model):
    """Topology of nodes, widest level first."""

    zone: str = Field("", description="Value of the zone label.")
    domain: str = Field("", description="Value of the network domain label.")
    rack: str = Field("", description="Value of the rack label.")
    switch: str = Field("", description="Value of the switch label.")
    nvlink: str = Field("", description="Value of the NVLink domain label.")


class NodeTopology(PoolTopology):
    """Topology of some nodes of a pool."""

    nodes: tuple[str, ...] = Field((), description='Node names, globs ("gpu-0*") or ranges ("gpu-[01-08]").')


Topology = Annotated[
    Annotated[PoolTopology, Tag("<map>")] | Annotated[tuple[NodeTopology, ...], Tag("<list>")], BY_FORM
]


class Sharing(Model):
    """How the device plugin partitions or shares cards."""

    mode: Literal["none", "time-slicing", "mps", "mig-single", "mig-mixed", "hami", "volcano-vgpu"] = Field(
        "none",
        description="none: whole cards; time-slicing, mps: replicas of a card; mig-*: partitions; "
        "hami, volcano-vgpu: virtual cards with a part of the memory and cores of a card.",
    )
    slots: int | None = Field(
        None,
        ge=1,
        description="Number of pods that share one card (hami, volcano-vgpu). Default: 10, as the plugins'.",
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
    protect: bool = Field(
        False, description="Whether `gen` refuses to remove the pool without --allow-removal."
    )
    shared_by_schedulers: str = Field(
        "", description="Reason why several schedulers may place pods here (see PK911)."
    )
