"""What device plugins and schedulers are configured to offer of cards, and the names that pods request."""

from __future__ import annotations

from policykit.namedtuple import NamedTuple


class CardName(NamedTuple):
    """A card resource that a container requests. Locations of its fact: `resource`."""

    resource: str
    scheduler: str = ""
    """schedulerName of the pod."""


class PluginConfiguration(NamedTuple):
    """A configuration of NVIDIA's device plugin. Locations of its fact: `configuration`."""

    holder: str = ""
    """ConfigMap that has it; empty: another object."""
    key: str = ""
    keys: tuple[str, ...] = ()
    """All keys of the ConfigMap."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Resources that are offered under another name."""
    mig_strategy: str = ""
    """none, single or mixed; empty: not stated."""


class PluginConfigurationUse(NamedTuple):
    """The configurations that a GPU operator gives the plugin. Locations of its fact: `name`, `default`."""

    name: str
    default: str = ""


class SharedDevices(NamedTuple):
    """A scheduler's configuration, and the families of shared cards that it accounts for."""

    enabled: frozenset[str]
    """Prefixes of resource names."""
