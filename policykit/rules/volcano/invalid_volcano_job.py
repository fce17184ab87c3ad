"""Volcano rejects a job.

The webhook checks what a schema cannot: tasks against each other, policies against the events they
may name, names against the pods that will carry them. A JobTemplate, or the job in a CronJob, is not
checked until a Job is created from it, and creating it then fails. Jobs that Volcano accepts and that
can only fail are reported too. PK301 covers the size of a gang, PK309 its topology, PK401 and PK402 its
queue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.cycles import cycles
from policykit.kube import cron, requests
from policykit.kube.names import dns_label_problem, dns_subdomain_problem, label_value_problem
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation, violation_of
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, texts, whole
from policykit.model.quantity import parse
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.rules.volcano.job_specs import (
    Spec,
    Task,
    both_tiers,
    never_succeeds,
    partition_topologies,
    policy_lists,
    policy_violations,
    specs,
    tasks,
    tier_name,
)
from policykit.targets.volcano import job_plugins, versions
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP
from policykit.targets.volcano.versions import Release, suggestion

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 2
  tasks:
  - name: worker
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

GOOD = BAD.replace(
    "  - name: worker\n    replicas: 1\n    template: *pod",
    "  - name: ps\n    replicas: 1\n    template: *pod",
)

_LONGEST_POD = 63
_NUMA_POLICIES = ("best-effort", "restricted", "single-numa-node", "none")

_LONGEST = {"Job": 63, "CronJob": 52}
"""Characters of a name; the names of a CronJob's jobs have 11 more."""
_TYPED = frozenset({"CronJob", "JobTemplate"})
"""Kinds whose schema lists the events in every release that has them."""
_ZONE_PART = re.compile(r"[A-Za-z._0-9+-]{1,14}\Z")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """As the webhooks of the release check it."""
    yield from _job_violations(manifest, versions.release_of(context.cluster))


