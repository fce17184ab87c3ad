"""Fields of Volcano's objects that its scheduler and controllers do not read, or not yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.catalogue.volcano.argument import Release, release_text
from policykit.kube import podsets
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.rules.volcano import job_policies, job_specs
from policykit.rules.volcano.job_specs import Spec, specs, tasks
from policykit.targets.volcano.names import BATCH_GROUP, GROUP_APIS, SCHEDULER

_KINDS: Mapping[tuple[str, str], Release] = {
    ("batch.volcano.sh", "CronJob"): (1, 13),
    ("topology.volcano.sh", "HyperNode"): (1, 12),
    ("shard.volcano.sh", "NodeShard"): (1, 14),
    ("config.volcano.sh", "ColocationConfiguration"): (1, 14),
}


_TREE = (1, 11)
"""The scheduler reads Queue.spec.parent."""


def untimely(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """What is newer than the release that the policy states; fields that its API lacks are PK003's."""
    since = _KINDS.get((manifest.group, manifest.kind), ())
    if have and have < since:
        yield Violation(
            ("kind",),
            f"Volcano {release_text(have)} has no {manifest.kind} (since {release_text(since)})",
            "take it out, or install a newer release",
            Severity.ERROR,
        )
    tree = manifest.group in GROUP_APIS and manifest.kind == "Queue"
    parent = lookup(manifest.data, ("spec", "parent")) if tree else None
    if have and have < _TREE and parent not in (None, "", "root"):
        yield Violation(
            ("spec", "parent"),
            f"Volcano {release_text(have)} does not read parent (since {release_text(_TREE)})",
            "take it out, or install a newer release",
            key=True,
        )


def unread(manifest: Manifest) -> Iterator[Violation]:
    """Fields that no release reads, and those that say nothing as they are."""
    if (manifest.group, manifest.kind) == ("flow.volcano.sh", "JobFlow"):
        yield from _flows(manifest)
    if manifest.group in GROUP_APIS and manifest.kind == "Queue":
        yield from _queue(manifest)
    if manifest.group in GROUP_APIS and manifest.kind == "PodGroup":
        for path, bound in (*job_specs.of_group(manifest.data), *job_specs.of_sub_groups(manifest.data)):
            yield from _unbounded(bound, path, manifest.partial)
        yield from _ungrouped(manifest)
    for spec in specs(manifest):
        for path, bound in (*job_specs.of_job(spec), *job_specs.of_partitions(spec)):
            yield from _unbounded(bound, path, manifest.partial)
        yield from _pending(spec)


def _flows(manifest: Manifest) -> Iterator[Violation]:
    listed = lookup(manifest.data, ("spec", "flows"))
    for number, flow in enumerate(listed if isinstance(listed, list) else ()):
        path: Path = ("spec", "flows", number)
        if mapping(mapping(flow).get("patch")):
            yield Violation(
                (*path, "patch"),
                "no release of Volcano reads patch: the job is made as its JobTemplate says",
                "write a JobTemplate of its own",
                key=True,
            )
        depends = mapping(mapping(flow).get("dependsOn"))
        if mapping(depends.get("probe")):
            yield Violation(
                (*path, "dependsOn", "probe"),
                "no release of Volcano reads probe: the flow starts when the jobs it names are completed",
                "take it out",
                key=True,
            )


def _queue(manifest: Manifest) -> Iterator[Violation]:
    strategy = lookup(manifest.data, ("spec", "dequeueStrategy"))
    if strategy == "fifo":
        yield Violation(
            ("spec", "dequeueStrategy"),
            "no release of Volcano reads dequeueStrategy: jobs pass one that does not fit, as with traverse",
            "take it out",
        )


def _unbounded(bound: object, path: Path, partial: bool) -> Iterator[Violation]:
    if job_specs.unbounded(bound) and not partial:
        yield Violation(
            path,
            "networkTopology is hard and states no tier: the pods may stand anywhere",
            "write highestTierAllowed or highestTierName",
            key=True,
        )


def _ungrouped(manifest: Manifest) -> Iterator[Violation]:
    listed = lookup(manifest.data, ("spec", "subGroupPolicy"))
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(policy, Mapping) and not policy.get("matchLabelKeys") and not manifest.partial:
            yield Violation(
                ("spec", "subGroupPolicy", number),
                "a sub-group policy without matchLabelKeys groups nothing",
                "name the labels whose values make the sub-groups",
            )


def _pending(spec: Spec) -> Iterator[Violation]:
    lists = [(spec.data.get("policies"), (*spec.path, "policies"))]
    lists += [(task.data.get("policies"), (*task.path, "policies")) for task in tasks(spec)]
    for listed, path in lists:
        for place in job_policies.pending(listed, path):
            yield Violation(
                place,
                "a policy for PodPending without timeout never acts",
                "write timeout: 10m, or as long as a pod may be pending",
            )


_LEAST, _MOST = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"
_WAITING = ("volcano.sh/sla-waiting-time", "sla-waiting-time")
_AMOUNT = re.compile(r"\+?0*[1-9][0-9]*\Z|0*[1-9][0-9]?%\Z")
_OWNERS = frozenset({"DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"})


def unread_annotations(manifest: Manifest) -> Iterator[Violation]:
    """Budgets wherever they are read, and waiting times on pod templates, where nobody looks for them."""
    if manifest.group in (*GROUP_APIS, BATCH_GROUP):
        yield from _budget(manifest.annotations, ("metadata", "annotations"))
    for pod_set in podsets.pod_sets(manifest.data):
        ours = pod_set.scheduler_name == SCHEDULER or (
            manifest.group == BATCH_GROUP and not pod_set.scheduler_name
        )
        if not ours:
            continue
        place = pod_set.place("annotations")
        yield from _budget(pod_set.annotations, place)
        for key in _WAITING if manifest.kind in _OWNERS else ():
            if key in pod_set.annotations:
                yield Violation(
                    (*place, key),
                    f"{key} on the pod template is not read: the group does not get it",
                    f"write {_WAITING[0]} in the annotations of the {manifest.kind} itself",
                    key=True,
                )


def _budget(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    """Source: `scheduler/api/job_info.go` and `webhooks/admission/pods/validate` (1.8 to 1.15)."""
    if _LEAST in annotations and _MOST in annotations:
        yield Violation(
            (*place, _MOST),
            f"{_MOST} beside {_LEAST} is not read",
            "keep one of them",
            key=True,
        )
    for key in (_LEAST, _MOST):
        value = annotations.get(key)
        if value is not None and not is_placeholder(value) and not _AMOUNT.match(value):
            yield Violation(
                (*place, key),
                f"{key} is {value!r}, neither a whole number above 0 nor 1% to 99%",
                'write a number of pods or a percentage, in quotes: "2" or "50%"',
            )
