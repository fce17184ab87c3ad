"""Kubernetes itself: PriorityClasses, quotas, autoscalers, and profiles of kube-scheduler."""

from __future__ import annotations

from policykit.lazy import Lazy
from policykit.linter.target import FactReader, Target
from policykit.targets.kubernetes.configurations import CONFIGURATION

TARGET = Target(
    "kubernetes",
    "Kubernetes",
    frozenset({"default-scheduler"}),
    configurations=(CONFIGURATION,),
    facts=(
        FactReader(
            Lazy("policykit.targets.kubernetes.priority_facts:facts"),
            frozenset({"PriorityClass", "PodGroup"}),
            pods=True,
            words=("riorityClass",),
        ),
    ),
    pod_fields=Lazy("policykit.targets.kubernetes.pods:fields"),
    options=Lazy("policykit.targets.kubernetes.options:KubernetesOptions"),
    generate=Lazy("policykit.targets.kubernetes.generate:generate"),
    import_reader=Lazy("policykit.targets.kubernetes.importing:KubernetesReader"),
    always=True,
)
