"""Apache YuniKorn: its ConfigMaps and chart values, and the namespaces that lead to its queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.yunikorn import partitions
from policykit.manifests.shape import mapping, text
from policykit.model.tenant import Tenant
from policykit.targets.yunikorn.configuration import configmap, partition, settings
from policykit.targets.yunikorn.derived import namespaces, paths
from policykit.targets.yunikorn.names import PARENT_QUEUE
from policykit.targets.yunikorn.read import source
from policykit.targets.yunikorn.versions import parse

TARGET = "yunikorn"


def config_map(data: Mapping[str, Any], found: Found) -> str:
    """The queue configuration in a ConfigMap, as text; empty: it carries none."""
    metadata = mapping(data.get("metadata"))
    name, stands_in = metadata.get("name"), text(metadata.get("namespace"))
    if name not in (configmap.CONFIGS, configmap.DEFAULTS):
        return ""
    found.target(TARGET, namespace=stands_in if stands_in != configmap.NAMESPACE else "")
    if name == configmap.CONFIGS:
        found.target(TARGET, delivery="manifest")
    if mapping(data.get("binaryData")):
        found.say(f"ConfigMap {name}: binaryData is compressed and is not read; give its text instead")
    _settings(mapping(data.get("data")), found)
    return source(data)[1]


def values(data: Mapping[str, Any], found: Found) -> str:
    """The queue configuration in Helm values of YuniKorn's chart, as text; empty: none."""
    entries = mapping(data.get(configmap.VALUES))
    found.target(TARGET, delivery="helm-values")
    _settings(entries, found)
    return source(data)[1]


def configuration(data: Mapping[str, Any], found: Found) -> None:
    """queues.yaml itself."""
    found.target(TARGET)
    partitions.add(partition.read(data), found)


def is_sent(data: Mapping[str, Any]) -> bool:
    """Whether a Namespace is annotated with the queue its pods go to."""
    return bool(text(mapping(mapping(data.get("metadata")).get("annotations")).get(PARENT_QUEUE)))


def namespace(data: Mapping[str, Any], path: str, found: Found) -> None:
    """A Namespace annotated with a queue: one of a tenant's, which generated files name by their folder."""
    metadata = mapping(data.get("metadata"))
    name, queue = text(metadata.get("name")), text(mapping(metadata.get("annotations")).get(PARENT_QUEUE))
    if not name or not queue:
        return
    folders = path.split("/")[:-1]
    ours = "/".join(folders[-3:-1]) == namespaces.FOLDER
    found.sent.append(Tenant(folders[-1] if ours else paths.own_name(queue), (name,), queue))


def settle(found: Found) -> None:
    """Gives components and tenants the policy's names of the queues that they are sent to."""
    known = {path: name for name, path in paths.paths(found.queues.values()).items()}
    found.components = [each._replace(queue=known.get(each.queue, each.queue)) for each in found.components]
    for tenant in found.sent:
        queue = tenant.queue if tenant.queue.startswith("root.") else f"root.{tenant.queue}"
        if queue in known:
            found.add_tenant(tenant._replace(queue=known[queue]))
        else:
            names = ", ".join(tenant.namespaces)
            found.say(f"namespace {names} is sent to queue {queue}, which no file describes; left out")


def _settings(entries: Mapping[str, Any], found: Found) -> None:
    group = configmap.policy_group(entries)
    if group != "queues":
        found.option(TARGET, "policyGroup", group)
    newest = parse("")
    for key, value in entries.items():
        if key == configmap.POLICY_GROUP or key.endswith(".yaml"):
            continue
        stated = text(value)
        problem = settings.problem(key, stated, newest)
        if problem:
            found.say(f"setting {key} of YuniKorn {problem}; left out")
        else:
            found.option(TARGET, "settings", {key: stated})
