"""The counts or the restart policy of a job are inconsistent.

An Indexed Job requires completions, and a job requires restartPolicy Never or OnFailure: the API
server or the operator refuses anything else. Pods beyond the number of completions never start. JobSet finds
the first pod of a job that has a topology to itself by its index, so pods of a NonIndexed one are refused.
In a NonIndexed Job JOB_COMPLETION_INDEX is not set: ranks and shards that are computed from it are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.command_line import arguments
from policykit.kube.gang_units import JOB_SPECS
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.severity import Severity

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  parallelism: 2
  completions: 1
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = BAD.replace("completions: 1", "completions: 2")

_INDEXED_ONLY = ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")
_RESTART = ("template", "spec", "restartPolicy")
_VARIABLE = "JOB_COMPLETION_INDEX"
_USED = rf"\b{_VARIABLE}\b(?![-:?+]*[-=?+])"
"""Without a default beside it."""
_FIELD = "metadata.annotations['batch.kubernetes.io/job-completion-index']"

_Check = Callable[[Manifest], Iterator[Violation]]


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Checks Job, CronJob, JobSet, MPIJob and Ray with autoscaler v2."""
    of_kind = _CHECKS.get((manifest.group, manifest.kind))
    if of_kind:
        yield from of_kind(manifest)


def _job(manifest: Manifest) -> Iterator[Violation]:
    base = JOB_SPECS[manifest.group, manifest.kind]
    spec = lookup(manifest.data, base)
    if isinstance(spec, dict):
        yield from _counts(base, spec)
        yield from _restart(base, spec, required=not manifest.partial)
        if not manifest.partial and manifest.group == "batch":
            yield from _index(base, spec)
    if base:
        yield from _deadline(manifest)


_DEADLINE: Path = ("spec", "startingDeadlineSeconds")
_CHECKED_EVERY = 10
"""Seconds."""


def _deadline(manifest: Manifest) -> Iterator[Violation]:
    """Source: the concepts page of CronJobs (v1.36)."""
    seconds = _number(lookup(manifest.data, _DEADLINE))
    of_cron = manifest.kind == "CronJob" and manifest.group == "batch"
    if of_cron and seconds is not None and 0 <= seconds < _CHECKED_EVERY:
        yield Violation(
            _DEADLINE,
            f"startingDeadlineSeconds is {seconds}, but CronJobs are looked at every {_CHECKED_EVERY} "
            "seconds: runs may be left out",
            f"write {_CHECKED_EVERY} or more",
        )


def _job_set(manifest: Manifest) -> Iterator[Violation]:
    """Checks the jobs of a JobSet, which sets Indexed and OnFailure itself."""
    jobs = lookup(manifest.data, ("spec", "replicatedJobs"))
    for position, _ in enumerate(jobs if isinstance(jobs, list) else ()):
        base = ("spec", "replicatedJobs", position, "template", "spec")
        spec = lookup(manifest.data, base)
        if isinstance(spec, dict):
            yield from _too_parallel(base, spec)
            if spec.get("completionMode") in (None, "Indexed"):
                yield from _without_completions(base, spec, required=not manifest.partial)
            yield from _restart(base, spec, required=False)
            yield from _without_index(manifest, position, spec)


_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_BY_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"


def _without_index(manifest: Manifest, position: int, spec: Mapping[str, Any]) -> Iterator[Violation]:
    """Source: `pkg/webhooks/pod_webhook.go` of JobSet (0.3 to 0.12)."""
    if spec.get("completionMode") != "NonIndexed":
        return
    job = lookup(manifest.data, ("spec", "replicatedJobs", position, "template", "metadata", "annotations"))
    stated = {**manifest.annotations, **(job if isinstance(job, Mapping) else {})}
    if _EXCLUSIVE in stated and _BY_SELECTOR not in stated:
        yield Violation(
            ("spec", "replicatedJobs", position, "template", "spec", "completionMode"),
            f"completionMode is NonIndexed, but the pods of a job with {_EXCLUSIVE} need an index: "
            "JobSet refuses all of them",
            "delete completionMode, which is then Indexed",
            Severity.ERROR,
        )


def _counts(base: Path, spec: Mapping[str, Any]) -> Iterator[Violation]:
    """Source: `validateJobSpec` in kubernetes `pkg/apis/batch/validation` (v1.36)."""
    yield from _too_parallel(base, spec)
    mode = spec.get("completionMode")
    if mode == "Indexed":
        yield from _without_completions(base, spec, required=True)
    if mode in (None, "NonIndexed"):
        for field in _INDEXED_ONLY:
            if spec.get(field) is not None:
                yield Violation(
                    (*base, field),
                    f"{field} requires completionMode Indexed, but the Job is {mode or 'NonIndexed'}",
                    "write completionMode: Indexed and the number of completions",
                    Severity.ERROR,
                    key=True,
                )


def _without_completions(base: Path, spec: Mapping[str, Any], *, required: bool) -> Iterator[Violation]:
    """Without both counts each is 1, and an Indexed Job with one completion is valid."""
    parallelism = spec.get("parallelism")
    if required and spec.get("completions") is None and parallelism is not None:
        stated = "completionMode" in spec
        yield Violation(
            (*base, "completionMode" if stated else "parallelism"),
            f"completionMode is Indexed{'' if stated else ', as JobSet sets it,'} but completions is missing "
            f"(parallelism {parallelism})",
            f"write completions: {parallelism} if each pod processes one index",
            Severity.ERROR,
        )


