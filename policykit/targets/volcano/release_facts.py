"""Labels, annotations and formulas of Volcano by release, 1.8 to 1.15.

Source: the code at the tag of each release, and at the one before.
"""

from __future__ import annotations

from policykit.catalogue.volcano.job_plugins import JOB_PLUGINS
from policykit.catalogue.volcano.plugins import PLUGINS
from policykit.catalogue.volcano.wording import Release
from policykit.model.release import ReleaseFact, Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import GROUP_MIN_MEMBER, TOPOLOGY_MODE, TOPOLOGY_TIER


def _version(release: Release) -> Version | None:
    """(1, 13) as 1.13.0; empty: always, or never."""
    return Version(*(*release, 0, 0)[:3]) if release else None


_CRDS = "config/crd/volcano/bases"

FACTS: tuple[ReleaseFact, ...] = (
    ReleaseFact("kind", "HyperNode", Version(1, 12, 0), group="topology.volcano.sh", source=_CRDS),
    ReleaseFact("kind", "CronJob", Version(1, 13, 0), group="batch.volcano.sh", source=_CRDS),
    ReleaseFact("kind", "NodeShard", Version(1, 14, 0), group="shard.volcano.sh", source=_CRDS),
    ReleaseFact(
        "kind", "ColocationConfiguration", Version(1, 14, 0), group="config.volcano.sh", source=_CRDS
    ),
    ReleaseFact(
        "label",
        "volcano.sh/nodegroup-name",
        Version(1, 9, 0),
        source="pkg/scheduler/plugins/nodegroup/nodegroup.go",
    ),
    ReleaseFact("annotation", "volcano.sh/qos-level", Version(1, 11, 0), source="pkg/agent/apis/types.go"),
    ReleaseFact("annotation", GROUP_MIN_MEMBER, Version(1, 12, 0), source="pkg/controllers/podgroup"),
    ReleaseFact(
        "annotation",
        "volcano.sh/vgpu-mode",
        Version(1, 12, 0),
        source="api/devices/nvidia/vgpu",
    ),
    ReleaseFact(
        "annotation",
        TOPOLOGY_MODE,
        Version(1, 13, 0),
        source="pkg/controllers/podgroup",
    ),
    ReleaseFact(
        "annotation",
        TOPOLOGY_TIER,
        Version(1, 13, 0),
        source="pkg/controllers/podgroup",
    ),
    ReleaseFact(
        "annotation",
        "scheduling.volcano.sh/queue-allocation-gate",
        Version(1, 15, 0),
        source="pkg/scheduler/plugins/gang",
    ),
    ReleaseFact(
        "annotation",
        "volcano.sh/vgpu-podgroup-policy",
        Version(1, 15, 0),
        source="api/devices/nvidia/vgpu",
    ),
    ReleaseFact(
        "formula",
        "nodeorder normalises the sums of matched preferences to 100",
        versions.NORMALISED_AFFINITY,
        instead="the sums of the weights as they are written",
        source="pkg/scheduler/plugins/nodeorder/nodeorder.go",
    ),
    ReleaseFact(
        "formula",
        "network-topology-aware scores closeness at the widest of several levels",
        versions.WIDEST_SCORED,
        instead="0 there",
        source="pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go",
    ),
    ReleaseFact(
        "default",
        "networkTopology.highestTierAllowed 1",
        *versions.ASSUMED_TIER,
        instead="no tier: the job may run anywhere",
        source=_CRDS,
    ),
    ReleaseFact(
        "formula",
        "action allocate enforces highestTierAllowed itself",
        *versions.ENFORCED_TIER,
        instead="plugin network-topology-aware",
        source="pkg/scheduler/actions/allocate/allocate.go",
    ),
    ReleaseFact(
        "formula",
        "action preempt skips jobs with a network topology",
        versions.PREEMPT_SKIPS_TOPOLOGY,
        instead="it evicts without regard to it",
        source="pkg/scheduler/actions/preempt/preempt.go",
    ),
    *(
        ReleaseFact("plugin", name, _version(plugin.since), source="pkg/scheduler/plugins/factory.go")
        for name, plugin in PLUGINS.items()
        if plugin.since
    ),
    *(
        ReleaseFact(
            "argument",
            f"{name}: {key}",
            _version(argument.since),
            _version(argument.gone),
            source="pkg/scheduler/plugins",
        )
        for name, plugin in PLUGINS.items()
        for key, argument in plugin.arguments.items()
        if argument.since or argument.gone
    ),
    *(
        ReleaseFact("job plugin", name, _version(plugin.since), source="pkg/controllers/job/plugins")
        for name, plugin in JOB_PLUGINS.items()
        if plugin.since
    ),
)
