"""An object sets something that Volcano does not read.

The API accepts these fields, but no controller reads them, or what they say is incomplete and has no
effect. Nor does the scheduler read its ConfigMap under another key than volcano-scheduler.conf. The same
holds for fields newer than the release in the policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.durations import is_duration
from policykit.kube import podsets
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, whole
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.volcano.job_specs import (
    lacks_tier,
    partition_topologies,
    policy_lists,
    specs,
    sub_group_topologies,
    without_timeout,
)
from policykit.targets import DEFAULT_SCHEDULER
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import BATCH_GROUP, CONFIG_FILE, CONFIG_MAP, GROUP_APIS, SCHEDULER
from policykit.targets.volcano.release_facts import FACTS
from policykit.targets.volcano.versions import UPGRADE, Release, not_yet, release_text

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
  ownerReferences:
  - {apiVersion: example.com/v1, kind: Training, name: train, uid: "1"}
spec:
  minMember: 4
  networkTopology:
    mode: hard
"""

GOOD = BAD + "    highestTierAllowed: 1\n"

_KEYS = ("jdb-min-available", "jdb-max-unavailable", "sla-waiting-time")
_KINDS = frozenset(
    {
        "ColocationConfiguration",
        "ConfigMap",
        "CronJob",
        "DaemonSet",
        "Deployment",
        "HyperJob",
        "HyperNode",
        "Job",
        "JobFlow",
        "JobTemplate",
        "NodeShard",
        "Pod",
        "PodGroup",
        "Queue",
        "ReplicaSet",
        "StatefulSet",
    }
)

_KIND_SINCE: Mapping[tuple[str, str], Release] = {
    (fact.group, fact.name): fact.since[:2] for fact in FACTS if fact.what == "kind" and fact.since
}
_LEAST, _MOST = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"
_WAITING = ("volcano.sh/sla-waiting-time", "sla-waiting-time")
_AMOUNT = re.compile(r"\+?0*[1-9][0-9]*\Z|0*[1-9][0-9]?%\Z")
_TIERS = re.compile(r"^tiers:", re.MULTILINE)
_OWNERS = frozenset({"DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"})


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Fields of Volcano's objects, and annotations of all objects whose pods it schedules."""
    if ".volcano.sh" in manifest.api_version or "scheduling.incubator.k8s.io" in manifest.api_version:
        yield from _newer_fields(manifest, versions.release_of(context.cluster))
        yield from _unread_fields(manifest, versions.release_of(context.cluster))
        if manifest.group in GROUP_APIS and manifest.kind == "Queue":
            yield from _half_deserved(manifest, context.cluster)
    if manifest.kind == "ConfigMap" and manifest.name == CONFIG_MAP and not manifest.partial:
        yield from _configuration_key(mapping(manifest.data.get("data")))
    if words(manifest.data).end(_KEYS):
        yield from _unread_annotations(manifest)


def _configuration_key(data: Mapping[str, Any]) -> Iterator[Violation]:
    """Under another key than that of the file which the chart's `--scheduler-conf` names."""
    held = [key for key, text in data.items() if isinstance(text, str) and _TIERS.search(text)]
    if len(held) == 1 and not any(isinstance(key, str) and key.endswith(".conf") for key in data):
        yield Violation(
            ("data", held[0]),
            f"Volcano's scheduler is started with {CONFIG_FILE}, so it does not read {held[0]}: "
            "its built-in configuration applies",
            f"rename the key to {CONFIG_FILE}, or name this file in --scheduler-conf",
            key=True,
        )


