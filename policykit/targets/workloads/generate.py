"""A kustomize component for each workload kind and card: affinity, tolerations and scheduler fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.generator.artifact import Artifact, ComponentPatch, Generated, Notice, Role
from policykit.kube.tolerations import to_dict
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import Path
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.pool import Card
from policykit.model.workload import WorkloadKind
from policykit.placement.capacity import request_limit
from policykit.placement.desired_placement import DesiredPlacement, affinity_data, desired_placement
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import TARGETS, target_name_of, target_of
from policykit.targets.workloads.field_patches import merge_patches
from policykit.targets.workloads.scheduler_fields import pod_fields, without_gang

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
"""A card may have any name, a folder may not."""
_PARTIAL = "---\n# policykit: partial\n"
"""Without this comment, lint takes the patch of a Pod for a complete Pod."""
_REPLACES = (
    "---\n# These patches replace the affinity and tolerations of a workload.\n"
    "# `policykit patch`, and `policykit krm` as a transformer, add to them instead.\n"
)
_NO_GANG = (
    "components cannot set a gang: its size differs per workload; run `policykit patch`, or `policykit "
    "krm` as a transformer"
)


def generate(cluster: Cluster) -> Generated:
    """`workloads/<kind>-<card>/`, and `workloads/<kind>-helpers/` where helpers have pools."""
    artifacts: list[Artifact] = []
    notices: list[Notice] = []
    names: set[str] = set()
    for workload in cluster.workloads.values():
        for card in _cards(cluster, workload):
            want = desired_placement(cluster, workload, card)
            if want.pools:
                name = _free(f"{workload.name}-{card.name if card else 'helpers'}", names)
                artifacts.extend(_component(name, cluster, workload, want))
            elif card and workload.cards is not None:
                notices.append(Notice("workloads", f"no pool serves {workload.name} on card {card.name}"))
        notices.extend(_notices(workload, cluster))
    return Generated(tuple(artifacts), tuple(notices))


def _notices(workload: WorkloadKind, cluster: Cluster) -> Iterator[Notice]:
    """What components cannot express, and what no manifest can express for the scheduler of the kind."""
    said = common_fields(workload, cluster).notices
    if _gang(workload, cluster) and not any("policykit patch" in words for words in said):
        said = (_NO_GANG, *said)
    allowed = [pool for pool in cluster.pools if is_allowed(workload, pool)]
    if unwritten := _unwritten_target(workload, cluster):
        said = (*said, unwritten)
    if domain := request_limit(cluster, workload, allowed):
        said = (*said, domain)
    for words in said:
        yield Notice("workloads", words if words.startswith(workload.name) else f"{workload.name}: {words}")


def _unwritten_target(workload: WorkloadKind, cluster: Cluster) -> str:
    """That nothing is written for the system of its scheduler, although the policy has queues."""
    target = target_of(target_name_of(workload.scheduler, cluster))
    if target is None or target.always or not target.queues or target.generate is None:
        return ""
    if target.name in cluster.targets or not cluster.queues:
        return ""
    return (
        f"its pods have schedulerName {workload.scheduler}, but targets.{target.name} is off: the queues "
        f"of the policy are not written for {target.title}"
    )


def _cards(cluster: Cluster, workload: WorkloadKind) -> Iterator[Card | None]:
    for name, card in cluster.cards.items():
        if workload.cards is None or name in workload.cards:
            yield card
    yield None


def _free(name: str, taken: set[str]) -> str:
    """A folder's name, numbered where two pairs make the same: a-b on c, and a on b-c."""
    safe = _UNSAFE.sub("-", name)
    number, free = 1, safe
    while free in taken:
        number, free = number + 1, f"{safe}-{number + 1}"
    taken.add(free)
    return free


