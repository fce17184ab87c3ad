"""Tolerations that replace inherited ones: Argo, RoleBasedGroup, KServe, Kubeflow Trainer and Kyverno."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policykit.kube import tolerations
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import text
from policykit.model.list_overrides import TolerationOverride, TolerationTemplate
from policykit.model.pool import Toleration

_FIELD = "tolerations"
_PREDICTOR, _WORKER = "predictor", "worker"
_SERVING = ("ServingRuntime", "ClusterServingRuntime")
_TRAINING = "ClusterTrainingRuntime"
_POD = ("template", "spec", "template", "spec")
"""From a replicated job to its PodSpec."""
_PATCHES: tuple[tuple[Path, Path], ...] = (
    (("leaderWorkerPattern", "template"), ("leaderWorkerPattern", "leaderTemplatePatch")),
    (("leaderWorkerPattern", "template"), ("leaderWorkerPattern", "workerTemplatePatch")),
    (("template",), ("leaderWorkerSet", "patchLeaderTemplate")),
    (("template",), ("leaderWorkerSet", "patchWorkerTemplate")),
)
"""Fields of a role: the template, and a patch applied to it."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Template and Override facts; a null or empty list replaces nothing."""
    group = manifest.group
    if group == "argoproj.io":
        yield from _argo(manifest)
    elif group == "workloads.x-k8s.io":
        yield from _roles(manifest)
    elif group == "serving.kserve.io":
        yield from _kserve(manifest, manifest.namespace or context.namespace)
    elif group == "kyverno.io":
        yield from _kyverno(manifest)
    elif group == "trainer.kubeflow.org":
        yield from _trainer(manifest, manifest.namespace or context.namespace)


_OF_EACH_POD = tuple(
    Toleration(f"node.kubernetes.io/{state}", "Exists", "", "NoExecute", 300)
    for state in ("not-ready", "unreachable")
)
"""Those that the API server gives each pod."""
_PATCH: Path = ("mutate", "patchStrategicMerge", "spec", _FIELD)


def _kyverno(manifest: Manifest) -> Iterator[Fact]:
    """A strategic merge has no key for tolerations: the list of the patch replaces that of the object.

    Source: `Tolerations` of PodSpec (Kubernetes v1.36), whose listType is atomic. A key such as
    `+(tolerations)` adds the list only where there is none.
    """
    for position, _ in _items(manifest, ("spec", "rules")):
        path = ("spec", "rules", position, *_PATCH)
        if mine := _read(manifest, path):
            yield Fact(TolerationOverride(mine, _OF_EACH_POD, "each pod"), {_FIELD: path})


def _argo(manifest: Manifest) -> Iterator[Fact]:
    """Source: argo-workflows docs/fields.md: the template's list replaces the workflow's."""
    spec: Path = ("spec", "workflowSpec") if manifest.kind == "CronWorkflow" else ("spec",)
    for at, _ in _items(manifest, (*spec, "templates")):
        yield from _replaced(manifest, (*spec, "templates", at), spec, "the workflow's spec")


def _roles(manifest: Manifest) -> Iterator[Fact]:
    for at, _ in _items(manifest, ("spec", "roles")):
        role: Path = ("spec", "roles", at)
        for template, patch in _PATCHES:
            words = f"the role's {'.'.join(str(step) for step in template)}"
            yield from _replaced(manifest, (*role, *patch, "spec"), (*role, *template, "spec"), words)


def _replaced(manifest: Manifest, top: Path, below: Path, words: str) -> Iterator[Fact]:
    path = (*top, _FIELD)
    mine, inherited = _read(manifest, path), _read(manifest, (*below, _FIELD))
    if mine and inherited:
        yield Fact(TolerationOverride(mine, inherited, words), {_FIELD: path})


def _kserve(manifest: Manifest, namespace: str) -> Iterator[Fact]:
    """Source: KServe 0.20 pkg/controller/v1beta1/inferenceservice/utils: a strategic merge."""
    if manifest.kind == "InferenceService":
        name = text(lookup(manifest.data, ("spec", "predictor", "model", "runtime")))
        for part, rest in ((_PREDICTOR, ()), (_WORKER, ("workerSpec",))):
            path = ("spec", "predictor", *rest, _FIELD)
            mine = _read(manifest, path)
            if mine and name:
                yield Fact(TolerationOverride(mine, (), "", _SERVING, namespace, name, part), {_FIELD: path})
    elif manifest.kind in _SERVING:
        for part, rest in ((_PREDICTOR, ()), (_WORKER, ("workerSpec",))):
            yield from _template(manifest, namespace, part, ("spec", *rest, _FIELD))


def _trainer(manifest: Manifest, namespace: str) -> Iterator[Fact]:
    if manifest.kind in (_TRAINING, "TrainingRuntime"):
        jobs: Path = ("spec", "template", "spec", "replicatedJobs")
        for at, job in _items(manifest, jobs):
            yield from _template(manifest, namespace, text(job.get("name")), (*jobs, at, *_POD, _FIELD))
    elif manifest.kind == "TrainJob":
        runtime = lookup(manifest.data, ("spec", "runtimeRef"))
        inherited = runtime if isinstance(runtime, dict) else {}
        kind, name = text(inherited.get("kind")) or _TRAINING, text(inherited.get("name"))
        for part, path in _patched_jobs(manifest):
            mine = _read(manifest, path)
            if mine and name and part:
                yield Fact(TolerationOverride(mine, (), "", (kind,), namespace, name, part), {_FIELD: path})


def _patched_jobs(manifest: Manifest) -> Iterator[tuple[str, Path]]:
    """(job, path of its tolerations) in the override field of each release."""
    for at, _ in _items(manifest, ("spec", "runtimePatches")):
        jobs: Path = ("spec", "runtimePatches", at, "trainingRuntimeSpec", "template", "spec")
        for number, job in _items(manifest, (*jobs, "replicatedJobs")):
            yield text(job.get("name")), (*jobs, "replicatedJobs", number, *_POD, _FIELD)
    for field, rest in (("podTemplateOverrides", ("spec",)), ("podSpecOverrides", ())):
        for at, override in _items(manifest, ("spec", field)):
            targets = override.get("targetJobs")
            for target in targets if isinstance(targets, list) else ():
                if isinstance(target, dict):
                    yield text(target.get("name")), ("spec", field, at, *rest, _FIELD)


def _template(manifest: Manifest, namespace: str, part: str, path: Path) -> Iterator[Fact]:
    given = _read(manifest, path)
    if given and part:
        where = "" if manifest.kind.startswith("Cluster") else namespace
        template = TolerationTemplate(manifest.kind, where, manifest.name, part, given)
        yield Fact(template, {_FIELD: path}, answers=True)


def _items(manifest: Manifest, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    found = lookup(manifest.data, path)
    for at, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, dict):
            yield at, item


def _read(manifest: Manifest, path: Path) -> tuple[Any, ...]:
    return tolerations.read(lookup(manifest.data, path))
