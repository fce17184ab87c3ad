"""Reads Koordinator's objects and scheduler configuration back into a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.linter.import_reader import ImportReader, WorkloadComponent, documents
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory
from policykit.model.pool import Amounts
from policykit.model.queue import Queue, Reservation, Tenant
from policykit.model.topology import LEVELS
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator.names import QUOTA_NAME, TARGET_NAME
from policykit.targets.koordinator.objects import colocation as profiles
from policykit.targets.koordinator.objects import quotas, reservations, topology
from policykit.targets.koordinator.objects.colocation import QOS, band_of_priority_class
from policykit.targets.koordinator.objects.quota_tree import unlimited_amount
from policykit.targets.koordinator.objects.quotas import ElasticQuota
from policykit.targets.koordinator.objects.reservations import Owner
from policykit.targets.koordinator.objects.values import policy_amounts
from policykit.targets.koordinator.options import Fit
from policykit.targets.koordinator.scheduler import importing
from policykit.targets.koordinator.scheduler.chart import CONFIG_MAP, DEPLOYMENT, KEY, NAMESPACE
from policykit.targets.koordinator.scheduler.placements import MAX_WEIGHT, TYPES, default_fit, fit
from policykit.targets.pool_capacity import most_cards

_MAX_WEIGHT = 65535


class ElasticQuotas:
    """Queues from ElasticQuotas. Other systems define the same queues with more fields."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.queues: dict[str, Queue] = {}
        self.recorded: set[str] = set()
        """Queues whose ElasticQuota records which resources the policy states."""

    def add(self, data: Mapping[str, Any]) -> None:
        """An ElasticQuota: max is the limit; min is lent while unused unless the quota forbids it."""
        quota = quotas.read(data)
        if quota.name in ("", *quotas.BUILT_IN):
            return
        if quota.tree:
            self.inventory.add_remark(
                f"ElasticQuota {quota.name} is in tree {quota.tree}, but a policy has only one tree of queues"
            )
        parent = quota.parent if quota.parent not in quotas.BUILT_IN else ""
        queue = Queue(quota.name, parent, _weight(quota, self.inventory), *_amounts(quota))
        if self.queues.setdefault(quota.name, queue) != queue:
            self.inventory.add_remark(
                f"ElasticQuota {quota.name} is defined more than once with different contents; "
                "the first one is used"
            )
        if quota.stated is not None:
            # `gen` puts its quotas into Koordinator's namespace.
            self.inventory.target(
                TARGET_NAME, namespace=quota.namespace if quota.namespace != NAMESPACE else ""
            )
            self.recorded.add(quota.name)
        others = tuple(n for n in quota.namespaces if not any(n in of for of in quota.tenants.values()))
        for name, namespaces in (*quota.tenants.items(), *(((quota.name, others),) if others else ())):
            self.inventory.add_tenant(Tenant(name, namespaces, quota.name))

    def add_queues(self) -> None:
        """Adds the queues to those of systems with more fields."""
        for name, queue in self.queues.items():
            there = self.inventory.queues.get(name)
            if there is None or name in self.inventory.partial_queues:
                self.inventory.add_queue(queue)
            elif name in self.recorded:
                self.inventory.queues[name] = _as_stated(there, queue)
            elif there.limit != queue.limit:
                self.inventory.add_queue(queue)


def _as_stated(there: Queue, elastic: Queue) -> Queue:
    """A queue without `deserved` amounts that its system only derives."""
    deserved = {r: amount for r, amount in there.deserved.items() if r in elastic.deserved}
    return there._replace(deserved=deserved)


def name_tenants(inventory: Inventory) -> None:
    """Replaces namespaces in colocation profiles by tenants."""
    read_colocation = mapping(inventory.targets.get(TARGET_NAME, {}).get("colocation"))
    for says in mapping(read_colocation.get("workloads")).values():
        _name_tenants(says, inventory)


def _name_tenants(says: dict[str, Any], inventory: Inventory) -> None:
    listed = says.pop("namespaces", [])
    tenants = [
        each for each in inventory.tenants.values() if each.namespaces and set(each.namespaces) <= set(listed)
    ]
    if tenants:
        says["tenants"] = [tenant.name for tenant in tenants]
    theirs = {namespace for tenant in tenants for namespace in tenant.namespaces}
    if others := [namespace for namespace in listed if namespace not in theirs]:
        says["namespaces"] = others


def _amounts(quota: ElasticQuota) -> tuple[Amounts, Amounts, Amounts]:
    """Guarantee, deserved and limit: the recorded amounts if present, else all of the quota."""
    if quota.stated is not None:
        deserved = policy_amounts(quota.minimum, quota.stated.deserved)
        kept_alone = [name for name in quota.stated.guarantee if name not in deserved]
        guarantee = policy_amounts(quota.minimum, kept_alone if quota.lends else quota.stated.guarantee)
        return guarantee, deserved, policy_amounts(quota.maximum, quota.stated.limit)
    limit = {r: amount for r, amount in quota.maximum.items() if amount < unlimited_amount(r)}
    return ({}, quota.minimum, limit) if quota.lends else (quota.minimum, {}, limit)


def _weight(quota: ElasticQuota, inventory: Inventory) -> int:
    """The shared weight if it is the same for every resource, else 1."""
    shared = {
        amount / 1000 if resource == "cpu" else amount for resource, amount in (quota.weight or {}).items()
    }
    if not shared:
        return 1
    weight = shared.pop()
    if shared or weight != int(weight) or not 1 <= weight <= _MAX_WEIGHT:
        inventory.add_remark(
            f"ElasticQuota {quota.name} has a different shared-weight for each resource, which a policy "
            "cannot express; left out"
        )
        return 1
    return int(weight)


