"""What manifests say of the network's tiers: gangs that stay within one, and the plugin that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.kube import requests
from policykit.kube.podsets.gangs import gang
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Stated
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mappings, text, whole
from policykit.model.tier import TierUse, TopologyPlugin

PLUGIN = "network-topology-aware"
BOUNDS: Mapping[tuple[str, str], Path] = {
    ("batch.volcano.sh", "Job"): ("spec", "networkTopology"),
    ("batch.volcano.sh", "CronJob"): ("spec", "jobTemplate", "spec", "networkTopology"),
    ("flow.volcano.sh", "JobTemplate"): ("spec", "networkTopology"),
    ("scheduling.volcano.sh", "PodGroup"): ("spec", "networkTopology"),
}
"""(API group, kind) to the bound of the whole gang."""
_BY_NUMBER, _BY_NAME = "highestTierAllowed", "highestTierName"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Stated]:
    """Of Volcano's jobs and PodGroups, and of its configuration."""
    if manifest.read_as:
        tiers = mappings(manifest.data.get("tiers"))
        names = [text(p.get("name")) for tier in tiers for p in mappings(tier.get("plugins"))]
        if names:
            yield Stated(TopologyPlugin(PLUGIN in names), {"plugins": ("tiers",)}, answers=True)
    else:
        yield from _use(manifest, () if manifest.partial else pod_sets)


def _use(manifest: Manifest, pod_sets: Sequence[PodSet]) -> Iterator[Stated]:
    """A part of an object says what it is bound to, but not how large it is."""
    path = BOUNDS.get((manifest.group, manifest.kind))
    bound = lookup(manifest.data, path) if path else None
    if path is None or not isinstance(bound, Mapping):
        return
    start = None if manifest.partial else gang(manifest.data)
    asked = [requests.effective(one.spec, one.devices) for one in pod_sets]
    shared = {name: min(each.get(name, 0) for each in asked) for name in (asked[0] if asked else ())}
    use = TierUse(
        whole(bound.get(_BY_NUMBER)),
        text(bound.get(_BY_NAME)),
        bound.get("mode") != "soft",
        start.min_member if start else None,
        tuple(sorted((name, amount) for name, amount in shared.items() if amount)),
    )
    yield Stated(use, {"tier": (*path, _BY_NAME if use.tier_name else _BY_NUMBER)})
