"""Facts about ClusterColocationProfiles, and the pods that ask for one by a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.selectors import of_labels
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping
from policykit.model.colocation import DeclaredProfile, ProfiledPods
from policykit.targets.koordinator.names import QOS_CLASS
from policykit.targets.koordinator.objects.colocation import API_VERSION, KIND

_DOMAIN = "koordinator.sh/"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `pkg/webhook/pod/mutating/cluster_colocation_profile.go` (0.5 to 1.8)."""
    if manifest.kind == KIND and manifest.group == API_VERSION.partition("/")[0]:
        spec = mapping(manifest.data.get("spec"))
        namespaces = of_labels(spec.get("namespaceSelector"))
        value = DeclaredProfile(manifest.name, namespaces, of_labels(spec.get("selector")))
        yield Fact(value, {}, answers=True)
        return
    if manifest.partial or not manifest.namespace or is_placeholder(manifest.namespace):
        return
    for pod_set in pod_sets:
        own = [key for key in pod_set.labels if key.startswith(_DOMAIN)]
        if own and QOS_CLASS not in own and not pod_set.stored:
            places = {f"labels.{key}": pod_set.place("labels", key) for key in own}
            yield Fact(ProfiledPods(manifest.namespace, dict(pod_set.labels)), places)
