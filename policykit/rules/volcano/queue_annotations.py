"""Annotations for Volcano's queue in fields of operators that do not pass them on."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.targets.volcano.names import QUEUE_NAME

_GROVE = "scheduling.grove.io/volcano-queue"


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Places that look right for the kind but are not."""
    if manifest.kind == "DynamoGraphDeployment" and manifest.group == "nvidia.com":
        path: Path = ("metadata", "annotations", _GROVE)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                f"{_GROVE} is not read in metadata.annotations of a DynamoGraphDeployment",
                "move it to spec.annotations, or use nvidia.com/volcano-queue instead",
                key=True,
            )
    elif manifest.kind == "TrainJob" and isinstance(lookup(manifest.data, ("spec", "runtimePatches")), list):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "a TrainJob with runtimePatches (Trainer 2.2) has no spec.annotations: the queue is dropped",
                "move it to trainingRuntimeSpec.template.metadata.annotations of a runtime patch",
                key=True,
            )
    elif manifest.kind == "LLMInferenceService" and lookup(manifest.data, ("spec", "worker")):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "with workers, LeaderWorkerSet makes the gangs and does not receive spec.annotations",
                f"annotate its namespace with {QUEUE_NAME}",
                Severity.WARNING,
                key=True,
            )
