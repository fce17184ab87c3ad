"""What `policykit why` reads, and the explanations that it makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from policykit import api
from policykit.cli.live import as_cluster, system_namespaces
from policykit.errors import SourceError
from policykit.gates.explanation import (
    SUSPENDED,
    Explanation,
    GangState,
    NodeUse,
    PoolRoom,
    QueueState,
    pool_room,
    steps,
)
from policykit.gates.pod_gates import Answer
from policykit.importer.node_membership import membership
from policykit.kube.nodes import read as read_node
from policykit.kube.requests import amounts, effective
from policykit.linter.scope import AnyFact, LocatedFact, with_runtime_classes
from policykit.live.client import ForbiddenError, Object
from policykit.live.kinds import NODE, POD, Resource, Role, kinds
from policykit.live.objects import (
    ClusterReader,
    LiveObject,
    UnreadableResource,
    controller,
    is_finished,
    live_object,
)
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.cluster import Cluster
from policykit.model.declared_queues import DeclaredQueue, QueueUse
from policykit.model.gang import Membership, PodGroup
from policykit.namedtuple import NamedTuple
from policykit.targets import DEFAULT_SCHEDULER, target_of

T = TypeVar("T")
_EVENTS = "events"
_SHOWN = 20
"""Most explanations of one object: its other pods wait for the same reasons."""


class ClusterView(NamedTuple):
    """What a look at the cluster has found."""

    cluster: Cluster
    resources: Mapping[str, Resource]
    """By their names for kubectl."""
    items: Mapping[str, Object]
    """Workloads of the namespace and objects that decide about pods, as the server gives them."""
    objects: Mapping[str, LiveObject]
    facts: Mapping[str, Sequence[AnyFact]]
    pods: Mapping[str, Object]
    """Of the namespace."""
    uids: Mapping[str, str]
    """Of `items`, to their names."""
    pools: Mapping[str, str]
    """Nodes to their pools."""
    nodes: Mapping[str, Sequence[NodeUse]]
    """Of each pool."""
    whole: bool
    """The pods of all namespaces are known."""


def explanations(read: ClusterReader, names: Sequence[str], cluster: Cluster | None) -> list[Explanation]:
    """One for each pod or object, more where the pods of an object differ.

    Raises ClusterError, and SourceError for what is not there.
    """
    found = _look(read, cluster)
    return [each for name in names for each in _about(read, found, name)]


def _look(read: ClusterReader, cluster: Cluster | None) -> ClusterView:
    nodes = [read_node(item) for _, item in read.items((NODE,))]
    cluster = cluster or as_cluster(nodes, read)
    items: dict[str, Object] = {}
    objects: dict[str, LiveObject] = {}
    facts: dict[str, Sequence[AnyFact]] = {}
    resources: dict[str, Resource] = {}
    others = [kind for kind in kinds() if kind not in (NODE, POD)]
    for resource, item in read.items(others, system_namespaces(cluster)):
        each = live_object(resource, item)
        items[each.name], objects[each.name] = item, each
        resources |= dict.fromkeys(_names(resource), resource)
        if resource.kind.role is not Role.WORKLOADS or (not is_finished(item) and not controller(item)):
            facts[each.name] = api.facts(each.name, each.text, cluster)
    cluster = with_runtime_classes(cluster, (fact for some in facts.values() for fact in some))
    pods, used, whole = _pods(read)
    (pod,) = read.resources((POD,)) or (None,)
    resources |= dict.fromkeys(_names(pod), pod) if pod else {}
    pools = {each.node.name: each.pool.name for each in membership(cluster, nodes).pool_nodes}
    by_pool: dict[str, list[NodeUse]] = {}
    for node in nodes:
        use = NodeUse(node, used.get(node.name, {}))
        by_pool.setdefault(pools.get(node.name, ""), []).append(use)
    return ClusterView(cluster, resources, items, objects, facts, pods, _uids(items), pools, by_pool, whole)


def _uids(items: Mapping[str, Object]) -> dict[str, str]:
    return {text(mapping(each.get("metadata")).get("uid")): name for name, each in items.items()}


def _names(resource: Resource) -> list[str]:
    """What kubectl calls a kind: `job`, `jobs`, `job.batch.volcano.sh`, ..."""
    group = resource.kind.group
    short = [resource.kind.name.lower(), resource.plural]
    first = short if resource.kind.shown == resource.kind.name else []
    return [*first, *(f"{name}.{group}" for name in short if group)]


def _pods(read: ClusterReader) -> tuple[dict[str, Object], dict[str, dict[str, int]], bool]:
    """Pods of the namespace, what bound pods request on each node, and whether all of them are known."""
    mine: dict[str, Object] = {}
    used: dict[str, dict[str, int]] = {}
    before = len(read.gaps)
    for item in read.everywhere(POD):
        _count(item, used)
        metadata = mapping(item.get("metadata"))
        if metadata.get("namespace") == read.client.namespace:
            mine[text(metadata.get("name"))] = item
    if len(read.gaps) == before:
        return mine, used, True
    for _, item in read.items((POD,)):
        mine[text(mapping(item.get("metadata")).get("name"))] = item
    return mine, {}, False


def _count(pod: Object, used: dict[str, dict[str, int]]) -> None:
    spec = mapping(pod.get("spec"))
    node = text(spec.get("nodeName"))
    if not node or is_finished(pod):
        return
    there = used.setdefault(node, {})
    for resource, amount in {**effective(spec), "pods": 1}.items():
        there[resource] = there.get(resource, 0) + amount


def _about(read: ClusterReader, found: ClusterView, given: str) -> Iterator[Explanation]:
    kind, slash, name = given.partition("/")
    kind, name = (kind.lower(), name) if slash else ("pod", given)
    resource = found.resources.get(kind)
    if resource is None:
        raise SourceError(f"no kind {kind!r} with pods", "name a pod, or KIND/NAME as for kubectl get")
    namespace = read.client.namespace
    if resource.kind == POD:
        if name not in found.pods:
            raise SourceError(f"no pod {namespace}/{name}", "check the name and --namespace")
        yield _of_pod(read, found, resource, found.pods[name])
        return
    shown = f"{resource.kind.shown} {namespace}/{name}"
    if shown not in found.objects:
        raise SourceError(f"no {shown}", "check the name and --namespace")
    yield from _of_object(read, found, shown)


def _of_object(read: ClusterReader, found: ClusterView, name: str) -> Iterator[Explanation]:
    """One for each group of its pods that are alike; its templates if it has no pods."""
    pods = [each for each in found.pods.values() if name in _owners(each, found) and not is_finished(each)]
    resource = found.resources.get("pod")
    if not pods or resource is None:
        for answer in _answers(found, found.objects[name], name):
            begun = Explanation(name, answer, _kubectl(found, name), held_by=_held(found.items[name]))
            yield _completed(begun, found, _facts(found, name), name)
        return
    groups: dict[str, list[Object]] = {}
    for each in pods:
        groups.setdefault(_likeness(each, found), []).append(each)
    for first, *more in [*groups.values()][:_SHOWN]:
        yield _of_pod(read, found, resource, first)._replace(alike=len(more))


_PLACING = ("affinity", "nodeSelector", "schedulerName", "schedulingGates", "tolerations", "resources")


def _likeness(pod: Object, found: ClusterView) -> str:
    """Equal for pods that have, or wait for, the same."""
    spec = mapping(pod.get("spec"))
    pool = found.pools.get(text(spec.get("nodeName")), "")
    placing = [spec.get(key) for key in _PLACING]
    return json.dumps([bool(spec.get("nodeName")), pool, placing, effective(spec)], sort_keys=True)


def _owners(pod: Object, found: ClusterView) -> list[str]:
    """The objects that control a pod, from the nearest up."""
    here, names = pod, list[str]()
    while (reference := controller(here)) is not None:
        name = found.uids.get(text(reference.get("uid")), "")
        if not name or name in names:
            break
        names.append(name)
        here = found.items[name]
    return names


def _of_pod(read: ClusterReader, found: ClusterView, resource: Resource, pod: Object) -> Explanation:
    top = ("", *_owners(pod, found))[-1]
    live = live_object(resource, pod)
    (answer, *_) = _answers(found, live, live.name)
    if top and top in found.facts:
        above = [*_answers(found, found.objects[top], top)]
        answer = answer._replace(gates=tuple(dict.fromkeys(gate for one in above for gate in one.gates)))
    spec, status = mapping(pod.get("spec")), mapping(pod.get("status"))
    node = text(spec.get("nodeName"))
    begun = Explanation(
        live.name,
        answer,
        _kubectl(found, top) if top else "",
        phase=text(status.get("phase")),
        node=node,
        held_by=_held(pod) + (_held(found.items[top]) if top else ()),
        scheduler=text(spec.get("schedulerName")) or DEFAULT_SCHEDULER,
        message="" if node else _scheduler_message(read, live, pod),
    )
    facts = _facts(found, top) if top else api.facts(live.name, live.text, found.cluster)
    return _completed(begun, found, facts, top)


def _facts(found: ClusterView, name: str) -> Sequence[AnyFact]:
    """Of an object, also of one that another controls."""
    return found.facts.get(name) or api.facts(name, found.objects[name].text, found.cluster)


def _kubectl(found: ClusterView, name: str) -> str:
    each = found.objects[name]
    return f"{each.resource.shown}/{text(mapping(each.data.get('metadata')).get('name'))}"


def _answers(found: ClusterView, each: LiveObject, name: str) -> Iterator[Answer]:
    facts = [*(fact for some in found.facts.values() for fact in some)]
    raw = each.text
    if name not in found.facts:
        facts += api.facts(name, raw, found.cluster)
    reviewed = [(name, review) for review in api.where(raw, found.cluster)]
    return api.answers(reviewed, facts, found.cluster, complete=False)


def _completed(begun: Explanation, found: ClusterView, facts: Sequence[AnyFact], top: str) -> Explanation:
    """With rooms, queue, gang, and what would help."""
    review = begun.answer.review
    rooms: tuple[PoolRoom, ...] | None = None
    if found.whole:
        accepting = [landing.pool.name for landing in review.landings if landing.accepts]
        rooms = tuple(pool_room(review, pool, found.nodes.get(pool, ())) for pool in accepting)
    pool, meant = found.pools.get(begun.node, ""), review.eligible_pools
    joined = next(_of_type(facts, Membership), None)
    uses = [*_of_type(facts, QueueUse)]
    if joined:
        # The queue of a group is that of its members.
        groups = (each for _, each in _all(found, QueueUse) if each.group)
        place = (joined.namespace, joined.group)
        uses += [each for each in groups if (each.namespace, each.group) == place]
    one = begun._replace(
        pool=pool,
        meant=meant is None or not begun.node or pool in {each.name for each in meant},
        rooms=rooms,
        queues=tuple(_queues(uses, found)),
        gang=_gang(joined, found, top) if joined else None,
    )
    return one._replace(steps=() if one.runs else tuple(steps(one, found.cluster)))


def _queues(uses: Iterable[QueueUse], found: ClusterView) -> Iterator[QueueState]:
    """The queues that pods name, with their limits, and what their status says is used."""
    declared = {(each.target_name, each.name): (name, each) for name, each in _all(found, DeclaredQueue)}
    for target_name, queue in dict.fromkeys((use.target_name, use.queue) for use in uses):
        name, there = declared.get((target_name, queue), ("", None))
        target = target_of(target_name)
        path = target.queues.used if target and target.queues else ()
        used = lookup(found.items[name], path) if name in found.items and path else None
        yield QueueState(
            queue, there.limit if there else {}, amounts(used) if isinstance(used, dict) else None
        )


def _gang(joined: Membership, found: ClusterView, top: str) -> GangState:
    """The group that the pods of an object join."""
    place = (joined.namespace, joined.group)
    groups = ((name, each) for name, each in _all(found, PodGroup) if (each.namespace, each.name) == place)
    name, group = next(groups, ("", None))
    pods = [each for each in found.pods.values() if _joins(each, joined, top, found)]
    status = mapping(found.items.get(name, {}).get("status"))
    messages = [text(each.get("message")) for each in mappings(status.get("conditions"))]
    return GangState(
        joined.group,
        group.min_member if group else joined.min_member,
        len(pods),
        sum(bool(mapping(each.get("spec")).get("nodeName")) for each in pods),
        text(status.get("phase")),
        next((message for message in reversed(messages) if message), ""),
    )


def _all(found: ClusterView, kind: type[T]) -> Iterator[tuple[str, T]]:
    """Facts of a type, with the objects that state them."""
    for name, facts in found.facts.items():
        yield from ((name, value) for value in _of_type(facts, kind))


def _of_type(facts: Iterable[AnyFact], kind: type[T]) -> Iterator[T]:
    for fact in facts:
        if isinstance(fact, LocatedFact) and isinstance(fact.value, kind):
            yield fact.value


def _joins(pod: Object, joined: Membership, top: str, found: ClusterView) -> bool:
    """Whether a pod is of the gang: the object's own, or one that names the group."""
    metadata = mapping(pod.get("metadata"))
    named = (*mapping(metadata.get("labels")).values(), *mapping(metadata.get("annotations")).values())
    return joined.group in named or top in _owners(pod, found)


