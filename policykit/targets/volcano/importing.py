"""Reads Volcano's objects and scheduler configuration back into a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.kube.names import dns_subdomain_problem
from policykit.linter.import_reader import ImportReader, WorkloadComponent, documents
from policykit.manifests.document import Manifest
from policykit.manifests.shape import mapping, text
from policykit.model.cluster import Cluster
from policykit.model.inventory import Inventory, LevelBound
from policykit.model.queue import PoolAffinity, Queue, Tenant
from policykit.model.topology import LEVELS
from policykit.targets.volcano.generate import NAMESPACE
from policykit.targets.volcano.names import (
    CONFIG_FILE,
    CONFIG_OVERRIDE,
    QUEUE_NAME,
    TOPOLOGY_MODE,
    TOPOLOGY_TIER,
)
from policykit.targets.volcano.objects import nodegroups, queues, topology
from policykit.targets.volcano.objects.queue_admission import MAX_WEIGHT
from policykit.targets.volcano.objects.topology import read_network_topology
from policykit.targets.volcano.scheduler.configuration import Configuration, read
from policykit.targets.volcano.scheduler.importing import options
from policykit.targets.volcano.scheduler.validator import PREEMPTING, RECLAIMING

_ROOT, _DEFAULT = "root", Queue("default")


def read_queue(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A Queue, unless it is `root`, or `default` as Volcano creates it."""
    inventory.target("volcano")
    read = queues.read(data)
    if read.parent == _ROOT:
        read = read._replace(parent="")
    if read.name == _ROOT or read == _DEFAULT:
        return
    if not 1 <= read.weight <= MAX_WEIGHT:
        inventory.add_remark(
            f"queue {read.name} has weight {read.weight}, outside 1..{MAX_WEIGHT}; weight 1 is used"
        )
        read = read._replace(weight=1)
    if read.priority is not None and read.priority < 0:
        inventory.add_remark(
            f"queue {read.name} has negative priority {read.priority}; the priority is left out"
        )
        read = read._replace(priority=None)
    inventory.add_queue(_with_parent(read, queues.branches(data), inventory))


def _with_parent(read: Queue, branches: tuple[queues.Branch, ...], inventory: Inventory) -> Queue:
    """The queue below its parent in the annotated hierarchy (plugin drf), whose ancestors become queues."""
    if not branches or read.parent:
        return read
    path = "/".join(branch.name for branch in branches)
    if any(dns_subdomain_problem(branch.name) for branch in branches):
        inventory.add_remark(
            f"queue {read.name} is annotated with hierarchy {path}, in which not all names are valid; "
            "hierarchy left out"
        )
        return read
    above = ""
    for branch in branches[:-1]:
        inventory.add_queue(Queue(branch.name, above, _weight(branch)))
        above = branch.name
    inventory.add_remark(
        f"queue {read.name} is annotated with hierarchy {path} for plugin drf: imported as nested queues, "
        "which `policykit gen` writes for plugin capacity"
    )
    return read._replace(parent=above, weight=_weight(branches[-1]))


def _weight(branch: queues.Branch) -> int:
    """Rounded, as queues need it; 1 if it is not a finite number."""
    return min(max(round(branch.weight), 1), MAX_WEIGHT) if abs(branch.weight) < MAX_WEIGHT else 1


def read_namespace(found: Manifest, inventory: Inventory) -> bool:
    """A Namespace with a queue; False: it has none.

    Namespaces with the same queue form a tenant named after it.
    """
    read_queue = found.annotations.get(QUEUE_NAME, "")
    if read_queue and found.name:
        inventory.target("volcano")
        inventory.add_tenant(Tenant(read_queue, (found.name,), read_queue))
    return bool(read_queue)


def read_hyper_node(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A HyperNode gives the node label of its level, if its tier is named after a level."""
    inventory.target("volcano")
    read = topology.read(data)
    own = [member for member in read.members if member.kind == "Node"]
    if inventory.levels_complete and not read.tier_name:
        # Before 1.14 tiers have no names; other generated files list the levels.
        return
    if read.tier_name not in LEVELS:
        tier = f"tier {read.tier}" + (f" ({read.tier_name})" if read.tier_name else "")
        inventory.add_remark(f"HyperNodes of {tier}: a policy has levels {', '.join(LEVELS)} only; left out")
        return
    keys = {key for member in own for key in member.labels}
    if len(keys) == 1:
        inventory.add_level(read.tier_name, next(iter(keys)))
    elif any(member.name or member.pattern for member in own):
        inventory.add_remark(
            f"HyperNode {read.name} selects nodes by name, but a policy locates nodes by label: "
            f"label them for the level {read.tier_name}"
        )


def reduce_node_groups(inventory: Inventory) -> None:
    """Reduces node groups of queues to what the policy must state."""
    if not nodegroups.uses_node_groups(inventory.queues.values()):
        return
    every = frozenset(_groups(inventory))
    there = dict(inventory.queues)
    reduced = {
        name: each._replace(pools=_policy_affinity(each, there, every)) for name, each in there.items()
    }
    if not nodegroups.uses_node_groups(reduced.values()):
        # Every queue may use every pool: stated by none of them, no queue would have an affinity.
        reduced |= {name: each for name, each in there.items() if name != "default"}
    inventory.queues.update(reduced)
    parents = {each.parent for each in there.values()}
    if inventory.queues.get("default") == _DEFAULT and "default" not in parents:
        del inventory.queues["default"]


def _groups(inventory: Inventory) -> Iterator[str]:
    """All node groups of generated pools, nodes and queues."""
    yield from (pool.name for pool in inventory.generated)
    yield from (group for node in inventory.nodes.values() if (group := node.labels.get(nodegroups.LABEL)))
    for each in inventory.queues.values():
        for names in each.pools or ():
            yield from names


def _policy_affinity(queue: Queue, there: Mapping[str, Queue], every: frozenset[str]) -> PoolAffinity | None:
    above = there.get(queue.parent)
    pools = queue.pools
    if pools is None or (above is not None and above.pools == pools):
        return None
    anywhere = above is None or above.pools is None or set(above.pools.required) == every
    if anywhere and set(pools.required) == every - set(pools.excluded):
        pools = pools._replace(required=())
    return pools if any(pools) else None


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
            read_queue(manifest.data, self.inventory)
        elif kind == "HyperNode":
            read_hyper_node(manifest.data, self.inventory)
        elif kind == "ConfigMap":
            return self._read_config_map(manifest, path)
        elif kind == "Namespace":
            return read_namespace(manifest, self.inventory)
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
        reduce_node_groups(self.inventory)

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