def read_reservation(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A Reservation: a generated one with its pool and number of pods, else as far as a policy allows."""
    read = reservations.read(data)
    owners = mappings(mapping(data.get("spec")).get("owners"))
    if not read.name or not read.requests:
        return
    if any(reservations.write_owner(owner) != raw for owner, raw in zip(read.owners, owners, strict=True)):
        inventory.add_remark(f"Reservation {read.name} has owners that a policy cannot express; left out")
        return
    workloads = {owner.labels.get(WORKLOAD_KEY, "") for owner in read.owners}
    if len(workloads) != 1 or any(not _plain(owner) for owner in read.owners):
        inventory.add_remark(f"Reservation {read.name} has owners that a policy cannot express; left out")
        return
    pool, pods = (
        read.annotations.get(reservations.POOL_ANNOTATION, ""),
        read.annotations.get(reservations.PODS_ANNOTATION, ""),
    )
    if read.required and reservations.RESERVATION_ANNOTATION not in read.annotations:
        inventory.add_remark(f"Reservation {read.name} selects nodes by labels: set `pool` to their pool")
    inventory.add_reservation(
        Reservation(
            read.annotations.get(reservations.RESERVATION_ANNOTATION, read.name),
            read.requests,
            int(pods) if pods.isdecimal() and pods.isascii() and len(pods) < 6 else 1,
            _tenant(read.annotations.get(reservations.TENANT_ANNOTATION, ""), read.owners, inventory),
            workloads.pop(),
            pool,
            read.ttl,
        )
    )


def _plain(owner: Owner) -> bool:
    """Whether an owner has only namespace and workload kind."""
    return not owner.pod and owner.labels.keys() <= {WORKLOAD_KEY}


def _tenant(name: str, owners: tuple[Owner, ...], inventory: Inventory) -> str:
    """The tenant of the owners' namespaces: by annotation, a known one, or a new one."""
    namespaces = tuple(owner.namespace for owner in owners if owner.namespace)
    if name or not namespaces:
        if name:
            inventory.add_tenant(Tenant(name, namespaces))
        return name
    for tenant in inventory.tenants.values():
        if set(namespaces) <= set(tenant.namespaces):
            return tenant.name
    inventory.add_tenant(Tenant(namespaces[0], namespaces))
    return namespaces[0]


def read_colocation(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A ClusterColocationProfile for pods of one workload kind."""
    profile = profiles.read(data)
    kind, band = profile.labels.get(WORKLOAD_KEY, ""), band_of_priority_class(profile.priority_class)
    fitting = QOS[band.name] if band else ()
    if not kind or len(profile.labels) > 1 or profile.unread or band is None or profile.qos not in fitting:
        inventory.add_remark(
            f"ClusterColocationProfile {profile.name} does not select one workload kind and one of "
            "Koordinator's PriorityClasses, which is all a policy can express; left out"
        )
        return
    says: dict[str, Any] = {"priority": band.name}
    if profile.qos != fitting[0]:
        says["qos"] = profile.qos
    if profile.priority is not None:
        says["order"] = profile.priority
    if profile.namespaces:
        says["namespaces"] = list(profile.namespaces)
    there = mapping(inventory.targets[TARGET_NAME].get("colocation"))
    workloads = {**mapping(there.get("workloads"))}
    workloads.setdefault(kind, says)
    inventory.targets[TARGET_NAME]["colocation"] = {**there, "workloads": workloads}


def read_network_topology(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A ClusterNetworkTopology: node labels of the levels that a policy has."""
    for layer in topology.read(data):
        if layer.name in LEVELS and layer.keys:
            inventory.add_level(layer.name, layer.keys[0])
        elif layer.name != topology.NODE_LAYER:
            inventory.add_remark(f"network layer {layer.name}: a policy has levels {', '.join(LEVELS)} only")


_CONFIGURATION = "KubeSchedulerConfiguration"
_BY_KIND: Mapping[str, Callable[[Mapping[str, Any], Inventory], None]] = {
    "Reservation": read_reservation,
    "ClusterColocationProfile": read_colocation,
    "ClusterNetworkTopology": read_network_topology,
}
_FILE = "koord-scheduler-config.yaml"


class KoordinatorReader(ImportReader):
    """Reads quotas, reservations, colocation profiles and the configuration of koord-scheduler."""

    target_name = TARGET_NAME
    namespace = NAMESPACE

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.quotas = ElasticQuotas(inventory)
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
        name_tenants(self.inventory)

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
            cluster = _with_release(section, cluster, importing.release(self.configuration))
            try:
                section.update(
                    importing.options(cluster, self.configuration, self.file, self.inventory.add_remark)
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
        own = [inner for inner in stated if importing.is_koordinators(inner)]
        for inner in own:
            self._add_configuration(inner, path)
        return bool(own)

    def _read_configuration(self, data: Mapping[str, Any], path: str) -> bool:
        if not importing.is_koordinators(data):
            return False
        self._add_configuration(data, path)
        return True

    def _add_configuration(self, data: Mapping[str, Any], path: str) -> None:
        if self.configuration is None:
            self.configuration, self.file = data, path
        importing.add_profiles(data, self.inventory)


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
