"""The systems to generate for, one module each for its options, and the schedulers in the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from policykit.kube.names import dns_label_problem, dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.cluster import TargetSettings
from policykit.model.workload import Placement, WorkloadKind
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.releases import judged_release, release
from policykit.policy.compile.targets import kubernetes
from policykit.policy.models.targets import Targets
from policykit.targets import DEFAULT_SCHEDULER, TARGETS


def compile_targets(draft: Draft, workloads: Mapping[str, WorkloadKind]) -> dict[str, TargetSettings]:
    """Targets by name.

    Kubernetes itself is always one. A policy without `targets` has those that its workload
    kinds' schedulers belong to.
    """
    found = {"kubernetes": kubernetes.target(draft)}
    for name, stated in _stated(draft, workloads).items():
        found[name] = _target(draft, name, stated)
    return found


def compile_schedulers(
    draft: Draft,
    targets: Mapping[str, TargetSettings],
    workloads: Mapping[str, WorkloadKind],
    placements: Mapping[str, Placement],
) -> frozenset[str]:
    """Every schedulerName in the cluster; empty if a partial policy mentions no scheduler."""
    policy = draft.policy
    for number, name in enumerate(policy.schedulers):
        draft.check(("schedulers", number), f"scheduler {name!r}", dns_subdomain_problem(name))
    stated = {*policy.schedulers, *(target.scheduler_name for target in targets.values())}
    stated |= {workload.scheduler for workload in workloads.values()}
    stated |= {placement.scheduler for placement in placements.values()}
    names = frozenset(name for name in stated if name and name != DEFAULT_SCHEDULER)
    mentioned = names or policy.schedulers or policy.targets is not None or policy.coverage == "complete"
    return names | {DEFAULT_SCHEDULER} if mentioned else frozenset()


def _stated(draft: Draft, workloads: Mapping[str, WorkloadKind]) -> dict[str, Any]:
    targets = draft.policy.targets
    if targets is None:
        return dict(_implied(workloads))
    names = (target.name for target in TARGETS if not target.always and target.name in Targets.model_fields)
    return {name: stated for name in names if (stated := getattr(targets, name)) is not None}


def _implied(workloads: Mapping[str, WorkloadKind]) -> Iterator[tuple[str, Any]]:
    """Systems that the schedulers of workload kinds belong to, in the kinds' order."""
    for scheduler in dict.fromkeys(workload.scheduler for workload in workloads.values()):
        for target in TARGETS:
            if scheduler in target.schedulers and not target.always and target.name in Targets.model_fields:
                yield target.name, getattr(Targets.model_validate({target.name: {}}), target.name)


def _target(draft: Draft, name: str, stated: Any) -> TargetSettings:
    path: Path = ("targets", name)
    version = judged_release(draft, (*path, "version"), name, stated.version)
    have = release(version) if version else None
    if stated.namespace:
        draft.check(
            (*path, "namespace"), f"namespace {stated.namespace!r}", dns_label_problem(stated.namespace)
        )
    own = import_module(f"policykit.policy.compile.targets.{name}")
    compiled: TargetSettings = own.compile_options(draft, path, stated, have)
    scheduler = getattr(stated, "scheduler_name", None)
    if scheduler is not None:
        problem = dns_subdomain_problem(scheduler)
        draft.check((*path, "schedulerName"), f"schedulerName {scheduler!r}", problem)
    return compiled._replace(
        version=version,
        delivery=stated.delivery,
        scheduler_name=scheduler or "",
        namespace=stated.namespace,
    )
