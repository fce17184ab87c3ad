"""Cards that HAMi or Volcano shares as virtual cards: a part of the memory and cores of a card."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

HAMI = "hami"
VOLCANO = "volcano-vgpu"
HAMI_SCHEDULER = "hami-scheduler"
"""schedulerName that HAMi's webhook writes into pods that state none, or the default."""
SLOTS = 10
"""Pods that share one card unless the plugin is told otherwise (deviceSplitCount)."""


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