def _newer_fields(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """What is newer than the release that the policy states; fields that its API lacks are PK003's."""
    if message := not_yet(manifest.kind, _KIND_SINCE.get((manifest.group, manifest.kind), ()), have):
        yield Violation(("kind",), message, UPGRADE, Severity.ERROR)
    tree = manifest.group in GROUP_APIS and manifest.kind == "Queue"
    parent = lookup(manifest.data, ("spec", "parent")) if tree else None
    if have and have < versions.HIERARCHY and parent not in (None, "", "root"):
        added = release_text(versions.HIERARCHY[:2])
        message = f"Volcano {release_text(have)} does not read parent (added in {added})"
        yield Violation(("spec", "parent"), message, UPGRADE, key=True)
    affinity = lookup(manifest.data, ("spec", "affinity")) if manifest.kind == "Queue" else None
    if have and have < versions.NODE_GROUPS and affinity:
        added = release_text(versions.NODE_GROUPS[:2])
        message = f"Volcano {release_text(have)} does not read affinity: it was added in {added}"
        yield Violation(("spec", "affinity"), message, UPGRADE, key=True)


def _half_deserved(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """Nothing of a queue of the policy, which has what the policy says.

    Source: `AddPreemptiveFn` of plugin capacity (1.10 to 1.13).
    """
    have = versions.release_of(cluster)
    if cluster is None or any(queue.name == manifest.name for queue in cluster.queues):
        return
    deserved = mapping(lookup(manifest.data, ("spec", "deserved")))
    first, last = versions.WHOLE_DESERVED
    missing = [name for name in ("cpu", "memory") if name not in deserved]
    if deserved and missing and have and first <= have < last and not manifest.partial:
        what = " and ".join(missing)
        yield Violation(
            ("spec", "deserved"),
            f"deserved lists no {what}, which counts as 0 before Volcano {release_text(last[:2])}: queue "
            f"{manifest.name} never reclaims for a pod that requests {what}",
            f"add {what} to deserved",
            key=True,
        )


def _unread_fields(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """Fields that no release reads, and those without effect as they are."""
    if (manifest.group, manifest.kind) == ("flow.volcano.sh", "JobFlow"):
        yield from _flows(manifest)
    if manifest.group in GROUP_APIS and manifest.kind == "Queue":
        yield from _queue(manifest)
    topologies: list[tuple[Path, object]] = []
    if manifest.group in GROUP_APIS and manifest.kind == "PodGroup":
        path = ("spec", "networkTopology")
        topologies += [(path, lookup(manifest.data, path)), *sub_group_topologies(manifest.data)]
        yield from _sub_groups(manifest)
    for spec in specs(manifest):
        yield from _other_scheduler(spec.data, spec.path)
        yield from _minimums_of_tasks(spec.data, spec.path)
        topologies += [((*spec.path, "networkTopology"), spec.data.get("networkTopology"))]
        topologies += partition_topologies(spec)
        for listed, where in policy_lists(spec):
            for place in without_timeout(listed, where):
                yield Violation(
                    place,
                    "a policy for PodPending without a timeout never acts",
                    "add a timeout such as 10m: how long a pod may be pending",
                )
    since = versions.if_unstated(have, versions.ASSUMED_TIER[1])
    for place, topology in topologies:
        if lacks_tier(topology) and not manifest.partial and not versions.assumes_tier(have):
            yield Violation(
                place,
                f"networkTopology is hard but names no tier: the pods may run anywhere{since}",
                "add highestTierAllowed or highestTierName",
                key=True,
            )


def _other_scheduler(data: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """That of a task comes first. Source: `createJobPod` of the controller (1.8 to 1.15)."""
    own = data.get("schedulerName")
    listed = data.get("tasks")
    least = whole(data.get("minAvailable")) or 0
    if own == DEFAULT_SCHEDULER and least > 1 and not _names_scheduler(listed):
        yield Violation(
            (*base, "schedulerName"),
            f"schedulerName is {own}, which does not read minAvailable {least}: the pods start one by one",
            f"write {SCHEDULER}, or delete it",
        )
    if own != SCHEDULER:
        return
    for number, task in enumerate(listed if isinstance(listed, list) else ()):
        path: Path = ("template", "spec", "schedulerName")
        name = lookup(task, path)
        if isinstance(name, str) and name not in ("", own) and not is_placeholder(name):
            yield Violation(
                (*base, "tasks", number, *path),
                f"schedulerName of the task is {name}, which replaces {own} of the Job: its pods are not "
                "placed together",
                "delete it",
            )


def _minimums_of_tasks(data: Mapping[str, Any], base: Path) -> Iterator[Violation]:
    """A task without a minimum needs all its pods.

    Sources: `CheckTaskReady` in `scheduler/api/job_info.go`, the mutating webhook of jobs (1.8 to 1.15).
    """
    least, listed = whole(data.get("minAvailable")), data.get("tasks")
    tasks = [mapping(each) for each in (listed if isinstance(listed, list) else ())]
    if not least or len(tasks) < 2:
        return
    numbers = [whole(each.get("minAvailable", each.get("replicas", 1))) for each in tasks]
    total = sum(number or 0 for number in numbers)
    stated = [at for at, each in enumerate(tasks) if whole(each.get("minAvailable"))]
    if stated and None not in numbers and least < total:
        yield Violation(
            (*base, "minAvailable"),
            f"minAvailable of the job is {least}, below the sum {total} of its tasks: Volcano does not read "
            f"minAvailable of the tasks, and any {least} pods start",
            f"write {total}, or delete minAvailable of the tasks",
        )


def _names_scheduler(tasks: object) -> bool:
    """Whether a task has a scheduler of its own."""
    return any(
        lookup(task, ("template", "spec", "schedulerName"))
        for task in (tasks if isinstance(tasks, list) else ())
    )


def _flows(manifest: Manifest) -> Iterator[Violation]:
    listed = lookup(manifest.data, ("spec", "flows"))
    for number, flow in enumerate(listed if isinstance(listed, list) else ()):
        path: Path = ("spec", "flows", number)
        if mapping(mapping(flow).get("patch")):
            yield Violation(
                (*path, "patch"),
                "no release of Volcano reads patch: the job is created as in its JobTemplate",
                "write a separate JobTemplate",
                key=True,
            )
        depends = mapping(mapping(flow).get("dependsOn"))
        if mapping(depends.get("probe")):
            yield Violation(
                (*path, "dependsOn", "probe"),
                "no release of Volcano reads probe: the flow starts when the jobs it depends on complete",
                "remove it",
                key=True,
            )


def _queue(manifest: Manifest) -> Iterator[Violation]:
    if lookup(manifest.data, ("spec", "dequeueStrategy")) == "fifo":
        yield Violation(
            ("spec", "dequeueStrategy"),
            "no release of Volcano reads dequeueStrategy: later jobs overtake one that does not fit",
            "remove it",
        )


def _sub_groups(manifest: Manifest) -> Iterator[Violation]:
    listed = lookup(manifest.data, ("spec", "subGroupPolicy"))
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(policy, dict) and not policy.get("matchLabelKeys") and not manifest.partial:
            yield Violation(
                ("spec", "subGroupPolicy", number),
                "a sub-group policy without matchLabelKeys groups nothing",
                "name the labels whose values define the sub-groups",
            )


def _unread_annotations(manifest: Manifest) -> Iterator[Violation]:
    """Budgets anywhere they are read, and waiting times on pod templates, where nothing reads them."""
    if manifest.group in (*GROUP_APIS, BATCH_GROUP):
        yield from _budget(manifest.annotations, ("metadata", "annotations"))
    ours = ("", SCHEDULER) if manifest.group == BATCH_GROUP else (SCHEDULER,)
    sets = [pod_set for pod_set in podsets.pod_sets(manifest.data) if pod_set.scheduler_name in ours]
    if sets:
        yield from _waiting(manifest)
    for pod_set in sets:
        place = pod_set.place("annotations")
        yield from _budget(pod_set.annotations, place)
        for key in _WAITING if manifest.kind in _OWNERS else ():
            if key in pod_set.annotations:
                yield Violation(
                    (*place, key),
                    f"{key} on the pod template is not read: the group does not get it",
                    f"set {_WAITING[0]} in the annotations of the {manifest.kind} itself",
                    key=True,
                )


def _waiting(manifest: Manifest) -> Iterator[Violation]:
    """Source: `extractWaitingTime` in `scheduler/api/job_info.go` (1.8 to 1.15)."""
    for key in _WAITING:
        value = manifest.annotations.get(key)
        if value is not None and not is_placeholder(value) and not is_duration(value):
            yield Violation(
                ("metadata", "annotations", key),
                f"{key} is {value!r}, not a duration: Volcano ignores it",
                "write a number with its unit, such as 30m or 1h",
            )


def _budget(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    """Source: `scheduler/api/job_info.go` and `webhooks/admission/pods/validate` (1.8 to 1.15)."""
    if _LEAST in annotations and _MOST in annotations:
        yield Violation((*place, _MOST), f"{_MOST} is ignored next to {_LEAST}", "keep one of them", key=True)
    for key in (_LEAST, _MOST):
        value = annotations.get(key)
        if value is not None and not is_placeholder(value) and not _AMOUNT.match(value):
            yield Violation(
                (*place, key),
                f"{key} is {value!r}, neither a whole number above 0 nor 1% to 99%",
                'write a number of pods or a percentage, in quotes: "2" or "50%"',
            )


RULE = Rule(
    code="PK514",
    name="ignored-field",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("volcano", "incubator", "jdb-m", "sla-waiting-time"),
    kinds=_KINDS,
)
