"""Gangs that already exist: those of the user, and those that the controller of a kind creates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.kube.podsets import PodSet, queues
from policykit.linter.gangs import MembershipFact, sized
from policykit.linter.target import Target
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import dotted
from policykit.model.pod_fields import PodFields
from policykit.model.workload import WorkloadKind
from policykit.targets import target_of
from policykit.targets.workloads.members import gang_of
from policykit.targets.yunikorn.names import APP_ID


class GangChange(NamedTuple):
    """Changes to a gang that the controller of a kind creates."""

    patches: tuple[Patch, ...] = ()
    notes: tuple[str, ...] = ()


def controller_gang(data: Mapping[str, Any], pod_set: PodSet, kind: WorkloadKind) -> GangChange | None:
    """Changes to the gang that the controller creates for Volcano; None if it creates none."""
    gang = gang_of(data, pod_set)
    if gang is None or gang.scheduler or gang.path[-2:-1] == ("annotations",):
        return None
    if gang.enabled_by and not gang.enabled:
        if gang.enabled_by[-2:-1] == ("annotations",):
            return GangChange((Patch("add", gang.enabled_by, "true"),))
        return GangChange(notes=(f"its kind makes a gang only if {dotted(gang.enabled_by)} is set",))
    stated = kind.gang_rule.size if kind.gang_rule else None
    size = min(stated, gang.pods) if stated and gang.pods else stated or gang.pods
    unread = gang.written and gang.min_member is None
    if size is None or unread or not gang.path or gang.min_member == size:
        return GangChange()
    # Without a number the controller counts every pod itself, where it has a rule for that.
    counted = gang.min_member is not None and not gang.written and stated is None
    return GangChange() if counted else GangChange((sized(gang.path, size),))


def resized_gang(data: Mapping[str, Any], pod_set: PodSet, kind: WorkloadKind) -> GangChange:
    """Changes to a gang size that a field of the kind already sets; no size is added."""
    gang = gang_of(data, pod_set)
    found = controller_gang(data, pod_set, kind) if gang and gang.written else None
    return GangChange(found.patches) if found else GangChange()


def other_application(manifest: Manifest, pod_set: PodSet, system: str | None, fields: PodFields) -> str:
    """YuniKorn application that the pods already name; empty if none, or the one in `fields`."""
    named = queues.read(manifest.data, pod_set, system or "", "app")
    ours = fields.labels.get(APP_ID)
    return f"application {named.value}" if named and ours and named.value != ours else ""


def other_gang(manifest: Manifest, pod_set: PodSet, system: str | None, fields: PodFields) -> str:
    """Gang that the pods already name; empty if none, or the one in `fields`."""
    target = target_of(system)
    theirs = _membership(target, manifest, pod_set)
    if theirs is None:
        return ""
    ours = _membership(
        target, manifest, pod_set._replace(labels=fields.labels, annotations=fields.annotations)
    )
    return "" if ours and _same(ours, theirs) else f"gang {theirs.membership.group}"


def _same(ours: MembershipFact, theirs: MembershipFact) -> bool:
    """Of one name in one place; or ours in the label, which Koordinator reads before any annotation."""
    if ours.membership.group != theirs.membership.group:
        return False
    return ours.group == theirs.group or ours.group[-2:-1] == ("labels",)


def _membership(target: Target | None, manifest: Manifest, pod_set: PodSet) -> MembershipFact | None:
    if target is None or target.read_membership is None:
        return None
    return target.read_membership(manifest, pod_set, "")
