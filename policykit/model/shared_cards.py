"""Shared cards: virtual cards of HAMi and Volcano, and what device plugins are configured to offer."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

HAMI = "hami"
VOLCANO = "volcano-vgpu"
HAMI_SCHEDULER = "hami-scheduler"
"""schedulerName that HAMi's webhook writes into pods that state none, or the default."""
HAMI_WEBHOOK, HAMI_IGNORES = "hami.io/webhook", "ignore"
"""Label of a namespace or of pods, and the value with which HAMi's webhook leaves the pods alone."""
HAMI_MODE = "nvidia.com/vgpu-mode"
"""Annotation: how HAMi shares the card of the pod."""
SLOTS = 10
"""Pods that share one card unless deviceSplitCount says otherwise."""


class Names(NamedTuple):
    """What pods request."""

    cards: str
    memory: str
    """MiB of each card."""
    memory_percentage: str
    cores: str
    """Percent of each card."""


NAMES = {
    HAMI: Names("nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"),
    VOLCANO: Names(
        "volcano.sh/vgpu-number",
        "volcano.sh/vgpu-memory",
        "volcano.sh/vgpu-memory-percentage",
        "volcano.sh/vgpu-cores",
    ),
}
"""By mode: the resources that pods request."""


class VirtualCards(NamedTuple):
    """The cards of a node, shared."""

    mode: str
    """hami or volcano-vgpu."""
    cards: int
    """Physical cards, the unhealthy ones too."""
    slots: int
    """Pods that share one card."""
    memory: int
    """MiB that pods may use, of all cards together; 0: unknown."""

    def amounts(self) -> dict[str, int]:
        """Resource to amount on the node; 0: unknown. What HAMi counts itself, kubelets do not report."""
        return amounts(self.mode, self.cards, self.slots, self.memory)


def amounts(mode: str, cards: int, slots: int, memory: int) -> dict[str, int]:
    """Resource to amount on a node with so many shared cards, and `memory` MiB on all of them."""
    names = NAMES[mode]
    percent = cards * 100
    return {
        names.cards: cards * slots,
        names.memory: memory,
        names.memory_percentage: percent,
        names.cores: percent,
    }


class CardName(NamedTuple):
    """A card resource that a container requests. Locations of its fact: `resource`."""

    resource: str
    scheduler: str = ""
    """schedulerName of the pod."""
    in_parts: bool = False
    """The container also requests a part of each card, as HAMi counts them."""
    namespace: str = ""
    amount: int = 1


class PermittedDevices(NamedTuple):
    """Resources of devices that KubeVirt permits. Locations of its fact: `names`."""

    names: tuple[str, ...] = ()


class MachineDevice(NamedTuple):
    """A device that a virtual machine asks for. Locations of its fact: `resource`."""

    resource: str
    passed_on: bool = True
    """False: only the pod of the machine requests it."""


class PluginConfiguration(NamedTuple):
    """A configuration of NVIDIA's device plugin, or of HAMi. Locations of its fact: `configuration`."""

    holder: str = ""
    """ConfigMap that has it; empty: another object."""
    key: str = ""
    keys: tuple[str, ...] = ()
    """All keys of the ConfigMap."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Resources that are offered under another name."""
    mig_strategy: str = ""
    """none, single or mixed; empty: not stated."""
    of_hami: bool = False
    namespace: str = ""
    """Of the ConfigMap, as written; empty: none is."""
    single: tuple[str, ...] = ()
    """Resources of which the plugin gives a container one at most."""
    chips: tuple[str, ...] = ()
    """Resources of HAMi's Ascend chips, and of their memory and cores."""


class PluginConfigurationUse(NamedTuple):
    """The configurations that an operator or a chart gives the plugin. Locations of its fact: `name`,
    `default`."""

    name: str
    """ConfigMap that has them; empty: none is named."""
    default: str = ""
    keys: tuple[str, ...] = ()
    """Configurations next to the reference, for a ConfigMap that a chart creates."""
    namespace: str = ""
    """Of the plugin; empty: not known."""


class PluginConfigurationLabel(NamedTuple):
    """The label of nodes that chooses one of the configurations. Locations of its fact: `key`."""

    key: str


class MigConfigurations(NamedTuple):
    """A file of NVIDIA's MIG manager. Locations of its fact: `configurations`."""

    holder: str
    """ConfigMap that has it; empty: another object."""
    names: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    """Those with slices of several sizes."""


class MigConfigurationUse(NamedTuple):
    """The ConfigMap that an operator gives the MIG manager. Locations of its fact: `name`."""

    name: str


class MigConfigurationLabel(NamedTuple):
    """The label of nodes that chooses one of the configurations. Locations of its fact: `name`."""

    name: str
    by_default: bool = False
    """The operator gives it to nodes without one."""
    holder: str = ""
    """ConfigMap that the operator names beside it; empty: none, or it is a label of nodes."""


class PluginFiles(NamedTuple):
    """ConfigMaps that a container of NVIDIA's device plugin takes. Locations of its fact: `variables`,
    `mounts`."""

    namespace: str
    variables: tuple[str, ...] = ()
    """As environment variables."""
    mounts: tuple[str, ...] = ()
    """As files, of which none is named to the plugin."""


class WebhookSkipped(NamedTuple):
    """A namespace whose pods HAMi's webhook leaves alone."""

    namespace: str


class SharedDevices(NamedTuple):
    """A scheduler's configuration, and the families of shared cards that it accounts for."""

    enabled: frozenset[str]
    """Prefixes of resource names."""
