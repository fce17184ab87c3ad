"""A Volcano Job sets a job plugin to something that it cannot use.

Plugins tensorflow, pytorch, mpi, ray and hcclrank find the tasks of a job by name. With a wrong name the
pods start without what the framework needs, and nothing is reported. An argument that is not understood
is only logged, and those after it are lost too. Lists of hosts in /etc/volcano are there with plugin svc
only, one of each task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, text, texts
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.volcano.job_specs import specs, tasks
from policykit.targets.volcano import job_plugins, versions
from policykit.targets.volcano.job_plugins import JOB_PLUGINS
from policykit.targets.volcano.versions import suggestion

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 2
  plugins:
    pytorch: ["--master=main", "--worker=worker"]
  tasks:
  - name: master
    replicas: 1
    template: &pod
      spec:
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            requests: {cpu: 1, memory: 1Gi}
  - name: worker
    replicas: 1
    template: *pod
"""

GOOD = BAD.replace("--master=main", "--master=master")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Of every known plugin; PK510 reports the others. Source: `controllers/job/plugins` (1.8 to 1.15)."""
    have = versions.release_of(context.cluster)
    for spec in specs(manifest):
        names = [task.name for task in tasks(spec)]
        for plugin, written in mapping(spec.data.get("plugins")).items():
            if not isinstance(plugin, str) or plugin not in JOB_PLUGINS:
                continue
            path: Path = (*spec.path, "plugins", plugin)
            arguments = texts(written)
            for problem in job_plugins.check({plugin: arguments}, have):
                if len(problem.path) > 1 and not is_placeholder(arguments[int(problem.path[1])]):
                    yield Violation((*path, problem.path[1]), problem.message, problem.help)
            if names and not any(map(is_placeholder, (*names, *arguments))):
                yield from _roles(plugin, arguments, names, path, have)
        if names and all(names) and not any(map(is_placeholder, names)) and not manifest.partial:
            yield from _hosts(spec.data, spec.path, names)


_HOSTS = re.compile(r"/etc/volcano/([\w.-]{1,253})\.host\b")
_BRINGS_HOSTS = frozenset({"svc", "mpi", "pytorch", "ray", "tensorflow"})
"""Plugins with which a job has svc. Source: `patchDefaultPlugins` of the webhook."""


def _hosts(data: Mapping[str, Any], base: Path, names: Sequence[str]) -> Iterator[Violation]:
    """Lists of the pods of each task. Source: `controllers/job/plugins/svc` (1.8 to 1.15)."""
    files = {name.replace("-", "_") for name in names}
    written = not _BRINGS_HOSTS.isdisjoint(map(str, mapping(data.get("plugins"))))
    for number, task in numbered(data.get("tasks")):
        path: Path = ("template", "spec", "containers")
        for position, container in numbered(lookup(task, path)):
            if any(
                "/etc/volcano" in text(each.get("mountPath"))
                for each in mappings(container.get("volumeMounts"))
            ):
                continue
            for field in ("command", "args"):
                listed = container.get(field)
                for at, word in enumerate(listed if isinstance(listed, list) else ()):
                    read = [each[1] for each in _HOSTS.finditer(text(word))]
                    name = next((each for each in read if each not in files or not written), "")
                    if name:
                        yield Violation(
                            (*base, "tasks", number, *path, position, field, at),
                            f"the command reads /etc/volcano/{name}.host, which "
                            + ("no task is called after" if written else "only job plugin svc writes"),
                            suggestion(name, sorted(files), "files") if written else "add svc: [] to plugins",
                        )


def _roles(
    plugin: str, arguments: Sequence[str], names: Sequence[str], path: Path, have: Version | None
) -> Iterator[Violation]:
    optional = have is not None and have >= versions.MPI_WORKER_OPTIONAL
    required = plugin == "mpi" and have is not None and not optional
    master_alone = plugin == "mpi" and optional and len(names) == 1
    defaults = {"worker": "worker"} if required else {}
    for role, task in {**defaults, **job_plugins.roles(plugin, arguments)}.items():
        if task in names or (master_alone and role == "worker"):
            continue
        places = (n for n, each in enumerate(arguments) if each.lstrip("-").startswith(f"{role}="))
        number = next(places, None)
        advice = suggestion(task, names, "tasks")
        if plugin == "mpi" and role == "master":
            source = "--master names" if number is not None else "its master defaults to"
            yield Violation(
                path if number is None else (*path, number),
                f"job plugin mpi: {source} task {task}, which the job does not have: Volcano rejects the job",
                advice if number is not None else f"{advice}; set it with --master=",
                Severity.ERROR,
                key=number is None,
            )
        elif required:
            yield Violation(
                path if number is None else (*path, number),
                f"job plugin mpi: its worker is task {task}, which the job does not have: Volcano {have} "
                "rejects the job",
                f"{advice}; set it with --worker=",
                Severity.ERROR,
                key=number is None,
            )
        elif number is not None:
            message = f"--{role} of job plugin {plugin} names task {task}, which the job does not have"
            yield Violation((*path, number), message, advice)


RULE = Rule(
    code="PK515",
    name="job-plugin-misuse",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"CronJob", "HyperJob", "Job", "JobTemplate"}),
    substrings=("volcano",),
)