def _job_violations(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    """Of a Job, a CronJob, a JobTemplate, a HyperJob or a JobFlow; `have`: the release, None the newest."""
    if manifest.group == BATCH_GROUP:
        yield from _name(manifest)
        if manifest.kind == "CronJob":
            yield from _schedule(manifest)
    if manifest.group == FLOW_GROUP and manifest.kind == "JobFlow":
        yield from _flows(manifest)
        yield from _retained(manifest, have)
    for spec in specs(manifest):
        yield from _job(spec, have, whole=not manifest.partial, typed=manifest.kind in _TYPED)


def _name(manifest: Manifest) -> Iterator[Violation]:
    longest = _LONGEST.get(manifest.kind)
    if longest and len(manifest.name) > longest and not is_placeholder(manifest.name):
        yield Violation(
            ("metadata", "name"),
            f"the name of the {manifest.kind} has {len(manifest.name)} characters, more than {longest}",
            "shorten it: Volcano appends to it to name what it creates",
        )


def _job(spec: Spec, have: Release | None, *, whole: bool, typed: bool) -> Iterator[Violation]:
    if whole and spec.data.get("tasks") in (None, []):
        yield Violation(spec.path, "the job has no tasks", "add at least one, with a pod template", key=True)
    yield from _tasks(spec)
    for listed, path in policy_lists(spec):
        yield from policy_violations(listed, path, have, typed=typed)
    for path, topology in partition_topologies(spec):
        yield from both_tiers(topology, path)
    yield from tier_name(spec, have)
    yield from never_succeeds(spec)
    yield from _plugins(spec, have)
    yield from _volumes(spec)


def _plugins(spec: Spec, have: Release | None) -> Iterator[Violation]:
    """Unknown ones; PK515 is about the values of the others."""
    names = [name for name in mapping(spec.data.get("plugins")) if isinstance(name, str)]
    for problem in job_plugins.check({name: () for name in names if not is_placeholder(name)}, have):
        yield violation_of(problem, (*spec.path, "plugins"))


def _flows(manifest: Manifest) -> Iterator[Violation]:
    """Each flow depends on others of the list, by name."""
    listed = lookup(manifest.data, ("spec", "flows"))
    names: set[str] = set()
    found = []
    for number, flow in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(flow, dict):
            path = ("spec", "flows", number, "dependsOn", "targets")
            targets = texts(mapping(flow.get("dependsOn")).get("targets"))
            name = text(flow.get("name"))
            if name and name in names and not is_placeholder(name):
                message = f"two flows are named {name}: they are one job, and the JobFlow never completes"
                yield Violation(
                    ("spec", "flows", number, "name"), message, "name one differently", Severity.WARNING
                )
            names.add(name)
            found.append(Dependent("flow", name, path, targets))
    yield from dependency_violations(found)


_RETAINED = ("retain", "delete")
_RETAINED_SINCE = (1, 11)
"""The release whose CRD lists the words; before, another one is taken for retain."""


def _retained(manifest: Manifest, have: Release | None) -> Iterator[Violation]:
    path = ("spec", "jobRetainPolicy")
    word = lookup(manifest.data, path)
    if not isinstance(word, str) or word in ("", *_RETAINED) or is_placeholder(word):
        return
    severity = None if have and have[:2] >= _RETAINED_SINCE else Severity.WARNING
    message = f"jobRetainPolicy is {word}, not {' or '.join(_RETAINED)}"
    yield Violation(path, message, suggestion(word, _RETAINED, "values", 0.75), severity)


def _schedule(manifest: Manifest) -> Iterator[Violation]:
    """Source: `webhooks/admission/cronjobs/validate/admit_cronjob.go` (1.13 to 1.15)."""
    spec = mapping(manifest.data.get("spec"))
    path, written = ("spec", "schedule"), spec.get("schedule")
    if isinstance(written, str) and not is_placeholder(written):
        if not written:
            yield Violation(path, "schedule is empty", "write five fields: 0 2 * * * is every night at 2")
        elif "TZ" in written:
            yield Violation(path, f"schedule {written!r} contains a time zone", "set timeZone instead")
        elif problem := cron.problem(written):
            advice = "write minute, hour, day of the month, month, day of the week"
            yield Violation(path, f"schedule {written!r} {problem}", advice)
    zone = spec.get("timeZone")
    if isinstance(zone, str) and not is_placeholder(zone) and not _is_zone(zone):
        yield Violation(
            ("spec", "timeZone"),
            f"timeZone {zone!r} is not a time zone",
            "write a name from the IANA list, such as Asia/Shanghai, or remove it",
        )


def _is_zone(name: str) -> bool:
    parts = name.split("/")
    named = all(_ZONE_PART.match(part) and part not in (".", "..") and part[0] != "-" for part in parts)
    return named and bool(name) and name.lower() != "local"


def _volumes(spec: Spec) -> Iterator[Violation]:
    """Source: `validateIO` in `webhooks/admission/jobs/validate/util.go` (1.8 to 1.15)."""
    listed = spec.data.get("volumes")
    seen: set[str] = set()
    for number, volume in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(volume, dict):
            continue
        path = (*spec.path, "volumes", number)
        mount = text(volume.get("mountPath"))
        if mount and mount in seen:
            yield Violation((*path, "mountPath"), f"two volumes are mounted at {mount}", "use another path")
        seen.add(mount)
        yield from _claim(volume, path)


def _claim(volume: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    name, claim = text(volume.get("volumeClaimName")), volume.get("volumeClaim") is not None
    if claim and name:
        yield Violation(
            (*path, "volumeClaim"),
            f"the volume has both volumeClaimName {name} and volumeClaim: only one is allowed",
            "keep volumeClaimName for an existing claim, volumeClaim for a new one",
            key=True,
        )
    elif not claim and volume.get("volumeClaimName") in (None, ""):
        yield Violation(path, "the volume has neither volumeClaimName nor volumeClaim", "add one of them")
    elif name and not is_placeholder(name) and (problem := dns_subdomain_problem(name)):
        message = f"volumeClaimName {name!r} {problem}"
        yield Violation((*path, "volumeClaimName"), message, "correct the name")


def _tasks(spec: Spec) -> Iterator[Violation]:
    """Source: `webhooks/admission/jobs/validate/admit_job.go` (1.8 to 1.15)."""
    listed = tasks(spec)
    yield from _duplicates(listed)
    yield from _pod_names(spec, listed)
    yield from _below_zero(spec.data, spec.path, ("minAvailable", "maxRetry", "ttlSecondsAfterFinished"))
    for task in listed:
        yield from _below_zero(task.data, task.path, ("replicas", "minAvailable"))
        yield from _task_name(task)
        yield from _partitions(task)
        yield from _whole_cpus(task)
    yield from dependency_violations([_dependent(task) for task in listed])


def _duplicates(listed: Sequence[Task]) -> Iterator[Violation]:
    names: set[str] = set()
    for task in listed:
        if task.name in names and not is_placeholder(task.name):
            yield Violation(
                (*task.path, "name"),
                f"two tasks are named {task.name}: Volcano rejects the job",
                "give each task its own name",
            )
        names.add(task.name)


def _below_zero(data: Mapping[str, Any], path: Path, fields: Sequence[str]) -> Iterator[Violation]:
    for field in fields:
        value = whole(data.get(field))
        if value is not None and value < 0:
            yield Violation((*path, field), f"{field} is {value}, below 0", "write 0 or more")


def _task_name(task: Task) -> Iterator[Violation]:
    """Its pods and their host names are named after it."""
    problem = "" if is_placeholder(task.name) else dns_label_problem(task.name)
    if problem:
        yield Violation((*task.path, "name"), f"task name {task.name!r} {problem}", "rename the task")


def _pod_names(spec: Spec, listed: Sequence[Task]) -> Iterator[Violation]:
    """A task's pods are named after the job and the task, with a number at the end."""
    if not spec.name or is_placeholder(spec.name) or len(spec.name) > _LONGEST_POD:
        return
    for number, task in enumerate(listed):
        pod = f"{spec.name}-{task.name}-{number}"
        if len(pod) > _LONGEST_POD and not is_placeholder(task.name) and not label_value_problem(task.name):
            yield Violation(
                (*task.path, "name"),
                f"pods of task {task.name} would be named {pod}, which has {len(pod)} characters, more than "
                f"{_LONGEST_POD}",
                "shorten the name of the job or the task",
            )


def _partitions(task: Task) -> Iterator[Violation]:
    policy = mapping(task.data.get("partitionPolicy"))
    total, size = whole(policy.get("totalPartitions")), whole(policy.get("partitionSize"))
    if not total or not size or total < 0 or size < 0:
        return
    replicas = task.data.get("replicas", 0)
    if whole(replicas) is not None and replicas != total * size:
        yield Violation(
            (*task.path, "replicas"),
            f"task {task.name} has {replicas} replicas, but {total} partitions of {size} make {total * size}",
            f"set replicas: {total * size}, or change the partitions",
        )
    least, available = whole(policy.get("minPartitions")), whole(task.data.get("minAvailable"))
    if least and least > 0 and available is not None and available != least * size:
        yield Violation(
            (*task.path, "minAvailable"),
            f"minAvailable of task {task.name} is {available}, but {least} partitions of {size} make "
            f"{least * size}",
            f"set minAvailable: {least * size}, or remove it",
        )


def _whole_cpus(task: Task) -> Iterator[Violation]:
    """A NUMA policy needs whole CPUs in every container."""
    policy = text(task.data.get("topologyPolicy"))
    if policy in ("", "none") or is_placeholder(policy):
        return
    if policy not in _NUMA_POLICIES:
        yield Violation(
            (*task.path, "topologyPolicy"),
            f"topologyPolicy {policy!r} of task {task.name} matches no node: its pods never start",
            f"write {', '.join(_NUMA_POLICIES[:-1])} or {_NUMA_POLICIES[-1]}",
        )
        return
    template = mapping(mapping(task.data.get("template")).get("spec"))
    base: Path = (*task.path, "template", "spec")
    for field, position, container in requests.containers(template):
        asked = _cpu(container)
        if is_placeholder(asked):
            continue
        quantity = parse(asked) if asked is not None else None
        if asked is not None and quantity is None:
            continue
        if quantity is None or quantity.nanos <= 0 or quantity.milli % 1000:
            found = f"requests {asked} CPU" if asked is not None else "requests no CPU"
            yield Violation(
                (*base, field, position, "resources"),
                f"topologyPolicy {policy} of task {task.name} needs whole CPUs, but a container {found}",
                "request a whole number of CPUs, or remove topologyPolicy",
            )


def _cpu(container: Mapping[str, Any]) -> object:
    resources = mapping(container.get("resources"))
    return (mapping(resources.get("requests")) or mapping(resources.get("limits"))).get("cpu")


def _dependent(task: Task) -> Dependent:
    after = texts(mapping(task.data.get("dependsOn")).get("name"))
    return Dependent("task", task.name, (*task.path, "dependsOn", "name"), after)


class Dependent(NamedTuple):
    """Something that starts after others."""

    what: str
    """task or flow."""
    name: str
    path: Path
    """Of the list of names it depends on."""
    targets: tuple[str, ...]


def dependency_violations(dependents: Sequence[Dependent]) -> Iterator[Violation]:
    """Each name that is wrong, then each cycle once, at its first member."""
    names = [each.name for each in dependents]
    there = frozenset(names)
    if any(is_placeholder(name) for each in dependents for name in (each.name, *each.targets)):
        return
    known = True
    for each in dependents:
        seen: set[str] = set()
        for position, name in enumerate(each.targets):
            path = (*each.path, position)
            if name not in there:
                message = f"{each.what} {each.name} depends on {name}, which does not exist"
                yield Violation(path, message, suggestion(name, names, f"{each.what}s"))
                known = False
            elif name in seen:
                message = f"{each.what} {each.name} lists {name} twice in dependsOn"
                yield Violation(path, message, "list it once")
            seen.add(name)
    if known:
        yield from _cycles(dependents)


def _cycles(dependents: Sequence[Dependent]) -> Iterator[Violation]:
    paths = {each.name: (each.what, each.path) for each in dependents}
    for cycle in cycles({each.name: each.targets for each in dependents}):
        what, path = paths[cycle[0]]
        chain = " depends on ".join((*cycle, cycle[0]))
        yield Violation(path, f"{what}s depend on each other in a cycle: {chain}", "remove one dependsOn")


RULE = Rule(
    code="PK510",
    name="invalid-volcano-job",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"CronJob", "HyperJob", "Job", "JobFlow", "JobTemplate"}),
    substrings=("volcano",),
)
