"""Queues and placement rules of a queues.yaml as facts, and how YuniKorn treats queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted
from policykit.model.declared_queues import (
    NAMESPACE,
    PARENT,
    DeclaredQueue,
    PolicyQueues,
    QueuePlacement,
    QueueSemantics,
    Route,
    StaticQueues,
)
from policykit.targets.yunikorn import default_partition
from policykit.targets.yunikorn.configuration.placement_rules import (
    FIXED,
    NAMESPACE_TAG,
    PARENT_QUEUE_TAG,
    PROVIDED,
    TAG,
    Rule,
)
from policykit.targets.yunikorn.configuration.queues_yaml import Partition, Queue, QueueNode
from policykit.targets.yunikorn.configuration.values import CORES, contains_placeholder, counted, to_amounts
from policykit.targets.yunikorn.names import ROOT, SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


_FALLBACK = "root.default"


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Facts of every queue, parents first, and of the placement rules; none if the file does not decode."""
    found = default_partition.read(manifest, context.cluster)
    if found is None:
        return
    document = (manifest.holder or manifest).document
    tree = f"{context.path}#{document}/{dotted(manifest.held_at)}"
    yield from _queues(found.tree, tree, "", "")
    yield Fact(_placing(found.partition.rules, tree), {"rules": (*found.path, "placementrules")})


def _queues(here: QueueNode, tree: str, above: str, parent: str) -> Iterator[Fact]:
    queue = here.queue
    name = f"{above}{queue.name}".lower()
    places: dict[str, Path] = {"name": (*here.path, "name") if queue.name != ROOT else here.path}
    found: dict[str, dict[str, int]] = {}
    measured = True
    for field, key, stated in (
        ("guarantee", "guaranteed", queue.resources.guaranteed),
        ("limit", "max", queue.resources.maximum),
    ):
        found[field] = to_amounts(stated)
        measured = measured and len(counted(stated)) == len(stated or {})
        if not any(found[field].values()):
            found[field] = {}  # nothing but zeros means no limit
        at = (*here.path, "resources", key)
        if stated:
            places[field] = at
        for resource in found[field]:
            places[f"{field}.{resource}"] = (*at, CORES if resource == "cpu" else resource)
    declared = DeclaredQueue(
        SCHEDULER,
        name,
        parent,
        guarantee=found["guarantee"],
        limit=found["limit"],
        tree=tree,
        holds_queues=queue.parent,
        measured=measured,
    )
    yield Fact(declared, places)
    for child in here.children:
        yield from _queues(child, tree, f"{name}.", name)


def _placing(rules: Sequence[Rule], tree: str) -> QueuePlacement:
    """How pods are placed. Without rules there is one, which reads the name and creates no queue."""
    rules = rules or (Rule(PROVIDED),)
    named = [rule for rule in rules if rule.name.lower() == PROVIDED]
    return QueuePlacement(
        SCHEDULER,
        tree,
        honours_pod_queue=bool(named),
        reads_as_parent=any(above.name.lower() == PROVIDED for rule in rules for above in rule.chain[:-1]),
        creates_queues=any(rule.create for rule in named),
        default_parent=_default_parent(named),
        has_other_rules=any(rule.name.lower() != PROVIDED for rule in rules) or any(map(_filtered, named)),
    )


def _default_parent(named: Sequence[Rule]) -> str | None:
    """The queue below which a name without root belongs; None: it depends on the pod."""
    parents = {_fixed(rule.parent) for rule in named}
    return parents.pop() if len(parents) == 1 else None


def _fixed(rule: Rule | None) -> str | None:
    if rule is None:
        return ROOT
    if rule.name.lower() != FIXED or rule.parent is not None:
        return None
    value = rule.value.lower()
    return value if value.startswith(f"{ROOT}.") else f"{ROOT}.{value}"


def _filtered(rule: Rule) -> bool:
    return bool(rule.filter.users or rule.filter.groups or rule.filter.type)


