"""Patches that apply workload kinds to manifests."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import FactReader, Target

TARGET = Target(
    "workloads",
    "Workloads",
    facts=(
        FactReader(
            Lazy("policykit.targets.workloads.overrides:facts"),
            frozenset(
                {
                    "ClusterPolicy",
                    "ClusterServingRuntime",
                    "ClusterTrainingRuntime",
                    "ClusterWorkflowTemplate",
                    "CronWorkflow",
                    "InferenceService",
                    "Policy",
                    "RoleBasedGroup",
                    "ServingRuntime",
                    "TrainJob",
                    "TrainingRuntime",
                    "Workflow",
                    "WorkflowTemplate",
                }
            ),
        ),
    ),
    generate=Lazy("policykit.targets.workloads.generate:generate"),
    import_reader=Lazy("policykit.targets.workloads.importing:WorkloadsReader"),
    always=True,
)
