"""Koordinator: koord-scheduler, with gangs and quotas set by pod metadata."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import FactReader, QueueAmounts, QueueKey, QueueSupport, Target
from policykit.targets.koordinator.groups import read_group, read_membership
from policykit.targets.koordinator.names import (
    KEYS,
    MATCH_POLICY,
    QUOTA_NAME,
    SCHEDULER,
    TARGET_NAME,
    WAITING_TIME,
)

TARGET = Target(
    TARGET_NAME,
    "Koordinator",
    frozenset({SCHEDULER}),
    KEYS,
    supports_gangs=True,
    supports_reservations=True,
    gang_annotations=frozenset({MATCH_POLICY, WAITING_TIME}),
    gang_substrings=("koord",),
    read_group=read_group,
    read_membership=read_membership,
    facts=(
        FactReader(
            Lazy("policykit.targets.koordinator.queue_facts:facts"),
            frozenset({"ElasticQuota", "ElasticQuotaProfile"}),
        ),
        FactReader(
            Lazy("policykit.targets.koordinator.gang_facts:facts"),
            frozenset({"PodGroup"}),
            pods=True,
            substrings=("koord",),
        ),
    ),
    added_plugins=Lazy("policykit.targets.koordinator.scheduler.configuration:added_plugins"),
    assigned_scheduler=Lazy("policykit.targets.koordinator.admission:scheduler_of_profile"),
    queues=QueueSupport(
        Lazy("policykit.targets.koordinator.queue_facts:queue_semantics"),
        Lazy("policykit.targets.koordinator.queue_facts:policy_queues"),
        QUOTA_NAME,
        metadata=(QueueKey(QUOTA_NAME, where="labels"),),
        amounts=QueueAmounts(
            frozenset({"ElasticQuota"}), Lazy("policykit.targets.koordinator.queue_facts:amount_paths")
        ),
        used=("status", "used"),
    ),
    pod_fields=Lazy("policykit.targets.koordinator.pods:fields"),
    priority_classes=frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"}),
    options=Lazy("policykit.targets.koordinator.options:KoordinatorOptions"),
    merged_file="config",
    generate=Lazy("policykit.targets.koordinator.generate:generate"),
    import_reader=Lazy("policykit.targets.koordinator.importing:KoordinatorReader"),
    releases=Lazy("policykit.targets.koordinator.versions:RELEASES"),
    release_facts=Lazy("policykit.targets.koordinator.release_facts:FACTS"),
)
