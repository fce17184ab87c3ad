"""Koordinator: koord-scheduler, with gangs and quotas set by pod metadata."""

from __future__ import annotations

from collections.abc import Callable

from policykit.kube.gang_units import MembershipFact, group_of, pods_of
from policykit.kube.placeholders import is_filled_in
from policykit.kube.podsets.podset import PodSet
from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, QueueAmounts, QueueKey, QueueSupport, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.gang import Membership, PodGroup
from policykit.targets.koordinator.names import (
    DESCHEDULER_CONFIGURATION,
    GANG_NAME,
    GROUP_API,
    GROUP_LABELS,
    KEYS,
    MATCH_POLICY,
    MIN_AVAILABLE,
    OLD_MIN_AVAILABLE,
    QUOTA_NAME,
    SCHEDULER,
    SLO_CONFIGURATIONS,
    TARGET_NAME,
    WAITING_TIME,
)


def read_group(manifest: Manifest, namespace: str) -> PodGroup | None:
    """A PodGroup object; a minimum of 0 is not a gang, as for the scheduler."""
    group = group_of(manifest, namespace, TARGET_NAME, frozenset({GROUP_API}))
    if group and group.min_member is not None and group.min_member <= 0:
        return group._replace(min_member=None)
    return group


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The gang that the pods name: by label, else by annotation with the size beside it.

    Source: koordinator `apis/extension/coscheduling.go`, coscheduling `core/gang.go` (v1.8).
    """
    in_namespace = manifest.namespace or namespace
    pods = pods_of(manifest, pod_set)
    for label in GROUP_LABELS:
        if group := pod_set.labels.get(label):
            membership = Membership(TARGET_NAME, in_namespace, group, pods, pod_set.scheduler_name)
            return MembershipFact(membership, pod_set.place("labels", label))
    group = pod_set.annotations.get(GANG_NAME)
    if not group:
        return None
    minimum, place = _minimum(manifest, pod_set)
    membership = Membership(
        TARGET_NAME, in_namespace, group, pods, pod_set.scheduler_name, minimum, by_pods=bool(place)
    )
    return MembershipFact(membership, pod_set.place("annotations", GANG_NAME), place)


def _minimum(manifest: Manifest, pod_set: PodSet) -> tuple[int | None, Path]:
    """The size that the pods state, and its path. None: not a quoted number. Empty path: none is stated."""
    for where, key, entries in (
        ("annotations", MIN_AVAILABLE, pod_set.annotations),
        ("labels", OLD_MIN_AVAILABLE, pod_set.labels),
    ):
        place = pod_set.place(where, key)
        if key in entries:
            text = entries[key]
            return int(text) if text.isdecimal() and text.isascii() and len(text) < 19 else None, place
        if place and place[-1] == key and lookup(manifest.data, place) is not None:
            return None, place
    return None, ()


def _is_slo(name: str) -> Callable[[Manifest, Path], bool]:
    """Whether a string has this key of the ConfigMap, and nothing in it is filled in later."""
    key = name.partition(" ")[0]
    return lambda holder, path: (
        holder.kind == "ConfigMap"
        and path == ("data", key)
        and not is_filled_in(str(lookup(holder.data, path)))
    )


TARGET = Target(
    TARGET_NAME,
    "Koordinator",
    frozenset({SCHEDULER}),
    frozenset({"koordinator", "koordinator-scheduler"}),
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
        FactReader(
            Lazy("policykit.targets.koordinator.profile_facts:facts"),
            frozenset({"ClusterColocationProfile"}),
            pods=True,
            substrings=("koordinator.sh/",),
        ),
    ),
    configurations=(
        *(
            Configuration(name, (name.partition(" ")[0],), lambda data: False, _is_slo(name))
            for name in SLO_CONFIGURATIONS
        ),
        Configuration(
            DESCHEDULER_CONFIGURATION,
            (DESCHEDULER_CONFIGURATION,),
            lambda data: False,
            kind=DESCHEDULER_CONFIGURATION,
        ),
    ),
    added_plugins=Lazy("policykit.targets.koordinator.scheduler.configuration:added_plugins"),
    assigned_scheduler=Lazy("policykit.targets.koordinator.admission:scheduler_of_profile"),
    queues=QueueSupport(
        Lazy("policykit.targets.koordinator.queue_facts:queue_semantics"),
        Lazy("policykit.model.declared_queues:by_name"),
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