def amount_paths(manifest: Manifest, cluster: Cluster | None) -> Iterator[Path]:
    """Path of each resource that a queues.yaml names, if it decodes and YuniKorn counts the resource."""
    from policykit.targets.yunikorn.validation.failures import never_counted, stated_amounts

    found = default_partition.read_partial(manifest, cluster)
    for path, stated in stated_amounts(found.tree) if found else ():
        yield from ((*path, resource) for resource in stated if not never_counted(resource))


def queue_semantics(cluster: Cluster | None) -> QueueSemantics:
    """The same for all releases from 1.6. PK701 reports trees that its validator refuses."""
    return QueueSemantics(
        "YuniKorn",
        "queue",
        {"guarantee": "guaranteed", "limit": "max"},
        resource_names={"cpu": CORES},
        roots=frozenset({ROOT}),
        built_in=frozenset({ROOT, "default", _FALLBACK}),
        fallback=_FALLBACK,
        own_validator=True,
        submit_fault="YuniKorn places nothing in such a queue",
        unknown_fault="YuniKorn rejects applications that no placement rule has a queue for",
    )


def policy_queues(cluster: Cluster) -> PolicyQueues:
    """The policy's queues by path. The rules that generation writes create no queue that a pod names."""
    from policykit.targets.yunikorn import options
    from policykit.targets.yunikorn.policy_configuration import parent_queues
    from policykit.targets.yunikorn.queue_tree import queue_paths

    stated = options.yunikorn_options(cluster.targets[SCHEDULER])
    holds = parent_queues(cluster, stated)
    placing = (
        _placing(stated.rules, "")
        if stated.rules
        else QueuePlacement(SCHEDULER, "", default_parent=ROOT, has_other_rules=True)
    )
    places = {name: path.lower() for name, path in queue_paths(cluster.queues).items()}
    queues = {path: path.rpartition(".")[0] for path in places.values()}
    names = {path: name for name, path in places.items()}
    return PolicyQueues(queues, frozenset(places[name] for name in holds & places.keys()), placing, names)


def resolved(name: str, placing: QueuePlacement | None) -> str:
    """The full path of a queue as a pod names it; empty: it depends on the user.

    Source: core `placement/provided_rule.go` (1.9).
    """
    if name.startswith(f"{ROOT}."):
        return name.lower()
    if name.lower() == ROOT and not (placing and placing.creates_queues):
        return ROOT
    parent = placing.default_parent if placing else ROOT
    return "" if parent is None else f"{parent}.{name.replace('.', '_dot_')}".lower()


def static_queue_facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """StaticQueues of a configuration without placeholders."""
    found = default_partition.read(manifest, context.cluster)
    if found is not None and not contains_placeholder(manifest.data):
        queues = static_queues(found.partition, found.tree.queue)
        yield Fact(queues, {"queues": found.tree.path}, answers=True)


def static_queues(partition: Partition, root: Queue) -> StaticQueues:
    """The leaves of a tree, and the rules that place namespaces in them."""
    routes = (_route(rule) for rule in partition.rules)
    return StaticQueues(tuple(_leaves(root, ROOT)), tuple(route for route in routes if route))


def _leaves(queue: Queue, path: str) -> Iterator[str]:
    if queue.leaf and path != ROOT:
        yield path
    for child in queue.queues:
        yield from _leaves(child, f"{path}.{child.name.lower()}")


def _route(rule: Rule) -> Route | None:
    """None for a rule that depends on more than the namespace."""
    steps: list[str] = []
    for each in rule.chain:
        name, value = each.name.lower(), each.value.lower()
        if each.filter.users or each.filter.groups:
            return None
        if name == FIXED and value:
            steps += value.removeprefix(f"{ROOT}.").split(".")
        elif name == TAG and value in (NAMESPACE_TAG, PARENT_QUEUE_TAG):
            steps.append(NAMESPACE if value == NAMESPACE_TAG else PARENT)
        else:
            return None
    return Route(rule.create, tuple(steps))
