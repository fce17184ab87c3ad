"""The label and taint scheme of nodes: a preset with parts replaced."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Effect, Model

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
