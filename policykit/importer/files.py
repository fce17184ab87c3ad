"""Reads the files to import into an inventory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policykit.errors import faults_at
from policykit.generator.bundle import owner
from policykit.importer import documents
from policykit.importer.generated.components import component
from policykit.importer.generated.node_files import levels, node_arguments, pools
from policykit.importer.inventory import Inventory
from policykit.importer.objects import (
    koordinator_objects,
    koordinator_scheduler,
    kubernetes,
    kueue_objects,
    nodes,
    volcano_objects,
    volcano_scheduler,
    yunikorn,
)
from policykit.linter.reader import is_template
from policykit.manifests.document import Manifest
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping, mappings, text
from policykit.policy.models.targets import Targets
from policykit.targets import DEFAULT_SYSTEM
from policykit.targets.koordinator.scheduler.chart import KEY
from policykit.targets.kubernetes.scheduler import delivery
from policykit.targets.volcano.generate import NAMESPACE as VOLCANO_NAMESPACE
from policykit.targets.yunikorn.configuration import configmap

Files = Mapping[str, bytes]
"""Path, with `/`, to content, in reading order."""

_PAGES = {f"{name}/README.md": name for name in Targets.model_fields}
"""What is written about a system, to the system."""
_PROVIDERS = {"gke": "gke", "aks": "aks", "eksctl": "eks", "ack": "ack"}
"""Start of the name of a cloud's node pool file, to the cloud."""
_IMAGES = {"vc-scheduler": "volcano", "koord-scheduler": "koordinator"}
"""Scheduler image to system."""
_IGNORED = ("Kustomization", "Component", "Policy")
_RELEASE = re.compile(r"`helm upgrade \S+ \S+ -n (\S+) ")
"""The Helm command in a README, with its namespace."""
_NAMESPACES = {"volcano": VOLCANO_NAMESPACE, "yunikorn": configmap.NAMESPACE}
_RBAC = frozenset({"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"})
"""Kinds of RBAC objects that come with a scheduler's Deployment."""

_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Inventory], None]] = {
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


def read_inventory(files: Files) -> Inventory:
    """The contents of all files. Raises SourceError for a file that is not UTF-8 or not YAML."""
    inventory = Inventory()
    made = {path: source for path, raw in files.items() if owner(source := documents.text(raw, path))}
    _generated(made, inventory)
    for path, raw in files.items():
        if path not in made or not _recognized_by_path(path):
            with faults_at(path):
                _objects(path, made.get(path) or documents.text(raw, path), inventory)
    koordinator_objects.resolve_queues(inventory)
    volcano_objects.resolve_node_groups(inventory)
    yunikorn.resolve_queues(inventory)
    kueue_objects.resolve_queues(inventory)
    if inventory.ignored_kinds:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(inventory.ignored_kinds.items()))
        inventory.say(f"{kinds}: not part of a policy; ignored")
    return inventory


def _recognized_by_path(path: str) -> bool:
    """Whether a generated file is recognized by its path, not by its content."""
    folders = path.split("/")[:-1]
    return "nodes" in folders or "workloads" in folders or path.endswith(".md")


def _generated(made: Mapping[str, str], inventory: Inventory) -> None:
    by_pool: dict[str, dict[str, str]] = {}
    components: dict[str, dict[str, str]] = {}
    page = ""
    for path, source in made.items():
        inventory.policy = inventory.policy or owner(source)
        steps = path.split("/")
        place, file = steps[-3:-1], steps[-1]
        if path.endswith("nodes/README.md"):
            page = source
            inventory.levels_complete = True
            for level, key in levels(source).items():
                inventory.add_level(level, key)
        elif place == ["nodes", "control-plane"]:
            inventory.control_plane = next(iter(node_arguments(source).taints), None)
        elif place[:1] == ["nodes"] and place[1:] != ["daemons"]:
            by_pool.setdefault(place[1], {})[file] = source
            inventory.provider = inventory.provider or _PROVIDERS.get(
                file.partition(".")[0].partition("-")[0], ""
            )
        elif place[:1] == ["workloads"]:
            components.setdefault(place[1], {})[file] = source
        elif "/".join(steps[-2:]) in _PAGES:
            _page(_PAGES["/".join(steps[-2:])], source, inventory)
        elif place == ["koordinator", "post-render"]:
            inventory.target("koordinator", delivery="post-render")
        elif steps[-2:] == ["koordinator", "koord-scheduler-config.yaml"]:
            inventory.target("koordinator", delivery="manifest")
    inventory.generated = pools(by_pool, page)
    inventory.components = [each for name, files in components.items() if (each := component(name, files))]


