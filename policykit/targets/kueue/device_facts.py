"""Facts about devices: those that Kueue's configuration counts, and those that queued pods claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.queues import read as read_queue
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, text, texts
from policykit.model.kueue import ClaimedClasses, CountedDevices, QueuedClaim
from policykit.targets.kueue.names import CONFIGURATION, CONFIGURATION_GROUP, TARGET_NAME

TEMPLATE = "ResourceClaimTemplate"
_REQUESTS: Path = ("spec", "spec", "devices", "requests")
_INTEGRATION = "KueueDRAIntegration"
_REFUSAL = "KueueDRARejectWorkloadsWhenDRADisabled"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Source: `pkg/dra/claims.go`, `kube_features.go` (0.19)."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    if manifest.kind == CONFIGURATION and manifest.group == CONFIGURATION_GROUP:
        listed = mappings(lookup(manifest.data, ("resources", "deviceClassMappings")))
        classes = tuple(name for each in listed for name in texts(each.get("deviceClassNames")))
        gates = mapping(manifest.data.get("featureGates"))
        value = CountedDevices(
            classes, gates.get(_INTEGRATION) is not False, gates.get(_REFUSAL) is not False
        )
        yield Fact(value, {}, answers=True)
    if manifest.kind == TEMPLATE and manifest.group == "resource.k8s.io":
        named = [
            text(each.get("deviceClassName") or lookup(each, ("exactly", "deviceClassName")))
            for each in mappings(lookup(manifest.data, _REQUESTS))
        ]
        yield Fact(ClaimedClasses(namespace, manifest.name, tuple(filter(None, named))), {}, answers=True)
    for pod_set in pod_sets:
        claims = [*numbered(pod_set.spec.get("resourceClaims"))]
        queue = read_queue(manifest.data, pod_set, TARGET_NAME) if claims and not pod_set.stored else None
        if queue is None or is_placeholder(queue.value):
            continue
        for number, each in claims:
            name = text(each.get("resourceClaimTemplateName"))
            if name and not is_placeholder(name):
                place = pod_set.place("resourceClaims", number, "resourceClaimTemplateName")
                yield Fact(QueuedClaim(namespace, name), {"name": place})
