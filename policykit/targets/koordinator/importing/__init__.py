"""Reads Koordinator's objects and scheduler configuration back into a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.linter.import_reader import ImportReader, WorkloadComponent, documents
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory
from policykit.targets.capacity import most_cards
from policykit.targets.koordinator.importing import objects, options, scheduler
from policykit.targets.koordinator.names import QUOTA_NAME, TARGET_NAME
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler.chart import CONFIG_MAP, DEPLOYMENT, KEY, NAMESPACE
from policykit.targets.koordinator.scheduler.packing import default_fit
from policykit.targets.koordinator.scheduler.placements import MAX_WEIGHT, TYPES, fit

_CONFIGURATION = "KubeSchedulerConfiguration"
_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Inventory], None]] = {
    "Reservation": objects.reservation,
    "ClusterColocationProfile": objects.colocation,
    "ClusterNetworkTopology": objects.network_topology,
}
_FILE = "koord-scheduler-config.yaml"


class KoordinatorReader(ImportReader):
    """Reads quotas, reservations, colocation profiles and the configuration of koord-scheduler."""

    target_name = TARGET_NAME
    namespace = NAMESPACE

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.quotas = objects.ElasticQuotas(inventory)
        self.configuration: Mapping[str, Any] | None = None
        self.file = ""
        """Path of the file with the configuration."""

    def read_generated(self, path: tuple[str, ...], source: str) -> bool:
        if path[:-1] == ("post-render",):
            self.add_target(delivery="post-render")
        elif path == (_FILE,):
            self.add_target(delivery="manifest")
        return super().read_generated(path, source)

    def read_object(self, manifest: Manifest, path: str) -> bool:
        kind = manifest.kind
        if kind == "ElasticQuota":
            self.add_target()
            self.quotas.add(manifest.data)
        elif kind in _BY_KIND:
            self.add_target()
            _BY_KIND[kind](manifest.data, self.inventory)
        elif kind == "ConfigMap":
            return self._read_config_map(manifest, path)
        elif kind == _CONFIGURATION:
            return self._read_configuration(manifest.data, path)
        else:
            return self.read_image(manifest, DEPLOYMENT)
        return True

    def read_values(self, data: Mapping[str, Any], path: str) -> bool:
        return "profiles" in data and self._read_configuration(data, path)

    def finish(self) -> None:
        self.quotas.add_queues()
        objects.name_tenants(self.inventory)

    @classmethod
    def component_queue(cls, component: WorkloadComponent) -> str:
        return text(mapping(component.pods.get("labels")).get(QUOTA_NAME))

    def name_cards(self, cards: Mapping[str, str]) -> None:
        stated = mapping(self.inventory.targets.get(TARGET_NAME, {}).get("fit"))
        if stated:
            named = {cards.get(resource, resource): each for resource, each in stated.items()}
            self.inventory.targets[TARGET_NAME]["fit"] = named

    def add_options(self, policy: dict[str, Any], cluster: Cluster) -> None:
        section = policy["targets"][TARGET_NAME]
        usual = default_fit(most_cards(cluster)).items()
        if section.get("fit") == {name: {"type": fit.type, "weight": fit.weight} for name, fit in usual}:
            del section["fit"]
        cluster = _without_default_weights(policy, cluster)
        if self.configuration is not None:
            cluster = _with_release(section, cluster, options.release(self.configuration))
            try:
                section.update(
                    options.options(cluster, self.configuration, self.file, self.inventory.add_remark)
                )
            except PolicykitError as error:
                self.inventory.add_remark(f"koordinator: {error.message}; its configuration was not compared")

    def _read_config_map(self, manifest: Manifest, path: str) -> bool:
        """Reads the ConfigMap of koord-scheduler, or another one with a configuration of it."""
        texts = {key: text(value) for key, value in mapping(manifest.data.get("data")).items()}
        if manifest.name == CONFIG_MAP and texts.get(KEY):
            self.add_target(namespace=manifest.namespace)
            for inner in documents(texts[KEY]):
                self._add_configuration(inner, path)
            return True
        stated = [inner for each in texts.values() if _CONFIGURATION in each for inner in documents(each)]
        own = [inner for inner in stated if scheduler.is_koordinators(inner)]
        for inner in own:
            self._add_configuration(inner, path)
        return bool(own)

    def _read_configuration(self, data: Mapping[str, Any], path: str) -> bool:
        if not scheduler.is_koordinators(data):
            return False
        self._add_configuration(data, path)
        return True

    def _add_configuration(self, data: Mapping[str, Any], path: str) -> None:
        if self.configuration is None:
            self.configuration, self.file = data, path
        scheduler.configuration(data, self.inventory)


def _with_release(section: dict[str, Any], cluster: Cluster, release: str) -> Cluster:
    """The cluster with the release that the configuration implies, if no file states one."""
    target = cluster.targets[TARGET_NAME]
    if target.version or not release:
        return cluster
    fields = dict(section)
    section.clear()
    section.update(version=release, **fields)
    stated = target._replace(version=release)
    return cluster._replace(targets={**cluster.targets, TARGET_NAME: stated})


def _without_default_weights(policy: dict[str, Any], cluster: Cluster) -> Cluster:
    """The cluster without placement weights that equal Koordinator's defaults."""
    sizes = most_cards(cluster)
    left = dict(cluster.placements)
    for name, placement in cluster.placements.items():
        bare = placement._replace(resources={})
        stated = {resource: Fit(TYPES[p.strategy], p.weight) for resource, p in placement.resources.items()}
        usual = {resource: Fit(f.type, min(f.weight, MAX_WEIGHT)) for resource, f in fit(bare, sizes).items()}
        if stated and not placement.shape and usual == stated:
            del policy["placements"][name]["resources"]
            left[name] = bare
    return cluster._replace(placements=left)
