"""Facts about device claims with an administrator's access, and the namespaces that may have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import numbered
from policykit.model.references import NamedParts, PartReference

_LABEL = "resource.kubernetes.io/admin-access"
_LABELS = (_LABEL, "resource.k8s.io/admin-access")
"""The second is that of 1.33. Source: `DRAAdminNamespaceLabelKey` in api/resource."""
_PART, _ALLOWED = "label", f'{_LABEL}: "true"'
_GROUP = "resource.k8s.io"
_REQUESTS: Mapping[str, Path] = {
    "ResourceClaim": ("spec", "devices", "requests"),
    "ResourceClaimTemplate": ("spec", "spec", "devices", "requests"),
}
_FIELDS: tuple[Path, ...] = (("exactly", "adminAccess"), ("adminAccess",))


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `AuthorizedForAdmin` in kubernetes `pkg/registry/resource` (v1.36)."""
    if manifest.partial:
        return
    if manifest.kind == "Namespace" and not manifest.group:
        stated = [manifest.labels.get(label, "") for label in _LABELS]
        allowed = any(each == "true" or is_placeholder(each) for each in stated)
        names = frozenset({_ALLOWED} if allowed else ())
        yield Fact(NamedParts(_owner(manifest.name), "", _PART, names), {}, answers=True)
    namespace = manifest.namespace or context.namespace
    if manifest.group != _GROUP or namespace == "default" or is_placeholder(namespace):
        return
    for number, request in numbered(lookup(manifest.data, _REQUESTS.get(manifest.kind, ()))):
        for field in _FIELDS:
            if lookup(request, field) is True:
                message = f"adminAccess needs the label {_ALLOWED} of Namespace {namespace}, which lacks it: "
                message += "the API server refuses the claim"
                advice = "add the label to the Namespace, or delete adminAccess"
                value = PartReference(_owner(namespace), "", _PART, _ALLOWED, advice, message)
                yield Fact(value, {"name": (*_REQUESTS[manifest.kind], number, *field)})


def _owner(name: str) -> str:
    return f"Namespace {name}"