def _page(system: str, source: str, inventory: Inventory) -> None:
    """`# Volcano 1.15.1` and `# Koordinator 1.8.0: ...` in the READMEs of targets; `# Kubernetes 1.36`."""
    title = next((line for line in source.splitlines() if line.startswith("# ")), "")
    version = title.split()[2].rstrip(":") if len(title.split()) > 2 else ""
    if system == DEFAULT_SYSTEM:
        inventory.release = inventory.release or version
    else:
        release = _RELEASE.search(source)
        namespace = release[1] if release and release[1] != _NAMESPACES.get(system) else ""
        inventory.target(system, version=version, namespace=namespace)


def _is_scheduler_rbac(kind: str, labels: Mapping[str, str]) -> bool:
    """Whether an object is RBAC of the second kube-scheduler that `gen` writes."""
    return kind in _RBAC and delivery.LABELS.items() <= labels.items()


def _objects(path: str, source: str, inventory: Inventory) -> None:
    if path.endswith((".md", ".sh", ".env")):
        return
    if is_template(source):
        inventory.say(f"{path}: a template, not YAML until it is rendered; left out")
        return
    for manifest in documents.objects(source, path):
        _object(path, manifest, inventory)


def _object(path: str, manifest: Manifest, inventory: Inventory) -> None:
    data, kind = manifest.data, manifest.kind
    if kind == "Node":
        node = nodes.read(data)
        if node is not None and inventory.nodes.setdefault(node.name, node) != node:
            inventory.say(
                f"node {node.name} is defined more than once with different contents; the first one is used"
            )
    elif kueue_objects.is_kueues(manifest.group, kind):
        kueue_objects.collect(kind, data, inventory)
    elif kind == "Queue" and manifest.group != "scheduling.volcano.sh":
        inventory.say(f"{path}: Queue {manifest.name} of {manifest.api_version} is not Volcano's; left out")
    elif kind in _BY_KIND:
        _BY_KIND[kind](data, inventory)
    elif kind == "ConfigMap":
        _config_map(data, inventory)
    elif kind == "Namespace" and yunikorn.has_queue(data):
        yunikorn.namespace(data, path, inventory)
    elif kind == "Namespace" and volcano_objects.has_queue(data):
        volcano_objects.namespace(data, inventory)
    elif kind == "KubeSchedulerConfiguration":
        _scheduler(data, inventory)
    elif kind == "Deployment":
        _deployment(data, inventory)
    elif not kind:
        _without_kind(path, data, inventory)
    elif kind not in _IGNORED and not _is_scheduler_rbac(kind, manifest.labels):
        inventory.ignored_kinds[kind] = inventory.ignored_kinds.get(kind, 0) + 1


def _config_map(data: Mapping[str, Any], inventory: Inventory) -> None:
    for inner in _documents(volcano_scheduler.config_map(data, inventory)):
        volcano_scheduler.configuration(inner, inventory)
    for inner in _documents(koordinator_scheduler.config_map(data, inventory)):
        koordinator_scheduler.configuration(inner, inventory)
    for inner in _documents(yunikorn.config_map(data, inventory)):
        yunikorn.configuration(inner, inventory)
    for key, value in mapping(data.get("data")).items():
        if isinstance(value, str) and "KubeSchedulerConfiguration" in value and key != KEY:
            for inner in _documents(value):
                _scheduler(inner, inventory)


def _scheduler(data: Mapping[str, Any], inventory: Inventory) -> None:
    if koordinator_scheduler.is_koordinators(data):
        koordinator_scheduler.configuration(data, inventory)
    else:
        kubernetes.scheduler_configuration(data, inventory)


def _without_kind(path: str, data: Mapping[str, Any], inventory: Inventory) -> None:
    """Helm values of Volcano or YuniKorn, a scheduler configuration, or queues.yaml."""
    if "partitions" in data:
        yunikorn.configuration(data, inventory)
    elif "profiles" in data:
        _scheduler(data, inventory)
    elif "tiers" in data:
        volcano_scheduler.configuration(data, inventory)
    elif "custom" in data or "basic" in data:
        for inner in _documents(volcano_scheduler.values(data, inventory)):
            volcano_scheduler.configuration(inner, inventory)
    elif "yunikornDefaults" in data:
        for inner in _documents(yunikorn.values(data, inventory)):
            yunikorn.configuration(inner, inventory)
    elif data:
        inventory.say(f"{path}: not an object or configuration that import can read; left out")


def _deployment(data: Mapping[str, Any], inventory: Inventory) -> None:
    """The release of a scheduler, by the tag of its image."""
    spec = mapping(mapping(mapping(data.get("spec")).get("template")).get("spec"))
    for container in mappings(spec.get("containers")):
        image, _, tag = text(container.get("image")).rpartition(":")
        system = _IMAGES.get(image.rpartition("/")[2], "")
        if system and tag.lstrip("v")[:1].isdecimal():
            inventory.target(system, version=tag.removeprefix("v"))
    if mapping(data.get("metadata")).get("name") == delivery.SECOND_NAME:
        kubernetes.second_scheduler(data, inventory)


def _documents(source: str) -> Iterable[Mapping[str, Any]]:
    return [mapping(document.root.data) for document in parse(source) if document.root is not None]
