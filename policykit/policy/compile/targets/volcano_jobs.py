"""Job plugins and task topology of workload kinds: known names, and arguments that Volcano takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.job_plugins import check
from policykit.kube.names import dns_label_problem
from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.models.targets.volcano_jobs import Jobs, TaskTopology
from policykit.policy.suggest import did_you_mean


def jobs(
    draft: Draft, path: Path, stated: Mapping[str, Jobs], have: tuple[int, ...] | None
) -> dict[str, dict[str, Any]]:
    """Workload kind to `{plugins: {name: arguments}, task_topology: {affinity, anti_affinity, order}}`."""
    found: dict[str, dict[str, Any]] = {}
    for name, each in stated.items():
        place = (*path, name)
        kinds = draft.names("workloads")
        if name not in kinds and not draft.problems.broken(("workloads",)):
            message = f"there is no workload kind {name!r}"
            draft.problems.error(place, message, did_you_mean(name, kinds), key=True)
        for problem in check(each.plugins, have):
            where = (*place, "plugins", *problem.path)
            draft.problems.error(where, problem.message, problem.help, key=problem.key)
        made: dict[str, Any] = {}
        if each.plugins:
            made["plugins"] = {plugin: list(arguments) for plugin, arguments in each.plugins.items()}
        if each.task_topology:
            _check_tasks(draft, (*place, "taskTopology"), each.task_topology)
            made["task_topology"] = _topology(each.task_topology)
        found[name] = made
    return {name: made for name, made in found.items() if made}


def _topology(stated: TaskTopology) -> dict[str, Any]:
    made = {
        "affinity": [list(group) for group in stated.affinity],
        "anti_affinity": [list(group) for group in stated.anti_affinity],
        "order": list(stated.order),
    }
    return {key: value for key, value in made.items() if value}


def _check_tasks(draft: Draft, path: Path, stated: TaskTopology) -> None:
    """Names are joined by commas and semicolons in an annotation: a name with one would be two."""
    for key, groups in (("affinity", stated.affinity), ("antiAffinity", stated.anti_affinity)):
        for number, group in enumerate(groups):
            for index, name in enumerate(group):
                draft.check((*path, key, number, index), f"task {name!r}", dns_label_problem(name))
    for index, name in enumerate(stated.order):
        draft.check((*path, "order", index), f"task {name!r}", dns_label_problem(name))