def _held(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Scheduling gates and suspension."""
    spec = mapping(item.get("spec"))
    gates = tuple(
        f"scheduling gate {text(each.get('name'))}" for each in mappings(spec.get("schedulingGates"))
    )
    suspended = spec.get("suspend") is True or mapping(spec.get("runPolicy")).get("suspend") is True
    return (*gates, *((SUSPENDED,) if suspended else ()))


def _scheduler_message(read: ClusterReader, live: LiveObject, pod: Object) -> str:
    """The last message of the scheduler: from events, else from the pod's condition."""
    metadata, status = mapping(live.data.get("metadata")), mapping(pod.get("status"))
    path = f"/api/v1/namespaces/{metadata.get('namespace')}/{_EVENTS}"
    selector = f"involvedObject.kind=Pod,involvedObject.name={metadata.get('name')}"
    events: list[Object] = []
    try:
        for page in read.client.pages(path, _EVENTS, {"fieldSelector": selector}):
            events += [each for each in page if each.get("reason") == "FailedScheduling"]
    except ForbiddenError as error:
        if all(gap.resource != _EVENTS for gap in read.gaps):
            read.gaps.append(UnreadableResource(_EVENTS, error.message))
    if events:
        return text(max(events, key=_time).get("message"))
    conditions = mappings(status.get("conditions"))
    return next((text(each.get("message")) for each in conditions if each.get("type") == "PodScheduled"), "")


def _time(event: Object) -> str:
    """RFC 3339, which sorts as text."""
    series = mapping(event.get("series")).get("lastObservedTime")
    first = mapping(event.get("metadata")).get("creationTimestamp")
    return text(series) or text(event.get("lastTimestamp")) or text(event.get("eventTime")) or text(first)
