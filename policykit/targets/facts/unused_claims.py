"""Facts about claims of cards that no container of the pod uses, or one that requests cards as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.catalogue.cards import vendors
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mappings, numbered, text
from policykit.model.references import NamedParts, PartReference

_GROUP = "resource.k8s.io"
_REQUESTS: Mapping[str, Path] = {
    "ResourceClaim": ("spec", "devices", "requests"),
    "ResourceClaimTemplate": ("spec", "spec", "devices", "requests"),
}
_NAMED: Mapping[str, str] = {
    "resourceClaimName": "ResourceClaim",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
}
_PART, _NONE = "use without a container", "any"
"""Adapters of a network are given to the pod, and cards to containers."""
_TWICE = "use beside cards"
_CHANNELS = frozenset({"compute-domain-default-channel.nvidia.com"})
"""Classes of what containers use beside their cards."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Source: `GetResources` of the kubelet's manager for devices by claim (v1.36)."""
    if manifest.partial:
        return
    if manifest.group == _GROUP and manifest.kind in _REQUESTS:
        requests = mappings(lookup(manifest.data, _REQUESTS[manifest.kind]))
        cards = {name for vendor in vendors() for name in vendor.dra_classes}
        named = {
            text(each.get("deviceClassName") or lookup(each, ("exactly", "deviceClassName")))
            for each in requests
        }
        names = frozenset(() if named and named <= cards else (_NONE,))
        owner = _owner(manifest.kind, manifest.name)
        yield Fact(NamedParts(owner, "", _PART, names), {}, answers=True)
        others = frozenset(
            each.vendor for each in vendors() if not named or not named <= {*each.dra_classes} - _CHANNELS
        )
        yield Fact(NamedParts(owner, "", _TWICE, others), {}, answers=True)
    for pod_set in pod_sets:
        claims = [*numbered(pod_set.spec.get("resourceClaims"))]
        if not claims or not (any(containers(pod_set.spec)) or pod_set.spec.get("mainContainer")):
            continue
        yield from _twice(pod_set, {text(each.get("name")): each for _, each in claims})
        used = {*_used(manifest.data)}
        for number, each in claims:
            for field, kind in _NAMED.items():
                name, own = text(each.get(field)), text(each.get("name"))
                if name and own and own not in used and not any(map(is_placeholder, (name, own, *used))):
                    place = pod_set.place("resourceClaims", number, "name")
                    message = (
                        f"no container of the pod uses the claim {own}: its card is taken, and none sees it"
                    )
                    advice = f"add resources: {{claims: [{{name: {own}}}]}} to the container"
                    value = PartReference(_owner(kind, name), "", _PART, _NONE, advice, message)
                    yield Fact(value, {"name": place})


def _twice(pod_set: PodSet, claims: Mapping[str, Mapping[str, object]]) -> Iterator[Fact]:
    """Claims of containers that request cards of a device plugin, too."""
    makers = {each.resource: each.vendor for each in vendors() if each.dra_classes}
    for field, position, container in containers(pod_set.spec):
        asked = [name for name, amount in requested(container).items() if amount and name in makers]
        for number, used in numbered(lookup(container, ("resources", "claims"))) if asked else ():
            claim = claims.get(text(used.get("name")), {})
            for key, kind in _NAMED.items():
                if (name := text(claim.get(key))) and not is_placeholder(name):
                    message = (
                        f"the container has the cards of {kind} {name} and requests {asked[0]} too: it waits "
                        "for a node that has both, and takes both"
                    )
                    advice = f"delete {asked[0]}, or the claim"
                    value = PartReference(_owner(kind, name), "", _TWICE, makers[asked[0]], advice, message)
                    place = pod_set.place(field, position, "resources", "claims", number, "name")
                    yield Fact(value, {"name": place})


def _owner(kind: str, name: str) -> str:
    return f"{kind} {name}"


def _used(data: object) -> Iterator[str]:
    """Names in lists of claims, wherever a kind has them."""
    pending = [data]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            for each in mappings(found.get("claims")):
                yield text(each.get("name"))
            pending.extend(found.values())
        elif isinstance(found, list):
            pending.extend(found)