def _index(base: Path, spec: Mapping[str, Any]) -> Iterator[Violation]:
    """The first use of an index. Source: `addCompletionIndexEnvVariables` of the Job controller (v1.36)."""
    pods = max(_number(spec.get("parallelism")) or 1, _number(spec.get("completions")) or 1)
    if pods < 2 or spec.get("completionMode") not in (None, "NonIndexed"):
        return
    template = mapping(lookup(spec, ("template", "spec")))
    for field, position, container in containers(template):
        at: Path = (*base, "template", "spec", field, position)
        variables = mappings(container.get("env"))
        if any(each.get("name") == _VARIABLE for each in variables):
            continue
        uses = [
            (word, path)
            for word, path in arguments(container)
            if _VARIABLE in word and re.search(_USED, word)
        ]
        for number, each in numbered(container.get("env")):
            path: Path = ("valueFrom", "fieldRef", "fieldPath")
            source = text(lookup(each, path))
            if source == _FIELD:
                uses.append((source, ("env", number, *path)))
        if uses:
            yield Violation(
                (*at, *uses[0][1]),
                "the container uses its completion index, but pods of a NonIndexed Job have none: "
                f"all {pods} do the same",
                "write completionMode: Indexed and the number of completions",
            )
            return


def _too_parallel(base: Path, spec: Mapping[str, Any]) -> Iterator[Violation]:
    parallelism, completions = _number(spec.get("parallelism")), _number(spec.get("completions"))
    if parallelism is not None and completions is not None and parallelism > completions:
        yield Violation(
            (*base, "parallelism"),
            f"parallelism {parallelism} is above completions {completions}: "
            f"at most {completions} run at once",
            f"write completions: {parallelism} if {parallelism} pods should run together, "
            f"or parallelism: {completions}",
        )


def _restart(base: Path, spec: Mapping[str, Any], *, required: bool) -> Iterator[Violation]:
    written = lookup(spec, _RESTART)
    path = (*base, *_RESTART)
    if written == "Always" or (written is None and required and isinstance(spec.get("template"), dict)):
        what = "Always" if written else "absent, which means Always"
        yield Violation(
            path,
            f"restartPolicy is {what}, but a Job requires Never or OnFailure",
            "write restartPolicy: Never (a failure creates a new pod) or OnFailure (the same pod restarts)",
            Severity.ERROR,
        )
    elif spec.get("podFailurePolicy") is not None and written == "OnFailure":
        yield Violation(
            path,
            "restartPolicy is OnFailure, but podFailurePolicy requires Never",
            "write restartPolicy: Never",
            Severity.ERROR,
        )


def _mpi_job(manifest: Manifest) -> Iterator[Violation]:
    """The replica's restartPolicy of mpi-operator's v2beta1."""
    if manifest.api_version != "kubeflow.org/v2beta1":
        return
    for role in ("Launcher", "Worker"):
        path = ("spec", "mpiReplicaSpecs", role, "restartPolicy")
        written = lookup(manifest.data, path)
        if written in ("Always", "ExitCode"):
            yield Violation(
                path,
                f"restartPolicy of {role} is {written}, but an MPIJob requires Never or OnFailure",
                "write OnFailure for the Launcher and Never for the Worker",
                Severity.ERROR,
            )


def _ray(manifest: Manifest) -> Iterator[Violation]:
    """The autoscalers replace pods themselves, so KubeRay (1.7) refuses other restart policies than Never
    for v2; an idle worker of v1 is ended and starts again."""
    base: Path = _RAY_CLUSTERS[manifest.kind]
    spec = lookup(manifest.data, base)
    if not isinstance(spec, dict) or spec.get("enableInTreeAutoscaling") is not True:
        return
    second = lookup(spec, ("autoscalerOptions", "version")) == "v2"
    groups = spec.get("workerGroupSpecs")
    workers = range(len(groups)) if isinstance(groups, list) else ()
    head: tuple[Path, ...] = (("headGroupSpec",),) if second else ()
    for group in (*head, *(("workerGroupSpecs", position) for position in workers)):
        written = lookup(spec, (*group, *_RESTART))
        if written in ("Always", "OnFailure"):
            requires = "autoscaler v2 requires Never" if second else "idle workers that end start again"
            yield Violation(
                (*base, *group, *_RESTART),
                f"restartPolicy is {written}, but {requires}",
                "write restartPolicy: Never or delete the line",
                Severity.ERROR if second else None,
            )


def _number(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


_RAY_CLUSTERS: Mapping[str, Path] = {
    "RayCluster": ("spec",),
    "RayJob": ("spec", "rayClusterSpec"),
    "RayService": ("spec", "rayClusterConfig"),
}
_CHECKS: Mapping[tuple[str, str], _Check] = {
    **dict.fromkeys(JOB_SPECS, _job),
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("kubeflow.org", "MPIJob"): _mpi_job,
    **{("ray.io", kind): _ray for kind in _RAY_CLUSTERS},
}

RULE = Rule(
    code="PK210",
    name="job-shape",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({kind for _, kind in _CHECKS}),
)
