"""Volcano: scheduler configuration, queues and jobs, written and read."""

from __future__ import annotations

from policykit.kube.gang_units import MembershipFact, group_of, named_group
from policykit.kube.podsets.podset import PodSet
from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, JobSupport, QueueAmounts, QueueKey, QueueSupport, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.gang import PodGroup
from policykit.model.pool import NodeFilters
from policykit.targets.volcano.names import (
    BATCH_GROUP,
    CONFIG_FILE,
    CONFIG_OVERRIDE,
    FLOW_GROUP,
    GROUP_API,
    GROUP_APIS,
    GROUP_NAME,
    KEYS,
    MAKES_GROUPS,
    QUEUE_LABEL,
    QUEUE_NAME,
    SCHEDULER,
)

_FIELDS = frozenset({"actions", "tiers", "configurations", "metrics"})
_ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim")
"""A line without any of them may belong to another program: `actions: read` is a GitHub permission."""


def _matches_shape(data: object) -> bool:
    """Whether it has tiers of plugins, or a line of Volcano's actions and no keys of other programs."""
    if not isinstance(data, dict):
        return False
    tiers = data.get("tiers")
    if isinstance(tiers, list) and any(isinstance(tier, dict) and "plugins" in tier for tier in tiers):
        return True
    actions = data.get("actions")
    if not isinstance(actions, str) or not data.keys() <= _FIELDS:
        return False
    return len(data) > 1 or any(action in actions for action in _ACTIONS)


def _is_named(holder: Manifest, path: Path) -> bool:
    key = path[-1] if path else ""
    return key == CONFIG_OVERRIDE or (
        isinstance(key, str) and key.startswith("volcano-scheduler") and key.endswith(".conf")
    )


CONFIGURATION = Configuration(
    CONFIG_FILE, ("tiers", "actions", "volcano-scheduler", CONFIG_OVERRIDE), _matches_shape, _is_named
)


def read_group(manifest: Manifest, namespace: str) -> PodGroup | None:
    """A PodGroup object of Volcano or kube-batch."""
    return group_of(manifest, namespace, SCHEDULER, GROUP_APIS)


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The PodGroup that the pods' group-name annotation names, in the pods' namespace."""
    if manifest.group in MAKES_GROUPS:
        return None
    return named_group(manifest, pod_set, namespace, SCHEDULER, "annotations", GROUP_NAME)


TARGET = Target(
    "volcano",
    "Volcano",
    frozenset({SCHEDULER}),
    frozenset({"vc-scheduler", "volcano-scheduler"}),
    KEYS,
    supports_gangs=True,
    group_api=GROUP_API,
    filters=NodeFilters(resources_first=True, affinity_first=True),
    grouped_by_controllers=True,
    group_priority=True,
    qos_annotation="volcano.sh/qos-level",
    batch_scheduler=True,
    gang_substrings=("volcano",),
    read_group=read_group,
    read_membership=read_membership,
    gang_topology=Lazy("policykit.targets.volcano.topology_facts:BOUNDS"),
    configurations=(CONFIGURATION,),
    facts=(
        FactReader(Lazy("policykit.targets.volcano.queue_facts:facts"), frozenset({"Queue", "PodGroup"})),
        FactReader(
            Lazy("policykit.targets.volcano.topology_facts:facts"),
            frozenset({"CronJob", "HyperNode", "Job", "JobTemplate", "PodGroup", CONFIG_FILE}),
        ),
        FactReader(
            Lazy("policykit.targets.volcano.topology_facts:plugin_uses"),
            frozenset({"PodGroup", "Queue"}),
            pods=True,
            substrings=(
                "deserved",
                "parent:",
                "reclaimable: true",
                "odeGroupAffinity",
                "volcano.sh/numa",
                "volcano.sh/task-t",
                "ocable-zone",
                "sla-waiting",
            ),
        ),
        FactReader(Lazy("policykit.targets.volcano.device_facts:enabled"), frozenset({CONFIG_FILE})),
        FactReader(
            Lazy("policykit.targets.volcano.device_facts:requested"),
            pods=True,
            substrings=("volcano.sh/vgpu-", "volcano.sh/gpu-"),
        ),
    ),
    queues=QueueSupport(
        Lazy("policykit.targets.volcano.queue_facts:queue_semantics"),
        Lazy("policykit.model.declared_queues:by_name"),
        namespace_key=QUEUE_NAME,
        group_key=GROUP_NAME,
        metadata=(QueueKey(QUEUE_NAME, where="annotations"), QueueKey(QUEUE_LABEL, on_pods=False)),
        amounts=QueueAmounts(
            frozenset({"Queue"}), Lazy("policykit.targets.volcano.queue_facts:amount_paths")
        ),
        used=("status", "allocated"),
        pod_annotation=QUEUE_NAME,
    ),
    jobs=JobSupport(
        "Volcano Job",
        BATCH_GROUP,
        frozenset({FLOW_GROUP}),
        Lazy("policykit.targets.volcano.job_patches:patches"),
        Lazy("policykit.targets.volcano.job_patches:notices"),
        Lazy("policykit.targets.volcano.job_patches:component"),
    ),
    pod_fields=Lazy("policykit.targets.volcano.pods:fields"),
    options=Lazy("policykit.targets.volcano.options:VolcanoOptions"),
    generate=Lazy("policykit.targets.volcano.generate:generate"),
    import_reader=Lazy("policykit.targets.volcano.importing:VolcanoReader"),
    releases=Lazy("policykit.targets.volcano.versions:RELEASES"),
    release_facts=Lazy("policykit.targets.volcano.release_facts:FACTS"),
)
