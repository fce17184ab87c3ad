"""YuniKorn: ConfigMaps, Helm values, and namespaces with a queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.inventory import Inventory
from policykit.importer.yunikorn import partitions
from policykit.manifests.shape import mapping, text
from policykit.model.queue import Tenant
from policykit.targets.yunikorn import namespaces, queue_tree
from policykit.targets.yunikorn.configuration import configmap, queues_yaml, settings
from policykit.targets.yunikorn.names import PARENT_QUEUE
from policykit.targets.yunikorn.versions import parse

TARGET = "yunikorn"


def config_map(data: Mapping[str, Any], inventory: Inventory) -> str:
    """The queue configuration in a ConfigMap, as text; empty: none."""
    metadata = mapping(data.get("metadata"))
    name, own_namespace = metadata.get("name"), text(metadata.get("namespace"))
    if name not in (configmap.CONFIGS, configmap.DEFAULTS):
        return ""
    inventory.target(TARGET, namespace=own_namespace if own_namespace != configmap.NAMESPACE else "")
    if name == configmap.CONFIGS:
        inventory.target(TARGET, delivery="manifest")
    if mapping(data.get("binaryData")):
        inventory.say(f"ConfigMap {name}: binaryData is compressed and cannot be read; pass the text instead")
    _settings(mapping(data.get("data")), inventory)
    return configmap.source(data)[1]


def values(data: Mapping[str, Any], inventory: Inventory) -> str:
    """The queue configuration in Helm values of YuniKorn's chart, as text; empty: none."""
    entries = mapping(data.get(configmap.VALUES))
    inventory.target(TARGET, delivery="helm-values")
    _settings(entries, inventory)
    return configmap.source(data)[1]


def configuration(data: Mapping[str, Any], inventory: Inventory) -> None:
    """queues.yaml."""
    inventory.target(TARGET)
    partitions.add(queues_yaml.read(data), inventory)


def has_queue(data: Mapping[str, Any]) -> bool:
    """Whether a Namespace is annotated with a queue of YuniKorn."""
    return bool(text(mapping(mapping(data.get("metadata")).get("annotations")).get(PARENT_QUEUE)))


def namespace(data: Mapping[str, Any], path: str, inventory: Inventory) -> None:
    """A Namespace with a queue, of a tenant named by the folder of generated files or the queue."""
    metadata = mapping(data.get("metadata"))
    name, queue = text(metadata.get("name")), text(mapping(metadata.get("annotations")).get(PARENT_QUEUE))
    if not name or not queue:
        return
    folders = path.split("/")[:-1]
    ours = "/".join(folders[-3:-1]) == namespaces.FOLDER
    tenant = folders[-1] if ours else queue_tree.own_name(queue)
    inventory.namespace_queues.append(Tenant(tenant, (name,), queue))


def resolve_queues(inventory: Inventory) -> None:
    """Replaces queue paths in components and tenants by queue names of the policy."""
    known = {path: name for name, path in queue_tree.queue_paths(inventory.queues.values()).items()}
    inventory.components = [
        each._replace(queue=known.get(each.queue, each.queue)) for each in inventory.components
    ]
    for tenant in inventory.namespace_queues:
        queue = tenant.queue if tenant.queue.startswith("root.") else f"root.{tenant.queue}"
        if queue in known:
            inventory.add_tenant(tenant._replace(queue=known[queue]))
        else:
            names = ", ".join(tenant.namespaces)
            inventory.say(f"namespace {names} has queue {queue}, which no file defines; left out")


def _settings(entries: Mapping[str, Any], inventory: Inventory) -> None:
    group = configmap.policy_group(entries)
    if group != "queues":
        inventory.option(TARGET, "policyGroup", group)
    newest = parse("")
    for key, value in entries.items():
        if key == configmap.POLICY_GROUP or key.endswith(".yaml"):
            continue
        stated = text(value)
        problem = settings.problem(key, stated, newest)
        if problem:
            inventory.say(f"setting {key} of YuniKorn {problem}; left out")
        else:
            inventory.option(TARGET, "settings", {key: stated})
