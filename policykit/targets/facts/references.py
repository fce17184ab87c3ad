"""Facts about what workloads name: runtimes, Ray clusters, device claims, and pods of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.catalogue.resources import is_card
from policykit.kube.autoscaling import read_vertical
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers, effective
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, numbered, pairs, text, whole
from policykit.model.references import (
    NamedObject,
    NamedParts,
    ObjectReference,
    PartReference,
    PodSelector,
)
from policykit.targets import target_name_of

_TEMPLATE, _CLAIM, _CLASS = "ResourceClaimTemplate", "ResourceClaim", "DeviceClass"
_PRIORITY, _NETWORK = "PriorityClass", "NetworkAttachmentDefinition"
_MAKES_NETWORK = (
    *(("mellanox.com", kind) for kind in ("HostDeviceNetwork", "IPoIBNetwork", "MacvlanNetwork")),
    *(("sriovnetwork.openshift.io", kind) for kind in ("OVSNetwork", "SriovIBNetwork", "SriovNetwork")),
)
"""Objects of which an operator makes a NetworkAttachmentDefinition of the same name."""
ALL_NETWORKS = (_NETWORK, *(kind for _, kind in _MAKES_NETWORK))
DECLARED = frozenset(
    {
        ("k8s.cni.cncf.io", _NETWORK),
        ("karpenter.azure.com", "AKSNodeClass"),
        ("karpenter.k8s.aws", "EC2NodeClass"),
        *_MAKES_NETWORK,
        ("ray.io", "RayCluster"),
        ("resource.k8s.io", _CLAIM),
        ("resource.k8s.io", _CLASS),
        ("resource.k8s.io", _TEMPLATE),
        ("scheduling.k8s.io", _PRIORITY),
        ("serving.kserve.io", "ClusterServingRuntime"),
        ("serving.kserve.io", "ServingRuntime"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        ("trainer.kubeflow.org", "TrainingRuntime"),
    }
)
"""API group and kind of the objects that others name."""
_SPACED = frozenset({_CLAIM, _NETWORK, "PersistentVolumeClaim"})
"""Kinds of which pods find only those of their own namespace. Templates of claims are often in several."""
_REFERENCES: Mapping[tuple[str, str], tuple[Path, tuple[str, ...]]] = {
    ("ray.io", "RayJob"): (("spec", "clusterSelector", "ray.io/cluster"), ("RayCluster",)),
    ("serving.kserve.io", "InferenceService"): (
        ("spec", "predictor", "model", "runtime"),
        ("ClusterServingRuntime", "ServingRuntime"),
    ),
}
"""Of each kind where it names another, and the kinds that may have the name."""
_BY_KIND: Mapping[tuple[str, str], tuple[Path, tuple[str, ...]]] = {
    ("karpenter.sh", "NodePool"): (
        ("spec", "template", "spec", "nodeClassRef"),
        ("EC2NodeClass", "AKSNodeClass"),
    ),
    ("trainer.kubeflow.org", "TrainJob"): (
        ("spec", "runtimeRef"),
        ("ClusterTrainingRuntime", "TrainingRuntime"),
    ),
}
"""Of each kind where it names another by kind and name, and the kinds: the first one is the default."""
_DOMAIN_CLAIM: Path = ("spec", "channel", "resourceClaimTemplate", "name")
"""The template that NVIDIA's driver makes for a ComputeDomain."""
_REQUESTS: Mapping[str, Path] = {
    _CLAIM: ("spec", "devices", "requests"),
    _TEMPLATE: ("spec", "spec", "devices", "requests"),
}


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Nothing of a patch: the rest of it is elsewhere."""
    if manifest.partial:
        return
    kind = (manifest.group, manifest.kind)
    if kind in DECLARED:
        space = manifest.namespace or "" if manifest.kind in _SPACED else ""
        yield Fact(NamedObject(manifest.kind, manifest.name, space), {}, answers=True)
    if kind in _REFERENCES:
        path, kinds = _REFERENCES[kind]
        yield from _reference(lookup(manifest.data, path), path, kinds)
    if kind in _BY_KIND:
        path, kinds = _BY_KIND[kind]
        named = mapping(lookup(manifest.data, path))
        wanted = named.get("kind", kinds[0])
        if wanted in kinds:
            yield from _reference(named.get("name"), (*path, "name"), (wanted,))
    made = text(lookup(manifest.data, _DOMAIN_CLAIM)) if manifest.kind == "ComputeDomain" else ""
    if made:
        yield Fact(NamedObject(_TEMPLATE, made), {}, answers=True)
    base = _REQUESTS.get(manifest.kind)
    for number in _positions(lookup(manifest.data, base)) if base and kind in DECLARED else ():
        for field in ((), ("exactly",)):
            path = (*(base or ()), number, *field, "deviceClassName")
            yield from _reference(lookup(manifest.data, path), path, (_CLASS,))
    if kind == ("", "ResourceQuota"):
        yield from _quota_classes(manifest)
    for pod_set in pod_sets:
        for number in _positions(pod_set.spec.get("resourceClaims")):
            for key, kinds in (("resourceClaimTemplateName", (_TEMPLATE,)), ("resourceClaimName", (_CLAIM,))):
                name = lookup(pod_set.spec, ("resourceClaims", number, key))
                at = pod_set.place("resourceClaims", number, key)
                space = manifest.namespace or "" if kinds[0] in _SPACED else ""
                yield from _reference(name, at, kinds, space)


_SCOPES: Path = ("spec", "scopeSelector", "matchExpressions")


def _quota_classes(manifest: Manifest) -> Iterator[Fact]:
    """Priority classes whose pods a quota counts."""
    for number, each in numbered(lookup(manifest.data, _SCOPES)):
        if each.get("scopeName") == _PRIORITY and each.get("operator") in ("In", "NotIn"):
            listed = each.get("values")
            for position, name in enumerate(listed if isinstance(listed, list) else ()):
                path: Path = (*_SCOPES, number, "values", position)
                yield from _reference(name, path, (_PRIORITY,))


def vertical_scalers(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of VerticalPodAutoscalers."""
    if manifest.group == "autoscaling.k8s.io" and not manifest.partial:
        found = read_vertical(manifest, context.namespace)
        if found is not None:
            yield Fact(found, {"name": ("spec", "targetRef", "name")})


