"""Systems to generate for, and the schedulers that serve pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.names import dns_label_problem, dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.cluster import Target
from policykit.model.workload import WorkloadKind
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.models import target as written
from policykit.policy.version import release

DEFAULT_SCHEDULER = "default-scheduler"
_IMPLIED: Mapping[str, tuple[str, type[written.Target]]] = {
    "volcano": ("volcano", written.Volcano),
    "koord-scheduler": ("koordinator", written.Koordinator),
    "yunikorn": ("yunikorn", written.Yunikorn),
}
_FIRST_VOLCANO_OVERRIDE = (1, 10, 0)
_FIRST_FIT_PLUS = (1, 6, 0)


def compile_targets(
    draft: Draft, workloads: Mapping[str, WorkloadKind], texts: Mapping[str, str]
) -> dict[str, Target]:
    """Targets by name. `texts` holds the files they merge into, by the name they are given.

    Kubernetes itself is always one. A policy without `targets` has those that its workload
    kinds' schedulers belong to.
    """
    found = {"kubernetes": Target("kubernetes", draft.policy.kubernetes, "manifest", DEFAULT_SCHEDULER)}
    for name, stated in _stated(draft, workloads).items():
        found[name] = _target(draft, name, stated, texts)
    return found


def compile_schedulers(
    draft: Draft, targets: Mapping[str, Target], workloads: Mapping[str, WorkloadKind]
) -> frozenset[str]:
    """Every schedulerName that something serves."""
    for number, name in enumerate(draft.policy.schedulers):
        draft.check(("schedulers", number), f"scheduler {name!r}", dns_subdomain_problem(name))
    names = {DEFAULT_SCHEDULER, *draft.policy.schedulers}
    names |= {target.scheduler_name for target in targets.values()}
    names |= {workload.scheduler for workload in workloads.values()}
    return frozenset(name for name in names if name)


def _stated(draft: Draft, workloads: Mapping[str, WorkloadKind]) -> dict[str, written.Target]:
    targets = draft.policy.targets
    if targets is None:
        used = dict.fromkeys(workload.scheduler for workload in workloads.values())
        return {_IMPLIED[s][0]: _IMPLIED[s][1].model_validate({}) for s in used if s in _IMPLIED}
    named = {"volcano": targets.volcano, "koordinator": targets.koordinator, "yunikorn": targets.yunikorn}
    return {name: target for name, target in named.items() if target is not None}


def _target(draft: Draft, name: str, stated: written.Target, texts: Mapping[str, str]) -> Target:
    path: Path = ("targets", name)
    version = stated.version.removeprefix("v")
    have = release(version) if version else None
    if version and have is None:
        draft.problems.error((*path, "version"), f"{stated.version!r} is no version", 'write it as "1.15.1"')
    if stated.namespace:
        draft.check(
            (*path, "namespace"), f"namespace {stated.namespace!r}", dns_label_problem(stated.namespace)
        )
    options: dict[str, Any] = {}
    delivery = scheduler = ""
    if isinstance(stated, written.Volcano):
        delivery, scheduler = stated.delivery, stated.scheduler_name
        options = _volcano(draft, path, stated, have)
    elif isinstance(stated, written.Koordinator):
        delivery, scheduler = stated.delivery, stated.scheduler_name
        options = _koordinator(draft, path, stated, have, texts)
    elif isinstance(stated, written.Yunikorn):
        delivery, scheduler = stated.delivery, stated.scheduler_name
    draft.check((*path, "schedulerName"), f"schedulerName {scheduler!r}", dns_subdomain_problem(scheduler))
    return Target(name, version, delivery, scheduler, stated.namespace, options)


def _volcano(
    draft: Draft, path: Path, stated: written.Volcano, have: tuple[int, ...] | None
) -> dict[str, Any]:
    if have and have < _FIRST_VOLCANO_OVERRIDE and stated.delivery == "helm-values":
        message = (
            f"the chart of Volcano {stated.version} carries no scheduler configuration, 1.10 is the first"
        )
        draft.problems.error((*path, "version"), message, "use delivery: manifest")
    weights = {}
    for name, weight in stated.binpack.resources.items():
        place = (*path, "binpack", "resources", name)
        resource = resource_of(draft, place, name)
        if weight < 0:
            draft.problems.error(
                place, f"weight of {name} is below zero: {weight}", "Volcano would take it for 1"
            )
        elif resource:
            weights[resource] = weight
    binpack: dict[str, Any] = {}
    if stated.binpack.weight is not None:
        binpack["weight"] = stated.binpack.weight
    if weights:
        binpack["resources"] = weights
    return {"binpack": binpack} if binpack else {}


def _koordinator(
    draft: Draft,
    path: Path,
    stated: written.Koordinator,
    have: tuple[int, ...] | None,
    texts: Mapping[str, str],
) -> dict[str, Any]:
    if stated.fit and have and have < _FIRST_FIT_PLUS:
        message = f"Koordinator {stated.version} has no NodeResourcesFitPlus, 1.6 is the first that has"
        draft.problems.error((*path, "fit"), message, "remove fit, or install 1.6.1 or newer", key=True)
    options: dict[str, Any] = {}
    fit = {}
    for name, each in stated.fit.items():
        resource = resource_of(draft, (*path, "fit", name), name)
        if resource:
            fit[resource] = {"type": each.type, "weight": each.weight}
    if fit:
        options["fit"] = fit
    if stated.config in texts:
        options["config"] = texts[stated.config]
    return options
