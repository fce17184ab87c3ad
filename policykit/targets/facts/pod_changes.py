"""Facts about objects that may change where pods go when they are admitted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policykit.kube.selectors import of_labels
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest, words_of
from policykit.manifests.shape import mapping, mappings, texts
from policykit.model.pod_admission import PodMutation

if TYPE_CHECKING:
    from policykit.model.colocation import Requirements

_PROFILE = "ClusterColocationProfile"
_POLICIES = frozenset(
    {
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("config.koordinator.sh", _PROFILE),
        ("kyverno.io", "ClusterPolicy"),
        ("kyverno.io", "Policy"),
        ("mutations.gatekeeper.sh", "Assign"),
        ("mutations.gatekeeper.sh", "ModifySet"),
        ("policies.kyverno.io", "MutatingPolicy"),
        ("policies.kyverno.io", "NamespacedMutatingPolicy"),
    }
)
_NAMESPACED = frozenset({"NamespacedMutatingPolicy", "Policy"})
_OF_NAMESPACES = (
    "scheduler.alpha.kubernetes.io/defaultTolerations",
    "scheduler.alpha.kubernetes.io/node-selector",
)
"""Annotations that admission plugins PodTolerationRestriction and PodNodeSelector read."""
_PLACES = "toleration|nodeSelector|[aA]ffinity|schedulerName|runtimeClassName"
"""What a change of pods must mention to place them elsewhere."""
_NAME = "kubernetes.io/metadata.name"
_PLACE_NOTHING = (
    ".amazonaws.com",
    ".azure-workload-identity.io",
    ".istio.io",
    ".linkerd.io",
    ".vault.hashicorp.com",
)
"""Ends of names of webhooks that add containers, variables and volumes to pods."""


def pod_changes(manifest: Manifest) -> Iterator[Fact]:
    """One fact for each namespace whose pods the object may place elsewhere; an empty name: for all."""
    kind = (manifest.group, manifest.kind)
    if kind in _POLICIES:
        if _may_place(manifest):
            yield from _of(manifest, _namespaces(manifest), _pods_of_profile(manifest))
    elif kind == ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"):
        # What a webhook changes is in no file.
        for hook in mappings(manifest.data.get("webhooks")):
            if _admits_pods(hook) and not str(hook.get("name")).endswith(_PLACE_NOTHING):
                yield from _of(manifest, _selected(hook), _pods_of_hook(hook))
    elif kind == ("kueue.x-k8s.io", "LocalQueue"):
        if manifest.name == "default":
            # Kueue gives jobs that name no queue this one: its gate LocalQueueDefaulting.
            yield from _of(manifest, (manifest.namespace,))
    elif kind == ("config.kueue.x-k8s.io", "Configuration"):
        if manifest.data.get("manageJobsWithoutQueueName") is True:
            yield Fact(PodMutation("", "Kueue, which manages jobs without a queue"), {}, answers=True)
    elif manifest.kind == "Namespace" and any(key in manifest.annotations for key in _OF_NAMESPACES):
        yield from _of(manifest, (manifest.name,))


def _of(manifest: Manifest, namespaces: Sequence[str], selects: Requirements = ()) -> Iterator[Fact]:
    for namespace in namespaces:
        yield Fact(PodMutation(namespace, f"{manifest.kind} {manifest.name}", selects), {}, answers=True)


def _pods_of_profile(manifest: Manifest) -> Requirements:
    """Source: `pkg/webhook/pod/mutating/cluster_colocation_profile.go` of Koordinator (0.5 to 1.8)."""
    if manifest.kind != _PROFILE:
        return ()
    return of_labels(mapping(manifest.data.get("spec")).get("selector"))


def _pods_of_hook(hook: Mapping[str, Any]) -> Requirements:
    """By its objectSelector, which of other objects than pods selects those that make them."""
    resources = [name for rule in mappings(hook.get("rules")) for name in texts(rule.get("resources"))]
    return of_labels(hook.get("objectSelector")) if {*resources} == {"pods"} else ()


def _may_place(manifest: Manifest) -> bool:
    """Whether it changes what decides where pods go. Rules of Kyverno that validate or generate do not."""
    return any(_places_pods(changes) for _, changes in _changes(manifest))


def _places_pods(changes: object) -> bool:
    return any(re.search(_PLACES, word) for words in words_of(changes) for word in words)


def _changes(manifest: Manifest) -> Iterator[tuple[Mapping[str, Any], object]]:
    """(rule of Kyverno, what it changes), or what another policy changes."""
    spec = mapping(manifest.data.get("spec"))
    if manifest.group != "kyverno.io":
        yield {}, spec
        return
    for rule in mappings(spec.get("rules")):
        yield rule, rule.get("mutate")


def _namespaces(manifest: Manifest) -> tuple[str, ...]:
    """Those of the pods that it changes, if it lists them."""
    if manifest.kind in _NAMESPACED:
        return (manifest.namespace,)
    if manifest.kind == _PROFILE:
        return _selected(mapping(manifest.data.get("spec")))
    if manifest.group == "mutations.gatekeeper.sh":
        return _listed(mapping(mapping(manifest.data.get("spec")).get("match")).get("namespaces"))
    if manifest.group != "kyverno.io":
        return ("",)
    found: list[str] = []
    for rule, changes in _changes(manifest):
        if _places_pods(changes):
            found += _of_rule(mapping(rule.get("match")))
    return ("",) if "" in found else tuple(dict.fromkeys(found))


def _of_rule(match: Mapping[str, Any]) -> Iterator[str]:
    """Of a rule of Kyverno: every filter of `any` may match, and all of `all` must."""
    if every := [mapping(each.get("resources")) for each in mappings(match.get("all"))]:
        yield from min((_listed(each.get("namespaces")) for each in every), key=lambda names: "" in names)
        return
    chosen = [mapping(each.get("resources")) for each in mappings(match.get("any"))]
    for each in chosen or [mapping(match.get("resources"))]:
        yield from _listed(each.get("namespaces"))


def _listed(namespaces: object) -> tuple[str, ...]:
    """An empty name: any namespace, as where none is listed or a name has a wildcard."""
    names = texts(namespaces)
    return names if names and not any("*" in name or "?" in name for name in names) else ("",)


def _admits_pods(hook: Mapping[str, Any]) -> bool:
    for rule in mappings(hook.get("rules")):
        groups, resources, operations = (
            texts(rule.get(field)) for field in ("apiGroups", "resources", "operations")
        )
        made = {"CREATE", "*"}.intersection(operations)
        if made and {"", "*"}.intersection(groups) and {"pods", "*", "*/*"}.intersection(resources):
            return True
    return False


def _selected(hook: Mapping[str, Any]) -> tuple[str, ...]:
    """Namespaces that a webhook or profile names by their label."""
    selector = mapping(hook.get("namespaceSelector"))
    name = mapping(selector.get("matchLabels")).get(_NAME)
    if isinstance(name, str):
        return (name,)
    for one in mappings(selector.get("matchExpressions")):
        if one.get("key") == _NAME and one.get("operator") == "In":
            return texts(one.get("values")) or ("",)
    return ("",)
