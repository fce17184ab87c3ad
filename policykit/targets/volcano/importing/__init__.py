"""Reads Volcano's objects and scheduler configuration back into a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.configuration import Configuration, read
from policykit.catalogue.volcano.validator import PREEMPTING, RECLAIMING
from policykit.errors import PolicykitError
from policykit.linter.import_reader import ImportReader, WorkloadComponent, documents
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory, LevelBound
from policykit.targets.volcano.generate import NAMESPACE
from policykit.targets.volcano.importing import objects
from policykit.targets.volcano.importing.options import options
from policykit.targets.volcano.names import CONFIG_FILE, CONFIG_OVERRIDE, TOPOLOGY_MODE, TOPOLOGY_TIER
from policykit.targets.volcano.objects.topology import read_network_topology

_IMAGE = "vc-scheduler"
_GROUP = "scheduling.volcano.sh"


class VolcanoReader(ImportReader):
    """Reads queues, HyperNodes, namespaces and the scheduler's configuration."""

    target_name = "volcano"
    namespace = NAMESPACE

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.configuration: Configuration | None = None
        self.file = ""
        """Path of the file with the configuration."""

    def read_object(self, manifest: Manifest, path: str) -> bool:
        kind = manifest.kind
        if kind == "Queue" and manifest.group != _GROUP:
            self.inventory.add_remark(
                f"{path}: Queue {manifest.name} of {manifest.api_version} is not Volcano's; left out"
            )
        elif kind == "Queue":
            objects.queue(manifest.data, self.inventory)
        elif kind == "HyperNode":
            objects.hyper_node(manifest.data, self.inventory)
        elif kind == "ConfigMap":
            return self._read_config_map(manifest, path)
        elif kind == "Namespace":
            return objects.namespace(manifest, self.inventory)
        else:
            return self.read_image(manifest, _IMAGE)
        return True

    def read_values(self, data: Mapping[str, Any], path: str) -> bool:
        """Reads a scheduler configuration, or values of Volcano's chart."""
        if "tiers" in data:
            self._read_configuration(data, path)
        elif "custom" in data or "basic" in data:
            self._read_chart_values(mapping(data.get("custom")), mapping(data.get("basic")), path)
        else:
            return False
        return True

    def finish(self) -> None:
        objects.reduce_node_groups(self.inventory)

    @classmethod
    def component_queue(cls, component: WorkloadComponent) -> str:
        return text(component.job_fields.get("/spec/queue"))

    @classmethod
    def component_level(cls, component: WorkloadComponent) -> LevelBound | None:
        """From the network topology of a Job, or else from annotations of pods, where it is a number."""
        topology = read_network_topology(component.job_fields.get("/spec/networkTopology"))
        if topology is not None:
            return LevelBound(topology.mode == "hard", level=topology.tier_name, number=topology.tier)
        annotations = mapping(component.pods.get("annotations"))
        mode, tier = text(annotations.get(TOPOLOGY_MODE)), text(annotations.get(TOPOLOGY_TIER))
        if mode and tier.isdecimal() and tier.isascii() and len(tier) < 10:
            return LevelBound(mode == "hard", number=int(tier))
        return None

    def add_options(self, policy: dict[str, Any], cluster: Cluster) -> None:
        if self.configuration is not None:
            try:
                stated = options(cluster, self.configuration, self.file, self.inventory.add_remark)
            except PolicykitError as error:
                self.inventory.add_remark(f"volcano: {error.message}; its configuration was not compared")
            else:
                policy["targets"]["volcano"].update(stated)

    def _read_config_map(self, manifest: Manifest, path: str) -> bool:
        source = mapping(manifest.data.get("data")).get(CONFIG_FILE)
        if not isinstance(source, str):
            return False
        self.add_target(delivery="manifest", namespace=manifest.namespace)
        for inner in documents(source):
            self._read_configuration(inner, path)
        return True

    def _read_chart_values(self, custom: Mapping[str, Any], basic: Mapping[str, Any], path: str) -> None:
        tag = basic.get("image_tag_version")
        if isinstance(tag, str):
            self.add_target(version=tag.removeprefix("v"))
        source = custom.get(CONFIG_OVERRIDE)
        if isinstance(source, str):
            self.add_target(delivery="helm-values")
            for inner in documents(source):
                self._read_configuration(inner, path)

    def _read_configuration(self, data: Mapping[str, Any], path: str) -> None:
        """Reads actions and tiers; the first configuration is the scheduler's."""
        if "tiers" not in data or self.configuration is not None:
            return
        self.configuration, self.file = read(data), path
        self.add_target()
        preemption = self.inventory.preemption
        if any(name in self.configuration.actions for name in PREEMPTING):
            preemption = preemption._replace(within_queue=True)
        if any(name in self.configuration.actions for name in RECLAIMING):
            preemption = preemption._replace(reclaim=True)
        self.inventory.preemption = preemption
