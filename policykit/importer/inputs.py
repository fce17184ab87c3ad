"""The files given, read into what was found in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policykit.errors import faults_at
from policykit.generator.bundle import owner
from policykit.importer import documents
from policykit.importer.found import Found
from policykit.importer.generated.components import component
from policykit.importer.generated.pools import levels, pools, words
from policykit.importer.objects import (
    koordinator,
    koordinator_objects,
    kubernetes,
    nodes,
    volcano,
    volcano_objects,
    yunikorn,
)
from policykit.linter.reader import is_template
from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping, mappings, text
from policykit.targets.koordinator.scheduler.chart import KEY
from policykit.targets.kubernetes.scheduler import second
from policykit.targets.volcano.generate import NAMESPACE as VOLCANO_NAMESPACE
from policykit.targets.yunikorn.configuration import configmap

Files = Mapping[str, bytes]
"""Path, with `/`, to content, in the order they are read."""

_PAGES = {
    "volcano/README.md": "volcano",
    "koordinator/README.md": "koordinator",
    "yunikorn/README.md": "yunikorn",
    "kubernetes/README.md": "kubernetes",
}
_PROVIDERS = {"gke": "gke", "aks": "aks", "eksctl": "eks", "ack": "ack"}
"""Beginning of the file with a cloud's own form of a pool, to the cloud."""
_IMAGES = {"vc-scheduler": "volcano", "koord-scheduler": "koordinator"}
"""Image of a scheduler to its system."""
_OURS = ("Kustomization", "Component", "Policy")
_RELEASE = re.compile(r"`helm upgrade \S+ \S+ -n (\S+) ")
"""The command by which a page has a release upgraded, and the namespace of that."""
_NAMESPACES = {"volcano": VOLCANO_NAMESPACE, "yunikorn": configmap.NAMESPACE}
_TO_RUN = frozenset({"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"})
"""Objects beside a scheduler's Deployment: what it may do."""

_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Found], None]] = {
    "PriorityClass": kubernetes.priority_class,
    "ResourceQuota": kubernetes.resource_quota,
    "LimitRange": kubernetes.limit_range,
    "HorizontalPodAutoscaler": kubernetes.autoscaler,
    "Queue": volcano_objects.queue,
    "HyperNode": volcano_objects.hyper_node,
    "ElasticQuota": koordinator_objects.elastic_quota,
    "Reservation": koordinator_objects.reservation,
    "ClusterColocationProfile": koordinator_objects.colocation,
    "ClusterNetworkTopology": koordinator_objects.network_topology,
}


def read(files: Files) -> Found:
    """Everything the files hold. Raises SourceError for a file that is not text or not YAML."""
    found = Found()
    made = {path: said for path, raw in files.items() if owner(said := documents.text(raw, path))}
    _generated(made, found)
    for path, raw in files.items():
        if path not in made or not _by_place(path):
            with faults_at(path):
                _objects(path, made.get(path) or documents.text(raw, path), found)
    koordinator_objects.settle(found)
    volcano_objects.settle(found)
    yunikorn.settle(found)
    if found.passed_over:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(found.passed_over.items()))
        found.say(f"{kinds}: nothing in there that a policy holds")
    return found


def _by_place(path: str) -> bool:
    """Whether the place of a generated file says what it is, not its content."""
    folders = path.split("/")[:-1]
    return "nodes" in folders or "workloads" in folders or path.endswith(".md")


def _generated(made: Mapping[str, str], found: Found) -> None:
    by_pool: dict[str, dict[str, str]] = {}
    components: dict[str, dict[str, str]] = {}
    page = ""
    for path, said in made.items():
        found.policy = found.policy or owner(said)
        steps = path.split("/")
        place, file = steps[-3:-1], steps[-1]
        if path.endswith("nodes/README.md"):
            page = said
            found.levels_whole = True
            for level, key in levels(said).items():
                found.add_level(level, key)
        elif place == ["nodes", "control-plane"]:
            found.control_plane = next(iter(words(said).taints), None)
        elif place[:1] == ["nodes"] and place[1:] != ["daemons"]:
            by_pool.setdefault(place[1], {})[file] = said
            found.provider = found.provider or _PROVIDERS.get(file.partition(".")[0].partition("-")[0], "")
        elif place[:1] == ["workloads"]:
            components.setdefault(place[1], {})[file] = said
        elif "/".join(steps[-2:]) in _PAGES:
            _page(_PAGES["/".join(steps[-2:])], said, found)
        elif place == ["koordinator", "post-render"]:
            found.target("koordinator", delivery="post-render")
        elif steps[-2:] == ["koordinator", "koord-scheduler-config.yaml"]:
            found.target("koordinator", delivery="manifest")
    found.described = pools(by_pool, page)
    found.components = [each for name, files in components.items() if (each := component(name, files))]


