"""Systems to generate for, one module each for their options, and the schedulers that serve pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.kube.names import dns_label_problem, dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.cluster import Target
from policykit.model.placement import Placement
from policykit.model.workload import WorkloadKind
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets import koordinator, kubernetes, kueue, volcano, yunikorn
from policykit.policy.compile.targets.stated import Stated
from policykit.policy.models.targets.koordinator import Koordinator
from policykit.policy.models.targets.target import Target as Written
from policykit.policy.models.targets.volcano import Volcano
from policykit.policy.models.targets.yunikorn import Yunikorn
from policykit.policy.version import release

DEFAULT_SCHEDULER = "default-scheduler"
_IMPLIED: Mapping[str, tuple[str, type[Written]]] = {
    "volcano": ("volcano", Volcano),
    "koord-scheduler": ("koordinator", Koordinator),
    "yunikorn": ("yunikorn", Yunikorn),
}
_OPTIONS: Mapping[str, Callable[[Draft, Path, Any, Stated], dict[str, Any]]] = {
    "volcano": volcano.options,
    "koordinator": koordinator.options,
    "yunikorn": yunikorn.options,
    "kueue": kueue.options,
}


def compile_targets(
    draft: Draft, workloads: Mapping[str, WorkloadKind], texts: Mapping[str, str]
) -> dict[str, Target]:
    """Targets by name. `texts` holds the files they merge into, by the name they are given.

    Kubernetes itself is always one. A policy without `targets` has those that its workload
    kinds' schedulers belong to.
    """
    found = {"kubernetes": kubernetes.target(draft)}
    for name, stated in _stated(draft, workloads).items():
        found[name] = _target(draft, name, stated, texts)
    return found


def compile_schedulers(
    draft: Draft,
    targets: Mapping[str, Target],
    workloads: Mapping[str, WorkloadKind],
    placements: Mapping[str, Placement],
) -> frozenset[str]:
    """Every schedulerName that something serves; none where a partial policy speaks of no scheduler."""
    policy = draft.policy
    for number, name in enumerate(policy.schedulers):
        draft.check(("schedulers", number), f"scheduler {name!r}", dns_subdomain_problem(name))
    stated = {*policy.schedulers, *(target.scheduler_name for target in targets.values())}
    stated |= {workload.scheduler for workload in workloads.values()}
    stated |= {placement.scheduler for placement in placements.values()}
    names = frozenset(name for name in stated if name and name != DEFAULT_SCHEDULER)
    spoken = names or policy.schedulers or policy.targets is not None or policy.coverage == "complete"
    return names | {DEFAULT_SCHEDULER} if spoken else frozenset()


def _stated(draft: Draft, workloads: Mapping[str, WorkloadKind]) -> dict[str, Any]:
    targets = draft.policy.targets
    if targets is None:
        used = dict.fromkeys(workload.scheduler for workload in workloads.values())
        return {_IMPLIED[s][0]: _IMPLIED[s][1].model_validate({}) for s in used if s in _IMPLIED}
    return {name: target for name in _OPTIONS if (target := getattr(targets, name)) is not None}


def _target(draft: Draft, name: str, stated: Any, texts: Mapping[str, str]) -> Target:
    path: Path = ("targets", name)
    version = stated.version.removeprefix("v")
    have = release(version) if version else None
    if version and have is None:
        draft.problems.error((*path, "version"), f"{stated.version!r} is no version", 'write it as "1.15.1"')
    if stated.namespace:
        draft.check(
            (*path, "namespace"), f"namespace {stated.namespace!r}", dns_label_problem(stated.namespace)
        )
    options = _OPTIONS[name](draft, path, stated, Stated(have, texts))
    scheduler = getattr(stated, "scheduler_name", "")
    if "scheduler_name" in type(stated).model_fields:
        draft.check(
            (*path, "schedulerName"), f"schedulerName {scheduler!r}", dns_subdomain_problem(scheduler)
        )
    return Target(name, version, stated.delivery, scheduler, stated.namespace, options)
