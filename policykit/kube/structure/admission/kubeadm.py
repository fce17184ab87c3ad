"""What kubeadm, and the kubelets that it starts, refuse of its configurations.

Sources: `apis/kubeadm/v1beta1` to `v1beta4` of kubeadm and the flags of the kubelet (Kubernetes v1.36);
`api/bootstrap/kubeadm` of Cluster API (v1beta1 and v1beta2).
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, refused
from policykit.kube.structure.admission.kubelet_configuration import node_labels
from policykit.kube.structure.problem import BAD_VALUE, WRONG_TYPE, described, expected
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, mappings, numbered, text
from policykit.model.severity import Severity
from policykit.nearest import nearest

_MAPS = frozenset({"v1alpha1", "v1alpha2", "v1alpha3", "v1beta1", "v1beta2", "v1beta3"})
"""Versions of kubeadm's configuration whose arguments are a map."""
_MAPS_OF_CLUSTER_API = frozenset({"v1alpha2", "v1alpha3", "v1alpha4", "v1beta1"})
_OF_COMPONENTS: tuple[Path, ...] = (
    *((component, "extraArgs") for component in ("apiServer", "controllerManager", "scheduler")),
    ("etcd", "local", "extraArgs"),
)
_OF_KUBELET: Path = ("nodeRegistration", "kubeletExtraArgs")
_OF_CLUSTER_API: tuple[Path, ...] = (
    ("spec",),
    ("spec", "template", "spec"),
    ("spec", "kubeadmConfigSpec"),
    ("spec", "template", "spec", "kubeadmConfigSpec"),
)
"""Where objects of Cluster API have kubeadm's configurations."""
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def cluster(data: Data) -> Iterator[Problem]:
    """kubeadm's ClusterConfiguration."""
    yield from _cluster(data, (), listed=_version(data) not in _MAPS)


def registration(data: Data) -> Iterator[Problem]:
    """kubeadm's InitConfiguration or JoinConfiguration."""
    yield from _registered(data, (), listed=_version(data) not in _MAPS)


def of_cluster_api(data: Data) -> Iterator[Problem]:
    """Objects of Cluster API with kubeadm's configurations inside."""
    listed = _version(data) not in _MAPS_OF_CLUSTER_API
    for base in _OF_CLUSTER_API:
        inner = mapping(lookup(data, base))
        path = (*base, "clusterConfiguration")
        yield from _cluster(mapping(inner.get("clusterConfiguration")), path, listed=listed)
        for field in ("initConfiguration", "joinConfiguration"):
            yield from _registered(mapping(inner.get(field)), (*base, field), listed=listed)


def cluster_configurations(data: Data) -> Iterator[tuple[Data, Path, str]]:
    """Each ClusterConfiguration in an object, its place, and the release of Kubernetes; empty: not stated."""
    if data.get("kind") == "ClusterConfiguration":
        yield data, (), text(data.get("kubernetesVersion"))
    for base in _OF_CLUSTER_API:
        path = (*base, "clusterConfiguration")
        if inner := mapping(lookup(data, path)):
            yield inner, path, text(lookup(data, ("spec", "version")) or inner.get("kubernetesVersion"))


def _version(data: Data) -> str:
    return text(data.get("apiVersion")).rpartition("/")[2]


def _cluster(data: Data, base: Path, *, listed: bool) -> Iterator[Problem]:
    for path in _OF_COMPONENTS:
        yield from _form(lookup(data, path), (*base, *path), listed=listed)


def _registered(data: Data, base: Path, *, listed: bool) -> Iterator[Problem]:
    path, stated = (*base, *_OF_KUBELET), lookup(data, _OF_KUBELET)
    yield from _form(stated, path, listed=listed)
    for name, value, place in arguments(stated, path):
        if name == "node-labels":
            yield from node_labels(value, place)
        elif name == "register-with-taints" and not is_filled_in(text(value)):
            for taint in text(value).split(","):
                yield from _effect(taint.rpartition(":")[2], place, f"has {taint}, whose effect")
    taints: Path = ("nodeRegistration", "taints")
    for position, each in enumerate(mappings(lookup(data, taints))):
        effect = text(each.get("effect"))
        yield from _effect(effect, (*base, *taints, position, "effect"), f"is {effect}, which")


def arguments(stated: object, base: Path) -> Iterator[tuple[str, object, Path]]:
    """Name, value and place of each argument of a component, in either form."""
    for name, value in mapping(stated).items():
        yield str(name), value, (*base, name)
    for position, each in numbered(stated):
        yield text(each.get("name")), each.get("value"), (*base, position, "value")


def _form(stated: object, path: Path, *, listed: bool) -> Iterator[Problem]:
    """Arguments are a map of texts, and a list since v1beta4 and Cluster API's v1beta2."""
    if isinstance(stated, dict) and listed and stated:
        name = str(next(iter(stated)))
        wanted = f"- {{name: {name}, value: ...}}"
        yield refused(path, "is a map, but a list in this apiVersion", f"write {wanted}", kind=WRONG_TYPE)
    elif isinstance(stated, list) and not listed and stated:
        name = text(mapping(stated[0]).get("name")) or "name"
        fault = "is a list, but a map in this apiVersion"
        yield refused(path, fault, f"write {name}: value", kind=WRONG_TYPE)
    else:
        for _, value, place in arguments(stated, path):
            if isinstance(value, (bool, int, float)):
                fault = f"must be {expected('string')}, but is {described(value)}"
                yield refused(place, fault, "put the value in quotes", kind=WRONG_TYPE)


def _effect(effect: str, path: Path, what: str) -> Iterator[Problem]:
    if effect and effect not in _EFFECTS and not is_filled_in(effect):
        near = nearest(effect, _EFFECTS)
        yield refused(
            path,
            f"{what} is not one of {', '.join(_EFFECTS)}: the kubelet does not start",
            f"did you mean {near}?" if near else "write one of them",
            Severity.WARNING,
            kind=BAD_VALUE,
        )