def _page(system: str, said: str, found: Found) -> None:
    """`# Volcano 1.15.1` and `# Koordinator 1.8.0: ...` on the pages of the targets; `# Kubernetes 1.36`."""
    title = next((line for line in said.splitlines() if line.startswith("# ")), "")
    version = title.split()[2].rstrip(":") if len(title.split()) > 2 else ""
    if system == "kubernetes":
        found.release = found.release or version
    else:
        release = _RELEASE.search(said)
        namespace = release[1] if release and release[1] != _NAMESPACES.get(system) else ""
        found.target(system, version=version, namespace=namespace)


def _runs_ours(kind: str, labels: Mapping[str, str]) -> bool:
    """Whether an object only lets the second kube-scheduler run that `gen` writes."""
    return kind in _TO_RUN and second.LABELS.items() <= labels.items()


def _objects(path: str, said: str, found: Found) -> None:
    if path.endswith((".md", ".sh", ".env")):
        return
    if is_template(said):
        found.say(f"{path}: a template, which is no YAML until it is rendered; left out")
        return
    for manifest in documents.objects(said, path):
        _object(path, manifest, found)


def _object(path: str, manifest: Manifest, found: Found) -> None:
    data, kind = manifest.data, manifest.kind
    if kind == "Node":
        node = nodes.read(data)
        if node is not None and found.nodes.setdefault(node.name, node) != node:
            found.say(f"node {node.name} is given more than once, in different words; the first is taken")
    elif kind == "Queue" and manifest.group != "scheduling.volcano.sh":
        found.say(f"{path}: Queue {manifest.name} of {manifest.api_version} is not Volcano's; left out")
    elif kind in _BY_KIND:
        _BY_KIND[kind](data, found)
    elif kind == "ConfigMap":
        _config_map(data, found)
    elif kind == "Namespace" and yunikorn.is_sent(data):
        yunikorn.namespace(data, path, found)
    elif kind == "Namespace" and volcano_objects.is_sent(data):
        volcano_objects.namespace(data, found)
    elif kind == "KubeSchedulerConfiguration":
        _scheduler(data, found)
    elif kind == "Deployment":
        _deployment(data, found)
    elif not kind:
        _without_kind(path, data, found)
    elif kind not in _OURS and not _runs_ours(kind, manifest.labels):
        found.passed_over[kind] = found.passed_over.get(kind, 0) + 1


def _config_map(data: Mapping[str, Any], found: Found) -> None:
    for inner in _inner(volcano.config_map(data, found)):
        volcano.configuration(inner, found)
    for inner in _inner(koordinator.config_map(data, found)):
        koordinator.configuration(inner, found)
    for inner in _inner(yunikorn.config_map(data, found)):
        yunikorn.configuration(inner, found)
    for key, value in mapping(data.get("data")).items():
        if isinstance(value, str) and "KubeSchedulerConfiguration" in value and key != KEY:
            for inner in _inner(value):
                _scheduler(inner, found)


def _scheduler(data: Mapping[str, Any], found: Found) -> None:
    if koordinator.is_koordinators(data):
        koordinator.configuration(data, found)
    else:
        kubernetes.scheduler_configuration(data, found)


def _without_kind(path: str, data: Mapping[str, Any], found: Found) -> None:
    """Helm values of Volcano or YuniKorn, a bare scheduler configuration, or queues.yaml."""
    if "partitions" in data:
        yunikorn.configuration(data, found)
    elif "profiles" in data:
        _scheduler(data, found)
    elif "tiers" in data:
        volcano.configuration(data, found)
    elif "custom" in data or "basic" in data:
        for inner in _inner(volcano.values(data, found)):
            volcano.configuration(inner, found)
    elif "yunikornDefaults" in data:
        for inner in _inner(yunikorn.values(data, found)):
            yunikorn.configuration(inner, found)
    elif data:
        found.say(f"{path}: neither an object nor a configuration that an import knows; left out")


def _deployment(data: Mapping[str, Any], found: Found) -> None:
    """The release of a scheduler, by the tag of its image."""
    spec = mapping(mapping(mapping(data.get("spec")).get("template")).get("spec"))
    for container in mappings(spec.get("containers")):
        image, _, tag = text(container.get("image")).rpartition(":")
        system = _IMAGES.get(image.rpartition("/")[2], "")
        if system and tag.lstrip("v")[:1].isdecimal():
            found.target(system, version=tag.removeprefix("v"))
    if mapping(data.get("metadata")).get("name") == second.NAME:
        kubernetes.second_scheduler(data, found)


def _inner(said: str) -> Iterable[Mapping[str, Any]]:
    return [mapping(document.root.data) for document in parse(said) if document.root is not None]
