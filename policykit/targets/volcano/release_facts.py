"""Labels, annotations and formulas of Volcano by release, 1.8 to 1.15.

Source: the code at the tag of each release, and at the one before.
"""

from __future__ import annotations

from policykit.model.release import ReleaseFact, Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.job_plugins import JOB_PLUGINS
from policykit.targets.volcano.names import GROUP_MIN_MEMBER, TOPOLOGY_MODE, TOPOLOGY_TIER
from policykit.targets.volcano.scheduler.actions import ACTIONS
from policykit.targets.volcano.scheduler.plugins import FLAGS, PLUGINS
from policykit.targets.volcano.versions import Release


def _version(release: Release) -> Version | None:
    """(1, 13) as 1.13.0; empty: always, or never."""
    return Version(*(*release, 0, 0)[:3]) if release else None


_CRDS = "config/crd/volcano/bases"
_QUEUES = "pkg/webhooks/admission/queues/validate/validate_queue.go"
_JOBS = "pkg/webhooks/admission/jobs/validate"
_CHART = "installer/helm/chart/volcano"
_ACTIONS = "pkg/scheduler/actions"
_CHECKS: tuple[ReleaseFact, ...] = (
    ReleaseFact("check", "weights of queues are 1 to 65535", versions.WEIGHTS_BOUNDED, source=_CRDS),
    ReleaseFact(
        "check",
        "guarantee, deserved and capability of a queue in this order",
        versions.AMOUNTS_COMPARED,
        source=_QUEUES,
    ),
    ReleaseFact(
        "check",
        "amounts of a queue are whole and not negative, and what is guaranteed is deserved",
        versions.AMOUNTS_CHECKED,
        source=_QUEUES,
    ),
    ReleaseFact(
        "check",
        "a resource that capability does not list counts as 0",
        versions.WHOLE_LISTS[0],
        versions.WHOLE_LISTS[1]._replace(patch=versions.WHOLE_LISTS[1].patch + 1),
        instead="it is not limited",
        source=_QUEUES,
    ),
    ReleaseFact(
        "check",
        "children of a queue get no more than their parent",
        versions.TREE_CHECKED,
        instead="plugin capacity stops: nothing in the tree is scheduled",
        source=_QUEUES,
    ),
    ReleaseFact("check", "levels of a tree of queues", versions.DEPTH_CHECKED, source=_QUEUES),
    ReleaseFact("check", "jobs run in queues without children", versions.HIERARCHY, source=_JOBS),
    ReleaseFact("check", "minMember of a PodGroup is not negative", versions.MEMBERS_BOUNDED, source=_CRDS),
    ReleaseFact(
        "check",
        "an mpi job has a worker task",
        gone=versions.MPI_WORKER_OPTIONAL,
        instead="only a master task",
        source=_JOBS,
    ),
    ReleaseFact("event", "PodPending of a job's policies", versions.POD_PENDING, source=_JOBS),
    ReleaseFact("policy action", "RestartPod", versions.POD_PENDING, source=_JOBS),
    ReleaseFact("policy action", "RestartPartition", versions.RESTART_PARTITION, source=_JOBS),
    ReleaseFact(
        "default",
        "an unknown action is passed over",
        *versions.UNKNOWN_ACTIONS_SKIPPED,
        instead="the whole configuration is discarded",
        source="pkg/scheduler/util.go",
    ),
    ReleaseFact(
        "default",
        "the webhook reads the queue of a namespace",
        gone=versions.NAMESPACE_QUEUES_OFF,
        instead="switched on by the chart's custom.enabled_admissions",
        source=_CHART,
    ),
    ReleaseFact(
        "field", "spec.parent of a Queue is read", versions.HIERARCHY, source="pkg/scheduler/plugins"
    ),
    ReleaseFact("field", "tierName of a HyperNode, highestTierName", versions.NAMED_TIERS, source=_CRDS),
    ReleaseFact("chart value", "custom.scheduler_config_override", versions.CONFIG_OVERRIDE, source=_CHART),
    ReleaseFact(
        "chart value", "custom.scheduler_percentage_nodes_to_find", versions.NODES_TO_FIND, source=_CHART
    ),
)
"""What webhooks, CRDs and the chart do."""

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
    *_CHECKS,
    *(
        ReleaseFact("action", name, _version(action.since), source=_ACTIONS)
        for name, action in ACTIONS.items()
        if action.since
    ),
    *(
        ReleaseFact("action argument", f"{name}: {key}", _version(argument.since), source=_ACTIONS)
        for name, action in ACTIONS.items()
        for key, argument in action.arguments.items()
        if argument.since
    ),
    *(
        ReleaseFact("flag", name, _version(since), source="pkg/scheduler/conf/scheduler_conf.go")
        for name, since in FLAGS.items()
        if since
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
    *(
        ReleaseFact(
            "job plugin argument",
            f"{name}: --{key}",
            _version(flag.since),
            source="pkg/controllers/job/plugins",
        )
        for name, plugin in JOB_PLUGINS.items()
        for key, flag in plugin.flags.items()
        if flag.since and flag.since <= versions.RELEASES.newest
    ),
)
