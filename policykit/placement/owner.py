"""The object that makes a pod set's pods: the manifest itself, or one inside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import lookup

_KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
_COMPLETE_AS_STORED = frozenset({"PodTemplate", "JobTemplate"})
_ON_A_RUNTIME = frozenset({"TrainJob", "OptimizationJob", "InferenceService", "LLMInferenceService"})
"""Kinds whose pods take what they do not state themselves from a runtime or preset."""


_PLACEMENT = ("nodeSelector", "affinity", "tolerations")


class Owner(NamedTuple):
    """What recognition and admission look at beside the template."""

    api_version: str
    kind: str
    name: str
    namespace: str
    """Empty where neither it nor the manifest around it states one."""
    labels: Mapping[str, str]
    """Its own over those of the manifest around it."""
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]

    @property
    def group(self) -> str:
        """API group, empty for the core group."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""


def owner(manifest: Manifest, pod_set: PodSet) -> Owner:
    """The owner of a pod set; what it does not say is read from the manifest around it."""
    inner = _mapping(lookup(manifest.data, pod_set.owner)) if pod_set.owner else manifest.data
    metadata = _mapping(inner.get("metadata"))
    return Owner(
        _text(inner.get("apiVersion")),
        _text(inner.get("kind")),
        _text(metadata.get("name")) or manifest.name,
        _text(metadata.get("namespace")) or manifest.namespace,
        {**manifest.labels, **texts(metadata.get("labels"))},
        {**manifest.annotations, **texts(metadata.get("annotations"))},
        _mapping(inner.get("spec")),
    )


def is_gated_or_suspended(made_by: Owner, pod_set: PodSet) -> bool:
    """Whether the pods wait for somebody to lift a gate or a suspension, which may be a queueing system."""
    return (
        bool(pod_set.spec.get("schedulingGates"))
        or _is_set(made_by.spec.get("suspend"))
        or _is_set(_mapping(made_by.spec.get("runPolicy")).get("suspend"))
    )


def _is_set(switch: object) -> bool:
    """True, or what may become it."""
    return switch is True or is_placeholder(switch)


def may_still_change(manifest: Manifest, pod_set: PodSet) -> bool:
    """Whether something may still add selectors or tolerations before the pods are scheduled.

    Kueue and whoever lifts a gate or a suspension do, and so does the object that uses a
    stored template, and the tool that fills in a placeholder. A node named outright is never
    looked at by a scheduler.
    """
    made_by = owner(manifest, pod_set)
    return (
        is_gated_or_suspended(made_by, pod_set)
        or bool(pod_set.spec.get("nodeName"))
        or _KUEUE_QUEUE in made_by.labels
        or _KUEUE_QUEUE in pod_set.labels
        or (pod_set.stored and made_by.kind not in _COMPLETE_AS_STORED)
        or _inherits(made_by, pod_set)
        or any(_filled_in_later(pod_set.spec.get(field)) for field in _PLACEMENT)
    )


def _filled_in_later(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_filled_in_later(key) or _filled_in_later(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(_filled_in_later(item) for item in value)
    return is_placeholder(value)


def _inherits(made_by: Owner, pod_set: PodSet) -> bool:
    if made_by.kind not in _ON_A_RUNTIME or pod_set.spec.get("tolerations"):
        return False
    # A predictor with containers of its own has no runtime.
    return made_by.kind != "InferenceService" or not pod_set.spec.get("containers")


def _mapping(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""
