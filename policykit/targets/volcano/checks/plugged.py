"""Plugins of Volcano Jobs: their arguments, and the tasks that these name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.catalogue.volcano import job_plugins
from policykit.catalogue.volcano.argument import Release
from policykit.catalogue.volcano.job_plugins import JOB_PLUGINS
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, texts
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets.volcano.checks.specs import specs, tasks


def faults(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """Of every plugin that is known. Source: `controllers/job/plugins` (1.8 to 1.15)."""
    for spec in specs(manifest):
        names = [task.name for task in tasks(spec)]
        for plugin, written in mapping(spec.data.get("plugins")).items():
            if not isinstance(plugin, str) or plugin not in JOB_PLUGINS:
                continue
            path: Path = (*spec.path, "plugins", plugin)
            arguments = texts(written)
            for mistake in job_plugins.check({plugin: arguments}, have):
                if len(mistake.path) > 1 and not is_placeholder(arguments[int(mistake.path[1])]):
                    yield Violation((*path, mistake.path[1]), mistake.message, mistake.hint)
            if names and not any(map(is_placeholder, (*names, *arguments))):
                yield from _roles(plugin, arguments, names, path)


def _roles(plugin: str, arguments: Sequence[str], names: Sequence[str], path: Path) -> Iterator[Violation]:
    for role, task in job_plugins.roles(plugin, arguments).items():
        if task in names:
            continue
        number = next(
            (n for n, each in enumerate(arguments) if each.lstrip("-").startswith(f"{role}=")), None
        )
        place = path if number is None else (*path, number)
        near = nearest(task, tuple(names))
        advice = f"did you mean {near}?" if near else f"tasks are {', '.join(dict.fromkeys(names))}"
        if plugin == "mpi" and role == "master":
            how = (
                f"--master names task {task}" if number is not None else f"without --master it is task {task}"
            )
            yield Violation(
                place,
                f"job plugin mpi needs its master, {how}, which is not there: Volcano refuses the job",
                advice if number is not None else f"{advice}; name it with --master=",
                Severity.ERROR,
                key=number is None,
            )
        elif number is not None:
            yield Violation(
                place,
                f"--{role} of job plugin {plugin} names task {task}, which the job does not have",
                advice,
            )
