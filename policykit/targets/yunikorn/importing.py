"""Reads YuniKorn's ConfigMaps, Helm values and annotated namespaces back into a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.linter.import_reader import ImportReader, WorkloadComponent, documents
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory
from policykit.model.queue import Tenant
from policykit.targets.yunikorn import namespaces, options, policy_configuration, queue_tree
from policykit.targets.yunikorn.configuration import configmap
from policykit.targets.yunikorn.configuration.importing import add_partition
from policykit.targets.yunikorn.configuration.properties import OLD_QUOTA_DELAY
from policykit.targets.yunikorn.configuration.queues_yaml import DEFAULT_SORT, Queue, read
from policykit.targets.yunikorn.names import PARENT_QUEUE, QUEUE
from policykit.targets.yunikorn.versions import QUOTA_PREEMPTION, parse


def _has_old_delay(queue: Queue) -> bool:
    """Whether a queue or one below it has the delay of quota preemption under its name of 1.8."""
    stated = (*queue.properties, *queue.template.properties)
    return OLD_QUOTA_DELAY in stated or any(map(_has_old_delay, queue.queues or ()))


class YunikornReader(ImportReader):
    """Reads the queue configuration, settings, and namespaces with a queue."""

    target_name = "yunikorn"
    namespace = configmap.NAMESPACE

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.tenants: list[Tenant] = []
        """Tenants of namespaces, whose queue is a path in YuniKorn's tree."""

    def read_object(self, manifest: Manifest, path: str) -> bool:
        if manifest.kind == "ConfigMap":
            return self._read_config_map(manifest)
        if manifest.kind == "Namespace":
            return self._read_namespace(manifest, path)
        if manifest.kind == "Deployment":
            return self.read_image(manifest, "yunikorn", "scheduler-")
        return False

    def read_values(self, data: Mapping[str, Any], path: str) -> bool:
        """Reads queues.yaml, or values of YuniKorn's chart."""
        if "partitions" in data:
            self._read_configuration(data)
        elif configmap.VALUES in data:
            self.add_target(delivery="helm-values")
            self._read_settings(mapping(data.get(configmap.VALUES)))
            self._read_queues(data)
        else:
            return False
        return True

    def finish(self) -> None:
        """Replaces queue paths in components and tenants by queue names of the policy."""
        known = {path: name for name, path in queue_tree.queue_paths(self.inventory.queues.values()).items()}
        self.inventory.components = [
            each._replace(queue=known.get(each.queue, each.queue)) for each in self.inventory.components
        ]
        for tenant in self.tenants:
            queue = tenant.queue if tenant.queue.startswith("root.") else f"root.{tenant.queue}"
            if queue in known:
                self.inventory.add_tenant(tenant._replace(queue=known[queue]))
            else:
                names = ", ".join(tenant.namespaces)
                self.inventory.add_remark(
                    f"namespace {names} has queue {queue}, which no file defines; left out"
                )

    @classmethod
    def component_queue(cls, component: WorkloadComponent) -> str:
        """The path of a queue, in an annotation if it is too long for a label."""
        maps = (mapping(component.pods.get(part)) for part in ("labels", "annotations"))
        return next((path for each in maps if (path := text(each.get(QUEUE)))), "")

    def add_options(self, policy: dict[str, Any], cluster: Cluster) -> None:
        """Leaves out `nodeSort` if it is what `gen` computes, or what YuniKorn does by default where `gen`
        writes none."""
        target = cluster.targets[self.target_name]
        usual = policy_configuration.node_sorting(cluster, target, None).sort
        if options.yunikorn_options(target).node_sort == (usual if usual.type else DEFAULT_SORT):
            del policy["targets"][self.target_name]["nodeSort"]

    def _read_config_map(self, manifest: Manifest) -> bool:
        name, data = manifest.name, manifest.data
        if name not in (configmap.CONFIGS, configmap.DEFAULTS):
            return False
        self.add_target(namespace=manifest.namespace)
        if name == configmap.CONFIGS:
            self.add_target(delivery="manifest")
        if mapping(data.get("binaryData")):
            self.inventory.add_remark(
                f"ConfigMap {name}: binaryData is compressed and cannot be read; pass the text instead"
            )
        self._read_settings(mapping(data.get("data")))
        self._read_queues(data)
        return True

    def _read_queues(self, data: Mapping[str, Any]) -> None:
        """Reads the queue configuration in a ConfigMap or in Helm values."""
        for inner in documents(configmap.source(data)[1]):
            self._read_configuration(inner)

    def _read_configuration(self, data: Mapping[str, Any]) -> None:
        self.add_target()
        found = read(data)
        add_partition(found, self.inventory)
        if any(_has_old_delay(queue) for partition in found.partitions for queue in partition.queues or ()):
            # The only release that reads this name.
            self.add_target(version=str(QUOTA_PREEMPTION))

    def _read_namespace(self, manifest: Manifest, path: str) -> bool:
        """Reads a Namespace with a queue, of a tenant named by the folder of generated files or the queue."""
        queue = manifest.annotations.get(PARENT_QUEUE, "")
        if queue and manifest.name:
            folders = path.split("/")[:-1]
            generated = "/".join(folders[-3:-1]) == namespaces.FOLDER
            tenant = folders[-1] if generated else queue_tree.own_name(queue)
            self.tenants.append(Tenant(tenant, (manifest.name,), queue))
        return bool(queue)

    def _read_settings(self, entries: Mapping[str, Any]) -> None:
        group = configmap.policy_group(entries)
        if group != "queues":
            self.inventory.option(self.target_name, "policyGroup", group)
        newest = parse("")
        for key, value in entries.items():
            if key == configmap.POLICY_GROUP or key.endswith(".yaml"):
                continue
            stated = text(value)
            problem = configmap.problem(key, stated, newest)
            if problem:
                self.inventory.add_remark(f"setting {key} of YuniKorn {problem}; left out")
            else:
                self.inventory.option(self.target_name, "settings", {key: stated})
