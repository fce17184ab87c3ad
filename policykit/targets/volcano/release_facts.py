"""Labels, annotations and formulas of Volcano by release, 1.8 to 1.15.

Source: the code at the tag of each release, and at the one before.
"""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Version
from policykit.targets.volcano.names import GROUP_MIN_MEMBER, TOPOLOGY_MODE, TOPOLOGY_TIER

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
        Version(1, 15, 1),
        instead="the sums of the weights as they are written",
        source="pkg/scheduler/plugins/nodeorder/nodeorder.go",
    ),
)
