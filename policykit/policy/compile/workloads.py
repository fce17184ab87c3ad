"""Workload kinds."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem, label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.workload import Match, WorkloadKind
from policykit.policy.compile.autoscaling import autoscaling, check_targets
from policykit.policy.compile.draft import Draft, unique
from policykit.policy.compile.gangs import across, gang_rule, within
from policykit.policy.compile.placements import named_placement
from policykit.policy.models import workload as written
from policykit.policy.suggest import nearest


def compile_workloads(draft: Draft) -> dict[str, WorkloadKind]:
    """All workload kinds in the policy's order, which `match` follows."""
    check_targets(draft)
    return {name: _workload(draft, name, stated) for name, stated in draft.policy.workloads.items()}


def _workload(draft: Draft, name: str, stated: written.Workload) -> WorkloadKind:
    path: Path = ("workloads", name)
    draft.check(path, f"workload kind name {name!r}", label_value_problem(name), key=True)
    for number, namespace in enumerate(stated.namespaces):
        draft.check((*path, "namespaces", number), f"namespace {namespace!r}", dns_label_problem(namespace))
    _check_scheduler(draft, path, stated.scheduler)
    strategy, placement = named_placement(draft, (*path, "placement"), stated.placement)
    return WorkloadKind(
        name,
        unique(stated.usages),
        dict(stated.prefer),
        () if stated.cards == "none" else unique(stated.cards) if stated.cards is not None else None,
        stated.scheduler or (draft.policy.placements[placement].scheduler if placement else ""),
        stated.gang if isinstance(stated.gang, str) else "all" if stated.gang is not None else "",
        strategy,
        stated.priority_class,
        stated.queue,
        unique(stated.namespaces),
        unique(stated.helpers) if stated.helpers is not None else None,
        _matches(draft, path, stated.match),
        placement,
        gang_rule(stated),
        within(draft, path, stated.within),
        across(draft, path, stated),
        autoscaling(draft, (*path, "autoscaling"), stated.autoscaling),
    )


def _check_scheduler(draft: Draft, path: Path, scheduler: str) -> None:
    """Notices an unserved schedulerName that resembles a served one: probably a typing error."""
    served = {"default-scheduler", "volcano", "koord-scheduler", "yunikorn", *draft.policy.schedulers}
    served |= {placement.scheduler for placement in draft.policy.placements.values()} - {""}
    targets = draft.policy.targets
    if targets is not None:
        served |= {t.scheduler_name for t in (targets.volcano, targets.koordinator, targets.yunikorn) if t}
    near = nearest(scheduler, served) if scheduler and scheduler not in served else ""
    if near:
        hint = f"did you mean {near}? If not, add {scheduler} to schedulers"
        draft.problems.notice((*path, "scheduler"), f"no target serves schedulerName {scheduler!r}", hint)


def _matches(
    draft: Draft, path: Path, stated: written.Match | tuple[written.Match, ...]
) -> tuple[Match, ...]:
    if isinstance(stated, tuple):
        return tuple(_match(draft, (*path, "match", number), each) for number, each in enumerate(stated))
    return (_match(draft, (*path, "match"), stated),)


def _match(draft: Draft, path: Path, stated: written.Match) -> Match:
    if not (stated.kinds or stated.namespaces or stated.labels or stated.names):
        draft.problems.error(path, "an empty match matches nothing", "add kinds, labels or names", key=True)
    for key, value in stated.labels.items():
        draft.check((*path, "labels", key), f"label key {key!r}", label_key_problem(key), key=True)
        draft.check((*path, "labels", key), f"label {key}: value {value!r}", label_value_problem(value))
    return Match(stated.kinds, stated.namespaces, dict(stated.labels), stated.names)
