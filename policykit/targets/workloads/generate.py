"""A kustomize component per workload kind and card: affinity, tolerations and scheduler fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.model.pool import Card
from policykit.model.workload import WorkloadKind
from policykit.placement.capacity import request_limit
from policykit.placement.desired_placement import DesiredPlacement, desired_placement
from policykit.placement.eligible_pools import is_allowed
from policykit.targets import system_of, target_of
from policykit.targets.workloads import gang_comment
from policykit.targets.workloads.component import (
    BUILT_IN,
    common_fields,
    strategic_patch,
    volcano_labels,
    volcano_patch,
)

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
"""A card may have any name, a folder may not."""
_PARTIAL = "---\n# policykit: partial\n"
"""Without this comment, lint takes the patch of a Pod for a complete Pod."""
_REPLACES = (
    "---\n# These patches replace the affinity and tolerations of a workload.\n"
    "# `policykit patch`, and `policykit krm` as a transformer, add to them instead.\n"
)
_FIRST_TASK = (
    "---\n# For the first task of the Job: repeat the operations for tasks/1, and so on,\n"
    "# or use `policykit patch` or `policykit krm`, which handle every task.\n"
)
_NO_GANG = (
    "components cannot set a gang: its size differs per workload; run `policykit patch`, or `policykit "
    "krm` as a transformer"
)
_SPREAD = "# Components cannot spread the pods of a Volcano Job: use `policykit patch` or `policykit krm`.\n"


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
    if domain := request_limit(cluster, workload, allowed):
        said = (*said, domain)
    for words in said:
        yield Notice("workloads", words if words.startswith(workload.name) else f"{workload.name}: {words}")


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
    patches: list[dict[str, Any]] = []
    for built_in in BUILT_IN:
        path = f"{built_in.kind.lower()}.yaml"
        yield Artifact(
            f"{folder}/{path}",
            _PARTIAL + dump(strategic_patch(built_in, workload, want, cluster)),
            Role.COMPONENT,
        )
        # An empty group would match every group: targets are regular expressions.
        group = built_in.group or "^$"
        patches.append({"path": path, "target": {"group": group, "kind": built_in.kind}})
    job = {"group": "batch.volcano.sh", "kind": "Job"}
    yield Artifact(
        f"{folder}/volcano-job-labels.yaml",
        _PARTIAL + dump(volcano_labels(workload, cluster)),
        Role.COMPONENT,
    )
    patches.append({"path": "volcano-job-labels.yaml", "target": job})
    operations = volcano_patch(workload, want, cluster)
    if operations:
        yield Artifact(f"{folder}/volcano-job.yaml", _FIRST_TASK + dump(operations), Role.COMPONENT)
        patches.append({"path": "volcano-job.yaml", "target": job})
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": patches}
    said = (
        _REPLACES
        + (gang_comment.NO_GANG if _gang(workload, cluster) else "")
        + gang_comment.write(workload.gang_rule)
    )
    said += _SPREAD if workload.across else ""
    yield Artifact(f"{folder}/kustomization.yaml", said + dump(component), Role.COMPONENT)


def _gang(workload: WorkloadKind, cluster: Cluster) -> bool:
    """Whether its scheduler has gangs, which `patch` can declare."""
    target = target_of(system_of(workload.scheduler, cluster))
    return workload.gang == "all" and target is not None and target.gangs and target.pod_fields is not None