_NAMED = frozenset({"ConfigMap", "PersistentVolumeClaim", "Secret", "Service", "ServiceAccount"})


def names(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Objects of Kubernetes itself that pods with cards name, and those that are here."""
    if manifest.partial:
        return
    if manifest.kind in _NAMED and not manifest.group:
        space = manifest.namespace or "" if manifest.kind in _SPACED else ""
        yield Fact(NamedObject(manifest.kind, manifest.name, space), {}, answers=True)
    for pod_set in pod_sets:
        if not any(is_card(name) for name in effective(pod_set.spec, pod_set.devices)):
            continue
        if manifest.kind == "StatefulSet":
            path: Path = ("spec", "serviceName")
            yield from _reference(lookup(manifest.data, path), path, ("Service",))
        for kind, place, name in _of_pod(pod_set.spec):
            space = manifest.namespace or "" if kind in _SPACED else ""
            yield from _reference(name, pod_set.place(str(place[0]), *place[1:]), (kind,), space)


_SOURCES = (
    ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
    ("configMap", "name", "ConfigMap"),
    ("secret", "secretName", "Secret"),
)
_VARIABLES = (
    ("configMapKeyRef", "ConfigMap"),
    ("configMapRef", "ConfigMap"),
    ("secretKeyRef", "Secret"),
    ("secretRef", "Secret"),
)


def _of_pod(spec: Mapping[str, object]) -> Iterator[tuple[str, Path, object]]:
    """Kind and place of each name, and the name, but for what may be missing."""
    if "serviceAccountName" in spec:
        yield "ServiceAccount", ("serviceAccountName",), spec["serviceAccountName"]
    for number, volume in numbered(spec.get("volumes")):
        for field, key, kind in _SOURCES:
            source = volume.get(field)
            if isinstance(source, dict) and not source.get("optional"):
                yield kind, ("volumes", number, field, key), source.get(key)
    for field, position, container in containers(spec):
        for number, each in numbered(container.get("env")):
            at: Path = (field, position, "env", number, "valueFrom")
            yield from _of_variable(each.get("valueFrom"), at)
        for number, each in numbered(container.get("envFrom")):
            yield from _of_variable(each, (field, position, "envFrom", number))


def _of_variable(source: object, at: Path) -> Iterator[tuple[str, Path, object]]:
    stated = mapping(source)
    for key, kind in _VARIABLES if stated else ():
        named = stated.get(key)
        if isinstance(named, dict) and not named.get("optional"):
            yield kind, (*at, key, "name"), named.get("name")


PROFILE = "scheduler profile"


def schedulers(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Profiles of schedulers, and pods that name one that nothing else is known of."""
    if manifest.partial:
        return
    if manifest.kind == "KubeSchedulerConfiguration":
        for profile in mappings(manifest.data.get("profiles")):
            if name := text(profile.get("schedulerName")):
                yield Fact(NamedObject(PROFILE, name), {}, answers=True)
    for pod_set in pod_sets:
        name, path = pod_set.scheduler_name, pod_set.scheduler_path
        if name and path is not None and target_name_of(name, context.cluster) is None:
            yield from _reference(name, path, (PROFILE,))


def requests(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of device claims and their templates, and the containers that use one of several."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    base = _REQUESTS.get(manifest.kind)
    if base and (manifest.group, manifest.kind) in DECLARED:
        names = frozenset(text(each.get("name")) for each in mappings(lookup(manifest.data, base)))
        if names and not any(not name or is_placeholder(name) for name in names):
            yield Fact(
                NamedParts(f"{manifest.kind} {manifest.name}", namespace, "request", names), {}, answers=True
            )
    for pod_set in pod_sets:
        owners = {
            text(each.get("name")): _claim(each) for each in mappings(pod_set.spec.get("resourceClaims"))
        }
        for field, position, container in containers(pod_set.spec):
            for number, each in enumerate(mappings(lookup(container, ("resources", "claims")))):
                name, owner = text(each.get("request")), owners.get(text(each.get("name")), "")
                if name and owner and not is_placeholder(name):
                    place = pod_set.place(field, position, "resources", "claims", number, "request")
                    yield Fact(PartReference(owner, namespace, "request", name), {"name": place})


def _claim(stated: Mapping[str, object]) -> str:
    for key, kind in (("resourceClaimTemplateName", _TEMPLATE), ("resourceClaimName", _CLAIM)):
        if name := text(stated.get(key)):
            return f"{kind} {name}"
    return ""


def files(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Keys of ConfigMaps with the configuration of a scheduler, and the files that schedulers are told."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    if manifest.kind == "ConfigMap" and not manifest.group:
        data = mapping(manifest.data.get("data"))
        if any("KubeSchedulerConfiguration" in text(each) for each in data.values()):
            names = frozenset(str(key) for key in (*data, *mapping(manifest.data.get("binaryData"))))
            yield Fact(NamedParts(f"ConfigMap {manifest.name}", namespace, "key", names), {}, answers=True)
    for pod_set in (each for each in pod_sets if "volumes" in each.spec):
        from policykit.kube.command_line import configuration

        for field, position, container in containers(pod_set.spec):
            file = configuration(container, pod_set.spec)
            if file and not (file.optional or is_placeholder(file.name) or is_placeholder(file.key)):
                at = pod_set.place(field, position, *file.path)
                yield Fact(PartReference(f"ConfigMap {file.name}", namespace, "key", file.key), {"name": at})


_TERMS: Path = ("affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
_APART: Path = ("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


def selectors(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of a budget, and of pods with required affinity; what a pod itself meets needs no others."""
    if manifest.partial:
        return
    if manifest.kind == "PodDisruptionBudget" and manifest.group == "policy":
        for found in _selector(manifest.data, ("spec", "selector"), ("spec", "selector"), ""):
            stated = manifest.namespace or (context.namespace if context.namespace != "default" else "")
            value = found.value._replace(budget=manifest.name, namespace=stated)
            yield _kept(value, mapping(manifest.data.get("spec")), found.places)
    for pod_set in pod_sets:
        for number in _positions(lookup(pod_set.spec, _TERMS)):
            path: Path = (*_TERMS, number, "labelSelector")
            fault = ": the pod stays pending"
            for found in _selector(pod_set.spec, path, pod_set.place(str(path[0]), *path[1:]), fault):
                if not found.value.labels.items() <= pod_set.labels.items():
                    yield found
        if "affinity" in pod_set.spec:
            yield from _near_others(manifest, pod_set, context)


def _kept(value: PodSelector, spec: Mapping[str, Any], places: Mapping[str, Path]) -> Fact:
    """With how many pods stay. Source: `getExpectedPodCount` of the disruption controller (v1.36)."""
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is None and most is None:
        return Fact(value, places)
    field = "maxUnavailable" if least is None else "minAvailable"
    everything = least == "100%" if least is not None else most in ("0%", "0") or whole(most) == 0
    share = least is None or (isinstance(least, str) and least.endswith("%"))
    kept = value._replace(kept=whole(least) or 0, keeps_all=everything, is_share=share)
    return Fact(kept, {**places, "bound": ("spec", field)})


def _near_others(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[Fact]:
    from policykit.placement.pod_affinity import affine, empty_selections, separate
    from policykit.placement.review import review

    if lookup(pod_set.spec, _APART) and not pod_set.stored:
        apart = separate(review(manifest, pod_set, context.cluster, context.namespace))
        yield from [Fact(apart, _terms_at(pod_set, _APART, len(apart.terms)))] if apart else ()
    empty = [*empty_selections(pod_set)]
    yield from (Fact(each, {"term": path}) for path, each in empty)
    if any(each.waits for _, each in empty) or pod_set.stored:
        return
    found = affine(review(manifest, pod_set, context.cluster, context.namespace))
    if found is not None:
        yield Fact(found, _terms_at(pod_set, _TERMS, len(found.terms)))


def _terms_at(pod_set: PodSet, path: Path, number: int) -> dict[str, Path]:
    return {str(n): pod_set.place(str(path[0]), *path[1:], n, "labelSelector") for n in range(number)}


def _selector(data: object, path: Path, at: Path, fault: str) -> Iterator[Fact]:
    """By labels alone: an expression may select what is not known."""
    stated = mapping(lookup(data, path))
    labels = pairs(stated.get("matchLabels"))
    if labels and not stated.get("matchExpressions"):
        places = {"selector": at, **{key: (*at, "matchLabels", key) for key in labels}}
        yield Fact(PodSelector(labels, fault), places)


def _reference(name: object, path: Path, kinds: tuple[str, ...], space: str = "") -> Iterator[Fact]:
    """`space`: the namespace in which it is looked for, if that is stated."""
    if text(name) and not is_placeholder(text(name)):
        yield Fact(ObjectReference(kinds, text(name), space), {"name": path})


def _positions(listed: object) -> range:
    return range(len(listed)) if isinstance(listed, list) else range(0)