def _component(
    name: str, cluster: Cluster, workload: WorkloadKind, want: DesiredPlacement
) -> Iterator[Artifact]:
    folder = f"workloads/{name}"
    listed: list[dict[str, Any]] = []
    for patch in _patches(cluster, workload, want):
        yield Artifact(f"{folder}/{patch.file}", _patch_text(patch), Role.COMPONENT)
        # An empty group would match every group: targets are regular expressions.
        listed.append({"path": patch.file, "target": {"group": patch.group or "^$", "kind": patch.kind}})
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": listed}
    comments = _REPLACES + "".join(_limitations(workload, cluster))
    yield Artifact(f"{folder}/kustomization.yaml", comments + dump(component), Role.COMPONENT)


def _patches(cluster: Cluster, workload: WorkloadKind, want: DesiredPlacement) -> Iterator[ComponentPatch]:
    """Those of the built-in kinds, then those of the systems' own jobs."""
    for built_in in BUILT_IN:
        data = strategic_patch(built_in, workload, want, cluster)
        yield ComponentPatch(f"{built_in.kind.lower()}.yaml", built_in.group, built_in.kind, data)
    for target in TARGETS:
        if target.jobs:
            yield from target.jobs.component.load()(workload, pod_spec(workload, want), cluster)


def _patch_text(patch: ComponentPatch) -> str:
    start = _PARTIAL if isinstance(patch.data, Mapping) else "---\n"
    return f"{start}{patch.comment}{dump(patch.data)}"


def _limitations(workload: WorkloadKind, cluster: Cluster) -> Iterator[str]:
    """Comments on what the component cannot set."""
    yield NO_GANG_COMMENT if _gang(workload, cluster) else ""
    yield gang_comment(workload.gang_rule)
    for target in TARGETS:
        if workload.across and target.jobs:
            yield (
                f"# Components cannot spread the pods of a {target.jobs.title}: use `policykit patch` or "
                "`policykit krm`.\n"
            )


def _gang(workload: WorkloadKind, cluster: Cluster) -> bool:
    """Whether its scheduler has gangs, which `patch` can declare."""
    target = target_of(target_name_of(workload.scheduler, cluster))
    return (
        workload.gang == "all"
        and target is not None
        and target.supports_gangs
        and target.pod_fields is not None
    )


class BuiltIn(NamedTuple):
    """A built-in kind that creates pods, and the path of its pod template."""

    kind: str
    api_version: str
    template: Path

    @property
    def group(self) -> str:
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @property
    def owner(self) -> Path:
        """The object that makes the pods: of a CronJob those are the Jobs it makes."""
        return self.template[:-2] if len(self.template) > 2 else ()


_ADMITTED_BY_POD = frozenset({"DaemonSet", "PodTemplate", "ReplicaSet", "ReplicationController"})
"""Kinds of which each pod is admitted by itself, by its own labels."""

BUILT_IN = (
    BuiltIn("CronJob", "batch/v1", ("spec", "jobTemplate", "spec", "template")),
    BuiltIn("DaemonSet", "apps/v1", ("spec", "template")),
    BuiltIn("Deployment", "apps/v1", ("spec", "template")),
    BuiltIn("Job", "batch/v1", ("spec", "template")),
    BuiltIn("Pod", "v1", ()),
    BuiltIn("PodTemplate", "v1", ("template",)),
    BuiltIn("ReplicaSet", "apps/v1", ("spec", "template")),
    BuiltIn("ReplicationController", "v1", ("spec", "template")),
    BuiltIn("StatefulSet", "apps/v1", ("spec", "template")),
)


