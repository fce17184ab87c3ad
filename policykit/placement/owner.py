"""The object that creates a pod set's pods: the manifest itself, or one embedded in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder, stands_for_label
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest, texts, words_of
from policykit.manifests.memoize import memoize_last_call
from policykit.manifests.path import lookup
from policykit.manifests.shape import text
from policykit.namedtuple import NamedTuple

_KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
_COMPLETE_AS_STORED = frozenset({"PodTemplate", "JobTemplate"})
_WITH_RUNTIME = frozenset({"TrainJob", "OptimizationJob", "InferenceService", "LLMInferenceService"})
"""Kinds whose pods inherit omitted fields from a runtime or preset."""


_PLACEMENT = ("nodeSelector", "affinity", "tolerations")


class Owner(NamedTuple):
    """Fields outside the template that recognition and admission use."""

    api_version: str
    kind: str
    name: str
    namespace: str
    """Empty if neither it nor the enclosing manifest sets one."""
    labels: Mapping[str, str]
    """Its own labels, which override those of the enclosing manifest."""
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]

    @property
    def group(self) -> str:
        """API group, empty for the core group."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""


@memoize_last_call
def owner(manifest: Manifest, pod_set: PodSet) -> Owner:
    """The owner of a pod set; absent metadata comes from the enclosing manifest."""
    inner = _mapping(lookup(manifest.data, pod_set.owner)) if pod_set.owner else manifest.data
    metadata = _mapping(inner.get("metadata"))
    return Owner(
        text(inner.get("apiVersion")),
        text(inner.get("kind")),
        text(metadata.get("name")) or manifest.name,
        text(metadata.get("namespace")) or manifest.namespace,
        {**manifest.labels, **texts(metadata.get("labels"))},
        {**manifest.annotations, **texts(metadata.get("annotations"))},
        _mapping(inner.get("spec")),
    )


def is_gated_or_suspended(pod_owner: Owner, pod_set: PodSet) -> bool:
    """Whether the pods wait until a user or a queueing system removes a gate or a suspension."""
    return (
        bool(pod_set.spec.get("schedulingGates"))
        or _is_set(pod_owner.spec.get("suspend"))
        or _is_set(_mapping(pod_owner.spec.get("runPolicy")).get("suspend"))
    )


def _is_set(switch: object) -> bool:
    """Whether it is true or a placeholder."""
    return switch is True or is_placeholder(switch)


def may_still_change(manifest: Manifest, pod_set: PodSet) -> bool:
    """Whether selectors or tolerations may still be added before scheduling, or no scheduler is used.

    Kueue may add them, and so may whoever removes a gate or a suspension, the object that uses a
    stored template, or the tool that replaces a placeholder. Pods with nodeName bypass the scheduler.
    """
    pod_owner = owner(manifest, pod_set)
    return (
        is_gated_or_suspended(pod_owner, pod_set)
        or _KUEUE_QUEUE in pod_owner.labels
        or _KUEUE_QUEUE in pod_set.labels
        or may_change_after_admission(manifest, pod_set)
    )


def may_change_after_admission(manifest: Manifest, pod_set: PodSet) -> bool:
    """The same for pods that Kueue admits, whatever it adds to them."""
    pod_owner = owner(manifest, pod_set)
    return (
        bool(pod_set.spec.get("schedulingGates"))
        or bool(pod_set.spec.get("nodeName"))
        or (pod_set.stored and pod_owner.kind not in _COMPLETE_AS_STORED)
        or _inherits(pod_owner, pod_set)
        or any(_has_placeholder(pod_set.spec[field]) for field in _PLACEMENT if field in pod_set.spec)
    )


def _has_placeholder(value: object) -> bool:
    return any(any(map(stands_for_label, some)) for some in words_of(value))


def _inherits(pod_owner: Owner, pod_set: PodSet) -> bool:
    if pod_owner.kind not in _WITH_RUNTIME or pod_set.spec.get("tolerations"):
        return False
    # A predictor with its own containers has no runtime.
    return pod_owner.kind != "InferenceService" or not pod_set.spec.get("containers")


def _mapping(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, dict) else {}
