"""A job whose counts or restart policy do not fit together.

An Indexed Job needs its number of completions, and only Never and OnFailure let a job end:
the API server or the operator refuses anything else. Pods above the number of completions
are never started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.jobs import JOB_SPECS
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
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

_Check = Callable[[Manifest], Iterator[Violation]]


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Job and CronJob, JobSet, MPIJob and Ray's autoscaler v2, each by its own rules."""
    of_kind = _CHECKS.get((manifest.group, manifest.kind))
    if of_kind:
        yield from of_kind(manifest)


def _job(manifest: Manifest) -> Iterator[Violation]:
    base = JOB_SPECS[manifest.group, manifest.kind]
    spec = lookup(manifest.data, base)
    if isinstance(spec, Mapping):
        yield from _counts(base, spec)
        yield from _restart(base, spec, required=not manifest.partial)


def _job_set(manifest: Manifest) -> Iterator[Violation]:
    """Of a JobSet's jobs; it fills in Indexed and OnFailure itself."""
    jobs = lookup(manifest.data, ("spec", "replicatedJobs"))
    for position, _ in enumerate(jobs if isinstance(jobs, list) else ()):
        base = ("spec", "replicatedJobs", position, "template", "spec")
        spec = lookup(manifest.data, base)
        if isinstance(spec, Mapping):
            yield from _too_parallel(base, spec)
            yield from _restart(base, spec, required=False)


def _counts(base: Path, spec: Mapping[str, Any]) -> Iterator[Violation]:
    """Source: `validateJobSpec` in kubernetes `pkg/apis/batch/validation` (v1.36)."""
    yield from _too_parallel(base, spec)
    mode = spec.get("completionMode")
    # With both counts unset each is 1, and an Indexed Job of one is fine.
    if mode == "Indexed" and spec.get("completions") is None and spec.get("parallelism") is not None:
        yield Violation(
            (*base, "completionMode"),
            f"completionMode is Indexed but completions is missing (parallelism {spec['parallelism']})",
            f"write completions: {spec['parallelism']} if every pod has one index",
            Severity.ERROR,
        )
    if mode in (None, "NonIndexed"):
        for field in _INDEXED_ONLY:
            if spec.get(field) is not None:
                yield Violation(
                    (*base, field),
                    f"{field} needs completionMode Indexed, the Job is {mode or 'NonIndexed'}",
                    "write completionMode: Indexed with the number of completions",
                    Severity.ERROR,
                    key=True,
                )


def _too_parallel(base: Path, spec: Mapping[str, Any]) -> Iterator[Violation]:
    parallelism, completions = _number(spec.get("parallelism")), _number(spec.get("completions"))
    if parallelism is not None and completions is not None and parallelism > completions:
        yield Violation(
            (*base, "parallelism"),
            f"parallelism {parallelism} is above completions {completions}: "
            f"never more than {completions} run at once",
            f"write completions: {parallelism} if {parallelism} pods should run together, "
            f"or parallelism: {completions}",
        )


def _restart(base: Path, spec: Mapping[str, Any], *, required: bool) -> Iterator[Violation]:
    written = lookup(spec, _RESTART)
    path = (*base, *_RESTART)
    if written == "Always" or (written is None and required and isinstance(spec.get("template"), Mapping)):
        what = "Always" if written else "missing, which means Always"
        yield Violation(
            path,
            f"restartPolicy is {what}; a Job takes Never or OnFailure",
            "write restartPolicy: Never (a new pod after a failure) or OnFailure (the same pod restarts)",
            Severity.ERROR,
        )
    elif spec.get("podFailurePolicy") is not None and written == "OnFailure":
        yield Violation(
            path,
            "restartPolicy is OnFailure; podFailurePolicy needs Never",
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
                f"restartPolicy of {role} is {written}; an MPIJob takes Never or OnFailure",
                "write OnFailure for the Launcher, Never for the Worker",
                Severity.ERROR,
            )


def _ray(manifest: Manifest) -> Iterator[Violation]:
    """Autoscaler v2 replaces pods itself, so KubeRay (1.7) refuses pods that restart."""
    base: Path = _RAY_CLUSTERS[manifest.kind]
    spec = lookup(manifest.data, base)
    if not isinstance(spec, Mapping) or spec.get("enableInTreeAutoscaling") is not True:
        return
    if lookup(spec, ("autoscalerOptions", "version")) != "v2":
        return
    groups = spec.get("workerGroupSpecs")
    workers = range(len(groups)) if isinstance(groups, list) else ()
    for group in (("headGroupSpec",), *(("workerGroupSpecs", position) for position in workers)):
        written = lookup(spec, (*group, *_RESTART))
        if written in ("Always", "OnFailure"):
            yield Violation(
                (*base, *group, *_RESTART),
                f"restartPolicy is {written}; autoscaler v2 takes Never or none",
                "write restartPolicy: Never or delete the line",
                Severity.ERROR,
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