def strategic_patch(
    built_in: BuiltIn, workload: WorkloadKind, want: DesiredPlacement, cluster: Cluster
) -> dict[str, Any]:
    """A strategic merge patch for a built-in kind.

    Labels and maps merge, and so do spreading constraints; `tolerations` and the affinity's
    lists have no merge key, so they take the place of what the manifest has.
    """
    fields = common_fields(without_gang(workload), cluster, built_in.kind)
    metadata: dict[str, Any] = {"labels": {WORKLOAD_KEY: workload.name}}
    key = _queue_annotation(workload, cluster)
    if workload.queue and key:
        metadata["annotations"] = {key: workload.queue}
    for where, entries in (("labels", fields.labels), ("annotations", fields.annotations)):
        if entries:
            metadata.setdefault(where, {}).update(entries)
    data: Any = {
        "apiVersion": built_in.api_version,
        "kind": built_in.kind,
        "metadata": {"name": "any"},
    }
    if built_in.template:
        data = patched(data, Patch("add", (*built_in.template, "metadata"), metadata))
    else:
        data["metadata"] |= metadata
    for key, text in fields.owner_annotations.items():
        data = patched(data, Patch("add", (*built_in.owner, "metadata", "annotations", key), text))
    if fields.admitted:
        for key, text in fields.admitted.labels.items():
            data = patched(data, Patch("add", (*_admitted(built_in), "metadata", "labels", key), text))
        for path, value in fields.admitted.spec.items():
            data = patched(data, Patch("add", (*_admitted(built_in), *path), value))
    spec = _merged(pod_spec(workload, want), fields.spec)
    made: dict[str, Any] = patched(data, Patch("add", (*built_in.template, "spec"), spec))
    return made


def _queue_annotation(workload: WorkloadKind, cluster: Cluster) -> str:
    target = target_of(target_name_of(workload.scheduler, cluster))
    return target.queues.pod_annotation if target and target.queues else ""


def _admitted(built_in: BuiltIn) -> Path:
    """The object that a queue system admits; of kinds it does not know, the pods."""
    return built_in.template if built_in.kind in _ADMITTED_BY_POD else built_in.owner


def common_fields(workload: WorkloadKind, cluster: Cluster, owner_kind: str = "") -> PodFields:
    """Fields that all pods of the kind have."""
    return pod_fields(
        workload, cluster, target_name_of(workload.scheduler, cluster), PodContext(owner_kind=owner_kind)
    )


def pod_spec(workload: WorkloadKind, want: DesiredPlacement) -> dict[str, Any]:
    """The PodSpec fields that the kind sets."""
    spec: dict[str, Any] = {}
    affinity = affinity_data(want)
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    if want.tolerations:
        spec["tolerations"] = [to_dict(toleration) for toleration in want.tolerations]
    if workload.scheduler:
        spec["schedulerName"] = workload.scheduler
    if workload.priority_class:
        spec["priorityClassName"] = workload.priority_class
    return spec


def _merged(spec: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    made: Any = spec
    for field, value in more.items():
        for one in merge_patches((field,), made.get(field), value):
            made = patched(made, one)
    result: dict[str, Any] = made
    return result


NO_GANG_COMMENT = (
    "# Components cannot set a gang, because its size differs per workload:\n"
    "# use `policykit patch` or `policykit krm` instead.\n"
)
"""Comment of a component whose pods are a gang."""
_GANG_COMMENT = re.compile(
    r"^# Gang of the policy: (?:size ([0-9]{1,9})|all pods)"
    r"(?:, timeout ([0-9]{1,9})s)?(?:, then (wait|start|fail))?$",
    re.MULTILINE,
)


def gang_comment(rule: GangRule | None) -> str:
    """One line; empty where the policy only says that the pods are a gang."""
    if rule is None or rule == GangRule():
        return ""
    size = f"size {rule.size}" if rule.size is not None else "all pods"
    timeout = f", timeout {rule.timeout}s" if rule.timeout is not None else ""
    then = f", then {rule.on_timeout}" if rule.on_timeout else ""
    return f"# Gang of the policy: {size}{timeout}{then}\n"


def read_gang_comment(text: str) -> GangRule | None:
    """The gang in the comments of a component; None: there is none."""
    line = _GANG_COMMENT.search(text)
    if line is None:
        return None
    size, timeout, then = line.groups()
    return GangRule(int(size) if size else None, int(timeout) if timeout else None, then or "")
