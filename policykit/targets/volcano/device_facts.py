"""Facts about shared cards: what Volcano's configuration accounts for, and what pods request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.kube import requests
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings
from policykit.model.shared_cards import CardName, SharedDevices

SWITCHES: Mapping[str, str] = {
    "volcano.sh/vgpu-": "VGPUEnable",
    "volcano.sh/gpu-memory": "GPUSharingEnable",
    "volcano.sh/gpu-number": "GPUNumberEnable",
}
"""Prefix of a resource to the argument of plugin deviceshare that accounts for it."""
_PLUGINS = ("deviceshare", "predicate")
"""Prefixes of the argument; predicates had it up to 1.8."""


def enabled(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Of a configuration with plugins. Source: `plugins/deviceshare` (1.8 to 1.15)."""
    plugins = [p for tier in mappings(manifest.data.get("tiers")) for p in mappings(tier.get("plugins"))]
    if plugins:
        arguments = [mapping(plugin.get("arguments")) for plugin in plugins]
        found = frozenset(
            prefix
            for prefix, switch in SWITCHES.items()
            if any(_is_on(each.get(f"{plugin}.{switch}")) for each in arguments for plugin in _PLUGINS)
        )
        yield Fact(SharedDevices(found), {}, answers=True)


def _is_on(value: object) -> bool:
    """A template may be anything."""
    return value is True or (isinstance(value, str) and value.lower() != "false")


def requested(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Each such resource of each container."""
    for pod_set in () if manifest.partial else pod_sets:
        for field, position, container in requests.containers(pod_set.spec):
            resources = mapping(container.get("resources"))
            for name, amount in requests.requested(container).items():
                if amount > 0 and any(map(name.startswith, SWITCHES)):
                    side = "limits" if name in mapping(resources.get("limits")) else "requests"
                    place = pod_set.place(field, position, "resources", side, name)
                    yield Fact(CardName(name, pod_set.scheduler_name), {"resource": place})
