"""Kubernetes itself: PriorityClasses, quotas, autoscalers, and profiles of kube-scheduler."""

from __future__ import annotations

import re

from policykit.lazy import Lazy
from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup

_KIND = "KubeSchedulerConfiguration"
_STATED = rf"(?m)^kind: *{_KIND} *$"
_HEAD = r"(?:[ ]*(?:#.*)?\n|---.*\n)*(?:apiVersion|kind):"
_TEMPLATE = ("{{", "<%", "${")


def _is_named(holder: Manifest, path: Path) -> bool:
    """A ConfigMap string that states this kind is a configuration, even if it cannot be parsed."""
    text = lookup(holder.data, path)
    if holder.kind != "ConfigMap" or not isinstance(text, str) or any(sign in text for sign in _TEMPLATE):
        return False
    return bool(re.match(_HEAD, text) and re.search(_STATED, text))


CONFIGURATION = Configuration(
    _KIND, (_KIND,), lambda data: isinstance(data, dict) and data.get("kind") == _KIND, _is_named, kind=_KIND
)

_POLICY = "DeschedulerPolicy"
_DESCHEDULER = Configuration(_POLICY, (_POLICY,), lambda data: False, kind=_POLICY)

PRIORITIES, PRIORITIES_KEY = "priorities of node groups", "priorities"
PRIORITIES_NAME = "cluster-autoscaler-priority-expander"


def _has_priorities(holder: Manifest, path: Path) -> bool:
    return path == ("data", PRIORITIES_KEY) and holder.name == PRIORITIES_NAME


_EXPANDER = Configuration(PRIORITIES, (PRIORITIES_NAME,), lambda data: False, _has_priorities)


TARGET = Target(
    "kubernetes",
    "Kubernetes",
    frozenset({"default-scheduler"}),
    programs=frozenset({"default", "kube-scheduler"}),
    configurations=(CONFIGURATION, _DESCHEDULER, _EXPANDER),
    facts=(
        FactReader(
            Lazy("policykit.targets.kubernetes.priorities:facts"),
            frozenset({"PriorityClass", "PodGroup"}),
            pods=True,
            substrings=("riorityClass",),
        ),
        FactReader(
            Lazy("policykit.targets.kubernetes.configuration_files:facts"),
            frozenset({"Cluster", _KIND, "Kustomization"}),
        ),
        FactReader(
            Lazy("policykit.targets.kubernetes.scheduler_images:facts"),
            frozenset({_KIND}),
            pods=True,
            substrings=("/kube-scheduler", "KubeSchedulerConfiguration"),
        ),
        FactReader(
            Lazy("policykit.targets.kubernetes.descheduler_facts:facts"),
            frozenset({_POLICY}),
            pods=True,
            substrings=("/descheduler:", "DeschedulerPolicy"),
        ),
    ),
    pod_fields=Lazy("policykit.targets.kubernetes.pods:fields"),
    options=Lazy("policykit.targets.kubernetes.options:KubernetesOptions"),
    generate=Lazy("policykit.targets.kubernetes.generate:generate"),
    import_reader=Lazy("policykit.targets.kubernetes.importing:KubernetesReader"),
    releases=Lazy("policykit.targets.kubernetes.versions:RELEASES"),
    release_facts=Lazy("policykit.targets.kubernetes.release_facts:FACTS"),
    always=True,
)
