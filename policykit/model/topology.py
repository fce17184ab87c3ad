"""Topology: levels of labels on nodes, how close or far apart pods must be, and HyperNodes of Volcano."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple

LEVELS = ("zone", "domain", "rack", "switch", "nvlink")
"""Widest first."""
ZONE_KEY = "topology.kubernetes.io/zone"
_NAMES = {"domain": "network-domain", "nvlink": "nvlink-domain"}


class Level(NamedTuple):
    """A level of the cluster's topology: nodes with the same label value are together."""

    name: str
    """zone, domain, rack, switch or nvlink."""
    key: str
    """Node label key."""


class TopologyAffinity(NamedTuple):
    """The pods of one job stay within one value of a level."""

    level: str
    hard: bool = False
    """They wait rather than run apart; else it is a preference."""


class TopologySpread(NamedTuple):
    """Pods of one workload are spread evenly over the values of a level."""

    level: str
    """A level, or `node`."""
    hard: bool = False
    skew: int = 1
    """Largest difference of pods between two values."""


def default_key(level: str, domain: str) -> str:
    """Label key of a level; empty if it needs a domain and there is none."""
    if level == "zone":
        return ZONE_KEY
    return f"{domain}/{_NAMES.get(level, level)}" if domain else ""


class DeclaredMember(NamedTuple):
    """Members of a HyperNode."""

    kind: str
    """Node or HyperNode, as written."""
    selectors: tuple[str, ...] = ()
    """Which of exactMatch, regexMatch and labelMatch are set."""
    name: str = ""
    pattern: str = ""
    chosen: bool = True
    """It has a selector of any content."""


class DeclaredHyperNode(NamedTuple):
    """A HyperNode. Locations of its fact: `name`, `tier_name`, `members`, and for member 0
    `0`, `0.name` and `0.pattern`, as far as they are written."""

    name: str
    tier: int | None = None
    tier_name: str = ""
    members: tuple[DeclaredMember, ...] = ()


class TierUse(NamedTuple):
    """A gang constrained to a tier. Locations of its fact: `tier`."""

    tier: int | None
    tier_name: str
    hard: bool
    pods: int | None = None
    """Pods that start together; None: unknown."""
    request: tuple[tuple[str, int], ...] = ()
    """Least request of one of its pods."""


class TopologyPlugin(NamedTuple):
    """A Volcano configuration, and whether it has the plugin that reads tiers. Location: `plugins`."""

    enabled: bool
    plugins: frozenset[str] = frozenset()
    """All plugins that it lists."""
    actions: frozenset[str] = frozenset()


class PluginUse(NamedTuple):
    """Something that only a plugin or action of Volcano's scheduler reads. Location of its fact: `use`."""

    plugin: str
    use: str
    """The field or annotation."""
    is_action: bool = False
