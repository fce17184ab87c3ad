"""Facts about parts of ordinary objects that others name: ports, keys, labels of namespaces, workspaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_capitals, is_filled_in
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, numbered, pairs, text, whole
from policykit.model.references import NamedParts, NamedTarget, PartReference

_PORT, _KEY, _WORKSPACE = "port", "key", "workspace"


def services(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Ports of Services, those that an Ingress or a route sends to, and the ports of pods that they name."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    kind = (manifest.group, manifest.kind)
    if kind == ("", "Service"):
        yield from _service(manifest, namespace)
    elif kind == ("networking.k8s.io", "Ingress"):
        for path, backend in _backends(manifest.data):
            yield from _sent(mapping(backend.get("service")), (*path, "service"), namespace)
    elif kind in _ROUTES:
        for position, rule in numbered(lookup(manifest.data, ("spec", "rules"))):
            for number, one in numbered(rule.get("backendRefs")):
                if one.get("kind", "Service") == "Service" and one.get("group", "") == "":
                    at: Path = ("spec", "rules", position, "backendRefs", number, "port")
                    there = text(one.get("namespace")) or namespace
                    yield from _to_port(text(one.get("name")), one.get("port"), at, there)


_ROUTES = (("gateway.networking.k8s.io", "GRPCRoute"), ("gateway.networking.k8s.io", "HTTPRoute"))


def _service(manifest: Manifest, namespace: str) -> Iterator[Fact]:
    spec = mapping(manifest.data.get("spec"))
    listed = [each for _, each in numbered(spec.get("ports"))]
    names = {str(each[field]) for each in listed for field in ("name", "port") if each.get(field)}
    if names and not any(map(is_filled_in, names)):
        yield Fact(
            NamedParts(f"Service {manifest.name}", namespace, _PORT, frozenset(names)), {}, answers=True
        )
    selector = pairs(spec.get("selector"))
    for position, port in numbered(spec.get("ports")) if selector else ():
        target = port.get("targetPort")
        if isinstance(target, str) and target and not target.isdigit() and not _to_fill(target):
            place: Path = ("spec", "ports", position, "targetPort")
            stated = manifest.namespace or ""
            yield Fact(NamedTarget(selector, stated, target), {"name": place})


def _to_fill(name: str) -> bool:
    return is_filled_in(name) or is_capitals(name)


def _backends(data: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield ("spec", "defaultBackend"), mapping(lookup(data, ("spec", "defaultBackend")))
    for position, rule in numbered(lookup(data, ("spec", "rules"))):
        for number, one in numbered(lookup(rule, ("http", "paths"))):
            at: Path = ("spec", "rules", position, "http", "paths", number, "backend")
            yield at, mapping(one.get("backend"))


def _sent(service: Mapping[str, Any], path: Path, namespace: str) -> Iterator[Fact]:
    port = mapping(service.get("port"))
    for field in ("name", "number"):
        if port.get(field):
            at: Path = (*path, "port", field)
            yield from _to_port(text(service.get("name")), port[field], at, namespace)


def _to_port(service: str, port: object, at: Path, namespace: str) -> Iterator[Fact]:
    known = isinstance(port, str) or whole(port) is not None
    if service and known and not is_filled_in(service) and not is_filled_in(str(port)):
        yield Fact(PartReference(f"Service {service}", namespace, _PORT, str(port)), {"name": at})


def keys(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of ConfigMaps and Secrets; one without any is filled by a program."""
    if manifest.partial or manifest.group or manifest.kind not in ("ConfigMap", "Secret"):
        return
    fields = ("data", "binaryData", "stringData")
    there = [manifest.data.get(field) for field in fields]
    names = frozenset(str(key) for each in there for key in mapping(each))
    if names and all(isinstance(each, (dict, type(None))) for each in there):
        owner, namespace = f"{manifest.kind} {manifest.name}", manifest.namespace or context.namespace
        yield Fact(NamedParts(owner, namespace, _KEY, names), {}, answers=True)


_SOURCES = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))


def used_keys(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Keys that variables of containers take."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    for pod_set in pod_sets:
        for field, position, container in containers(pod_set.spec):
            for number, each in numbered(container.get("env")):
                for source, kind in _SOURCES:
                    named = lookup(each, ("valueFrom", source))
                    if not isinstance(named, dict) or named.get("optional"):
                        continue
                    owner, key = text(named.get("name")), text(named.get("key"))
                    if owner and key and not is_filled_in(owner) and not is_filled_in(key):
                        at = pod_set.place(field, position, "env", number, "valueFrom", source, "key")
                        yield Fact(PartReference(f"{kind} {owner}", namespace, _KEY, key), {"name": at})


_OF_NAMES = ("kubernetes.io/name", "name", "namespace", "ns")
"""Labels in which people look for the name of a namespace."""
_BY_NAME = "kubernetes.io/metadata.name"


def namespaces(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Labels of namespaces, and network policies that choose a namespace by its name."""
    if manifest.partial:
        return
    if (manifest.group, manifest.kind) == ("", "Namespace"):
        labels = pairs(lookup(manifest.data, ("metadata", "labels")))
        names = frozenset({*(f"{key}: {value}" for key, value in labels.items())})
        yield Fact(NamedParts(f"Namespace {manifest.name}", "", "label", names), {}, answers=True)
    elif (manifest.group, manifest.kind) == ("networking.k8s.io", "NetworkPolicy"):
        for path, chosen in _chosen(mapping(manifest.data.get("spec"))):
            for key, value in chosen.items():
                if key in _OF_NAMES and not is_filled_in(value):
                    owner = f"Namespace {value}"
                    message = f"{owner} has no label {key}: namespaces are selected by their labels"
                    advice = f"write {_BY_NAME}, which each namespace has, or give it the label"
                    reference = PartReference(owner, "", "label", f"{key}: {value}", advice, message)
                    yield Fact(reference, {"name": (*path, key)})


def _chosen(spec: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, str]]]:
    for side, field in (("ingress", "from"), ("egress", "to")):
        for position, rule in numbered(spec.get(side)):
            for number, peer in numbered(rule.get(field)):
                at: Path = ("namespaceSelector", "matchLabels")
                yield ("spec", side, position, field, number, *at), pairs(lookup(peer, at))


def workspaces(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Those of tasks of Tekton, and those that a pipeline gives them.

    Source: `ValidateBindings` of `pkg/workspace` (Tekton Pipelines v1.15).
    """
    if manifest.partial or manifest.group != "tekton.dev":
        return
    namespace = manifest.namespace or context.namespace
    if manifest.kind == "Task":
        listed = lookup(manifest.data, ("spec", "workspaces"))
        names = [text(each.get("name")) for _, each in numbered(listed)]
        if all(names) and not any(map(is_filled_in, names)) and isinstance(listed, (list, type(None))):
            yield Fact(
                NamedParts(f"Task {manifest.name}", namespace, _WORKSPACE, frozenset(names)), {}, answers=True
            )
    for field in ("tasks", "finally") if manifest.kind == "Pipeline" else ():
        for position, one in numbered(lookup(manifest.data, ("spec", field))):
            task = mapping(one.get("taskRef"))
            owner = text(task.get("name"))
            if not owner or task.get("kind", "Task") != "Task" or task.get("resolver") is not None:
                continue
            for number, given in numbered(one.get("workspaces")):
                name = text(given.get("name"))
                if name and not is_filled_in(name) and not is_filled_in(owner):
                    at: Path = ("spec", field, position, "workspaces", number, "name")
                    yield Fact(PartReference(f"Task {owner}", namespace, _WORKSPACE, name), {"name": at})
