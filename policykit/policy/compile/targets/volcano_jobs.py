"""Job plugins and task topology of workload kinds: known names, and arguments that Volcano takes."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.catalogue.volcano.job_plugins import check
from policykit.kube.names import dns_label_problem
from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.models.targets import volcano_jobs as written
from policykit.policy.models.targets.volcano_jobs import Jobs
from policykit.policy.suggest import did_you_mean
from policykit.targets.volcano.options import JobOptions, TaskTopology


def jobs(
    draft: Draft, path: Path, stated: Mapping[str, Jobs], have: tuple[int, ...] | None
) -> dict[str, JobOptions]:
    """Workload kind to what is stated for its jobs."""
    found: dict[str, JobOptions] = {}
    for name, each in stated.items():
        place = (*path, name)
        kinds = draft.names("workloads")
        if name not in kinds and not draft.problems.broken(("workloads",)):
            message = f"there is no workload kind {name!r}"
            draft.problems.error(place, message, did_you_mean(name, kinds), key=True)
        for problem in check(each.plugins, have):
            where = (*place, "plugins", *problem.path)
            draft.problems.error(where, problem.message, problem.help, key=problem.key)
        topology = TaskTopology()
        if each.task_topology:
            _check_tasks(draft, (*place, "taskTopology"), each.task_topology)
            topology = TaskTopology(
                each.task_topology.affinity, each.task_topology.anti_affinity, each.task_topology.order
            )
        if each.plugins or any(topology):
            found[name] = JobOptions(dict(each.plugins), topology)
    return found


def _check_tasks(draft: Draft, path: Path, stated: written.TaskTopology) -> None:
    """Names are joined by commas and semicolons in an annotation: a name with one would be two."""
    for key, groups in (("affinity", stated.affinity), ("antiAffinity", stated.anti_affinity)):
        for number, group in enumerate(groups):
            for index, name in enumerate(group):
                draft.check((*path, key, number, index), f"task {name!r}", dns_label_problem(name))
    for index, name in enumerate(stated.order):
        draft.check((*path, "order", index), f"task {name!r}", dns_label_problem(name))
