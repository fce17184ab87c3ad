"""Reads Volcano's objects and scheduler configuration back into a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.volcano.configuration import Configuration, read
from policykit.catalogue.volcano.validator import PREEMPTING, RECLAIMING
from policykit.errors import PolicykitError
from policykit.linter.import_reader import ImportReader, documents
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory
from policykit.targets.volcano.generate import NAMESPACE
from policykit.targets.volcano.importing import objects
from policykit.targets.volcano.importing.options import options
from policykit.targets.volcano.names import CONFIG_FILE, CONFIG_OVERRIDE

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

    def add_options(self, policy: dict[str, Any], cluster: Cluster) -> None:
        if self.configuration is not None:
            try:
                stated = options(cluster, self.configuration, self.file, self.inventory.add_remark)
            except PolicykitError as error:
                self.inventory.add_remark(f"volcano: {error.message}; its configuration was not compared")
            else:
                policy["targets"]["volcano"].update(stated)

    def _read_config_map(self, manifest: Manifest, path: str) -> bool:
        text = mapping(manifest.data.get("data")).get(CONFIG_FILE)
        if not isinstance(text, str):
            return False
        self.add_target(delivery="manifest", namespace=manifest.namespace)
        for inner in documents(text):
            self._read_configuration(inner, path)
        return True

    def _read_chart_values(self, custom: Mapping[str, Any], basic: Mapping[str, Any], path: str) -> None:
        tag = basic.get("image_tag_version")
        if isinstance(tag, str):
            self.add_target(version=tag.removeprefix("v"))
        text = custom.get(CONFIG_OVERRIDE)
        if isinstance(text, str):
            self.add_target(delivery="helm-values")
            for inner in documents(text):
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
