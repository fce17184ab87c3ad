"""A kustomize component for each workload kind and card: affinity, tolerations and scheduler fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.generator.artifact import Artifact, ComponentPatch, Notice, Role, TargetOutput
from policykit.kube.tolerations import to_dict
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import Path
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.pool import Card, Pool
from policykit.model.shared_cards import HAMI, HAMI_SCHEDULER
from policykit.model.workload import WorkloadKind
from policykit.placement.capacity import request_limit
from policykit.placement.desired_placement import DesiredPlacement, affinity_data, desired_placement
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.recognition import CARD_KEY, WORKLOAD_KEY
from policykit.targets import DEFAULT_SCHEDULER, TARGETS, target_name_of, target_of
from policykit.targets.workloads.components import BUILT_IN, BuiltIn, selector
from policykit.targets.workloads.field_patches import merge_patches, pod_fields, without_gang

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
"""Characters of a card's name that the name of a folder or a label value must not contain."""
_HELPERS = "none"
"""Value of the card label for pods that request no card."""
_ABOUT = (
    f"---\n# Patches objects with the label {WORKLOAD_KEY}, which `policykit patch` writes; not DaemonSets.\n"
    "# These patches replace the affinity and tolerations of a workload.\n"
    "# `policykit patch`, and `policykit krm` as a transformer, add to them instead.\n"
)
_NO_GANG = (
    "components cannot set a gang: its size differs per workload; run `policykit patch`, or `policykit "
    "krm` as a transformer"
)


def generate(cluster: Cluster) -> TargetOutput:
    """`workloads/<kind>-<card>/`, and `workloads/<kind>-helpers/` if helpers have pools. Each selects the
    objects of its kind, unless they have the card label of another component."""
    artifacts: list[Artifact] = []
    notices: list[Notice] = []
    names: set[str] = set()
    for workload in cluster.workloads.values():
        wanted = [(card, desired_placement(cluster, workload, card)) for card in _cards(cluster, workload)]
        served = [_card_label(card) for card, want in wanted if want.pools]
        for card, want in wanted:
            if want.pools:
                name = _free(f"{workload.name}-{card.name if card else 'helpers'}", names)
                others = sorted(label for label in served if label != _card_label(card))
                artifacts.append(_component(name, cluster, workload, want, others))
            elif card and workload.cards is not None:
                notices.append(Notice("workloads", f"no pool serves {workload.name} on card {card.name}"))
        notices.extend(_notices(workload, cluster))
    return TargetOutput(tuple(artifacts), tuple(notices))


def _notices(workload: WorkloadKind, cluster: Cluster) -> Iterator[Notice]:
    """Notices about what components, or any manifests, cannot express for the scheduler of a kind."""
    notices = common_fields(workload, cluster).notices
    if _gang(workload, cluster) and not any("policykit patch" in words for words in notices):
        notices = (_NO_GANG, *notices)
    allowed = [pool for pool in cluster.pools if is_allowed(workload, pool)]
    if unwritten := _unwritten_target(workload, cluster):
        notices = (*notices, unwritten)
    if skipped := _skipped_by_hami(workload, allowed):
        notices = (*notices, skipped)
    if domain := request_limit(cluster, workload, allowed):
        notices = (*notices, domain)
    for words in notices:
        yield Notice("workloads", words if words.startswith(workload.name) else f"{workload.name}: {words}")


def _skipped_by_hami(workload: WorkloadKind, allowed: Sequence[Pool]) -> str:
    """That HAMi shares no card with pods that name another scheduler."""
    shared = ", ".join(pool.name for pool in allowed if pool.sharing.mode == HAMI)
    if not shared or workload.scheduler in ("", DEFAULT_SCHEDULER, HAMI_SCHEDULER):
        return ""
    return (
        f"HAMi shares the cards of {shared}, but its webhook leaves pods with schedulerName "
        f"{workload.scheduler} alone: they get no part of a card. Set scheduler: {HAMI_SCHEDULER} on a "
        "workload kind for these pools, or leave it out"
    )


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
    """A folder's name, numbered if two pairs result in the same: a-b on c, and a on b-c."""
    safe = _UNSAFE.sub("-", name)
    number, free = 1, safe
    while free in taken:
        number, free = number + 1, f"{safe}-{number + 1}"
    taken.add(free)
    return free


def _card_label(card: Card | None) -> str:
    """The value of the card label for a card's pods."""
    return _UNSAFE.sub("-", card.name).strip("-._")[:63].rstrip("-._") if card else _HELPERS


def _component(
    name: str, cluster: Cluster, workload: WorkloadKind, want: DesiredPlacement, others: Sequence[str]
) -> Artifact:
    """`others`: card labels of the kind's other components, whose objects it does not patch."""
    selects = selector(workload.name)
    if others:
        selects += f",{CARD_KEY} notin ({','.join(others)})"
    patches = [
        {
            "target": {
                "group": _regex(patch.groups),
                "kind": "|".join(patch.kinds),
                "labelSelector": selects,
            },
            "patch": f"{patch.comment}{dump(patch.data)}",
        }
        for patch in _patches(cluster, workload, want)
    ]
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": patches}
    comments = _ABOUT + "".join(_limitations(workload, cluster))
    return Artifact(f"workloads/{name}/kustomization.yaml", comments + dump(component), Role.COMPONENT)


def _regex(groups: Iterable[str]) -> str:
    """A regular expression for API groups. An empty text would match every group."""
    named = sorted({group for group in groups if group})
    if "" not in groups:
        return "|".join(named)
    return f"^({'|'.join(named)})?$" if named else "^$"


def _patches(cluster: Cluster, workload: WorkloadKind, want: DesiredPlacement) -> Iterator[ComponentPatch]:
    """Patches of the built-in kinds, equal ones together, then those of the targets' own jobs."""
    alike: dict[str, list[tuple[BuiltIn, dict[str, Any]]]] = {}
    for built_in in BUILT_IN:
        data = strategic_patch(built_in, workload, want, cluster)
        body = dump({field: value for field, value in data.items() if field not in ("apiVersion", "kind")})
        alike.setdefault(body, []).append((built_in, data))
    for group in alike.values():
        groups = tuple(built_in.group for built_in, _ in group)
        yield ComponentPatch(groups, tuple(built_in.kind for built_in, _ in group), group[0][1])
    for target in TARGETS:
        if target.jobs:
            yield from target.jobs.component.load()(workload, pod_spec(workload, want), cluster)


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
    """Whether the kind is a gang that `patch` can declare for its scheduler."""
    target = target_of(target_name_of(workload.scheduler, cluster))
    return (
        workload.gang == "all"
        and target is not None
        and target.supports_gangs
        and target.pod_fields is not None
    )


_ADMITTED_BY_POD = frozenset({"PodTemplate", "ReplicaSet", "ReplicationController"})
"""Kinds whose pods are admitted one by one, by their own labels."""


def strategic_patch(
    built_in: BuiltIn, workload: WorkloadKind, want: DesiredPlacement, cluster: Cluster
) -> dict[str, Any]:
    """A strategic merge patch for a built-in kind.

    Labels, maps and spreading constraints are merged; `tolerations` and lists of the affinity have no merge
    key, so they replace those of the manifest.
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
    """Path of the object that a queueing system admits; for kinds it does not know, the pods."""
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
    """One comment line; empty if the policy only says that the pods are a gang."""
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
