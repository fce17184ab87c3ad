"""Options for Kubernetes, compiled."""

from __future__ import annotations

from policykit.kube.names import dns_label_problem
from policykit.manifests.path import Path
from policykit.model.cluster import TargetSettings
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.releases import judged_release
from policykit.policy.models.targets.kubernetes import Kubernetes, Scheduler
from policykit.policy.problems import did_you_mean
from policykit.targets.kubernetes.options import KubernetesOptions, SchedulerOptions

_DEFAULT_SCHEDULER = "default-scheduler"
_PATH: Path = ("targets", "kubernetes")


def target(draft: Draft) -> TargetSettings:
    """Kubernetes as a target, which every policy has."""
    targets = draft.policy.targets
    stated = targets.kubernetes if targets else None
    options = _options(draft, stated) if stated else KubernetesOptions()
    version = judged_release(draft, ("kubernetes",), "kubernetes", draft.policy.kubernetes)
    return TargetSettings("kubernetes", version, "manifest", _DEFAULT_SCHEDULER, options=options)


def _options(draft: Draft, stated: Kubernetes) -> KubernetesOptions:
    scheduler = SchedulerOptions()
    if stated.scheduler:
        _check(draft, (*_PATH, "scheduler"), stated.scheduler)
        scheduler = SchedulerOptions(**stated.scheduler.model_dump())
    return KubernetesOptions(scheduler, stated.native_gang)


def _check(draft: Draft, path: Path, stated: Scheduler) -> None:
    namespace, default = stated.namespace, stated.default
    draft.check((*path, "namespace"), f"namespace {namespace!r}", dns_label_problem(namespace))
    placements = draft.policy.placements
    if default and default not in placements:
        if not draft.problems.broken(("placements",)):
            hint = did_you_mean(default, tuple(draft.names("placements")))
            draft.problems.error((*path, "default"), f"there is no placement {default!r}", hint)
    elif default and stated.way != "cluster":
        message = "a second scheduler must not serve default-scheduler"
        draft.problems.error((*path, "default"), message, "write as: cluster, or remove default")
    elif default and placements[default].scheduler not in ("", _DEFAULT_SCHEDULER):
        message = f"placement {default} is already used by scheduler {placements[default].scheduler}"
        draft.problems.error(
            (*path, "default"), message, "define another placement for the default scheduler"
        )
