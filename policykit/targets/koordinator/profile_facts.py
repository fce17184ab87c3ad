"""Facts about ClusterColocationProfiles, and the pods that ask for one by a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import selectors
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, pairs
from policykit.model.colocation import DeclaredProfile, ProfiledPods, Requirements
from policykit.targets.koordinator.names import QOS_CLASS
from policykit.targets.koordinator.objects.colocation import API_VERSION, KIND

_DOMAIN = "koordinator.sh/"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `pkg/webhook/pod/mutating/cluster_colocation_profile.go` (0.5 to 1.8)."""
    if manifest.kind == KIND and manifest.group == API_VERSION.partition("/")[0]:
        spec = mapping(manifest.data.get("spec"))
        namespaces = _requirements(mapping(spec.get("namespaceSelector")))
        value = DeclaredProfile(manifest.name, namespaces, _requirements(mapping(spec.get("selector"))))
        yield Fact(value, {}, answers=True)
        return
    if manifest.partial or not manifest.namespace or is_placeholder(manifest.namespace):
        return
    for pod_set in pod_sets:
        own = [key for key in pod_set.labels if key.startswith(_DOMAIN)]
        if own and QOS_CLASS not in own and not pod_set.stored:
            places = {f"labels.{key}": pod_set.place("labels", key) for key in own}
            yield Fact(ProfiledPods(manifest.namespace, dict(pod_set.labels)), places)


def _requirements(selector: Mapping[str, Any]) -> Requirements:
    labels = [(key, "In", (value,)) for key, value in pairs(selector.get("matchLabels")).items()]
    expressions = selectors.read_all(selector.get("matchExpressions"))
    known = [(each.key, each.operator, each.values) for each in expressions if not selectors.problem(each)]
    return (*labels, *known)
