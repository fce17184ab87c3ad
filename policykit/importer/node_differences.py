"""Differences between live nodes and the policy, and commands that remove them in a safe order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.catalogue import cards as catalogue
from policykit.importer.node_labels import is_transient
from policykit.importer.node_membership import Membership, PoolNode
from policykit.kube.nodes import labels_of
from policykit.kube.tolerations import tolerates
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Taint
from policykit.model.quantity import amount_text
from policykit.model.shared_cards import NAMES
from policykit.namedtuple import NamedTuple
from policykit.placement.landing import injected
from policykit.policy.compile.pools import PODS_PER_NODE
from policykit.targets.nodes.existing_nodes import BATCH, EVICTS, command
from policykit.targets.nodes.node_groups import pool_taints, shape_labels


class Difference(NamedTuple):
    """One difference, of a node or of a whole pool."""

    pool: str
    """Empty: the node is in no pool."""
    kind: str
    """missing-label, wrong-label, missing-taint, wrong-taint, extra-taint, foreign-taint, unusable-node,
    no-usable-node, too-small, unclaimed-node, missing-node, too-few-nodes or too-many-nodes."""
    message: str
    """Without the names of the nodes."""
    node: str = ""
    label: tuple[str, str] | None = None
    """Label to set on the node; to remove if the kind is extra-label."""
    taint: Taint | None = None
    """Taint to set; to remove if the kind is extra-taint or foreign-taint."""
    help: str = ""
    """What to do if no generated command fixes it."""
    fails: bool = True
    """False: the state of the node explains it and will change again, as with a cordon."""


def differences(cluster: Cluster, where: Membership) -> tuple[Difference, ...]:
    """All differences: pools in the policy's order, then nodes in no pool."""
    found: list[Difference] = []
    for pool in cluster.pools:
        pool_nodes = [pool_node for pool_node in where.pool_nodes if pool_node.pool.name == pool.name]
        for pool_node in pool_nodes:
            found += [*_labels(cluster, pool_node), *_taints(cluster, pool_node), *_sizes(cluster, pool_node)]
        found += _usability(pool, pool_nodes)
        found += _numbers(pool, pool_nodes)
    for node in where.unclaimed:
        message = "node is in no pool of the policy"
        like = _like(cluster, node)
        hint = f"it resembles pool {like}: add it there" if like else "add a pool for it, or list it in one"
        found.append(Difference("", "unclaimed-node", message, node.name, help=hint))
    found += _control_plane(cluster, where.control_plane)
    return tuple(found)


def _like(cluster: Cluster, node: Pool) -> str:
    """The pool whose labels and taints a node has, and most of its selector; empty: none."""
    there = labels_of(node).items()
    found = [
        (-max(len(shape.selector.items() & there) for shape in pool.shapes), order, pool.name)
        for order, pool in enumerate(cluster.pools)
        if (pool.labels or pool.taints)
        and pool.labels.items() <= there
        and set(pool.taints) <= set(node.taints)
    ]
    return min(found)[2] if found else ""


def _labels(cluster: Cluster, pool_node: PoolNode) -> Iterator[Difference]:
    node, pool, shape = pool_node
    has = labels_of(node)
    ours = shape_labels(cluster, pool, shape)
    for key, value in sorted({**pool.labels, **shape.labels}.items()):
        there = has.get(key)
        if there == value:
            continue
        kind = "missing-label" if there is None else "wrong-label"
        says = (
            f"label {key}={value} is missing" if there is None else f"label {key} is {there!r}, not {value!r}"
        )
        settled = (key, value) if key in ours else None
        hint = "" if settled else _writer(cluster, pool, key, there)
        yield Difference(pool.name, kind, says, node.name, settled, help=hint)
    if cluster.usage_key in has and not pool.usage and cluster.usage_key not in pool.labels:
        says = f"label {cluster.usage_key}={has[cluster.usage_key]} is set, but the pool has no usage"
        yield Difference(pool.name, "extra-label", says, node.name, (cluster.usage_key, ""))


def _writer(cluster: Cluster, pool: Pool, key: str, there: str | None) -> str:
    """Who sets a label that is not set by hand."""
    card = cluster.card_of(pool)
    vendor = catalogue.vendor(card.vendor) if card else None
    if key in pool.discovered and vendor and key in (*vendor.label_keys, vendor.product_key):
        sets = f"{vendor.set_by or 'the labeller'} of {vendor.name} sets it"
        if there is None:
            return f"{sets}: check that its pod runs on the node"
        return (
            f"{sets} from the cards it detects: check that all are healthy, or move the node to another pool"
        )
    return "the cloud or the kubelet sets it: check the node pool of the node"


def _taints(cluster: Cluster, pool_node: PoolNode) -> Iterator[Difference]:
    node, pool, _ = pool_node
    ours = pool_taints(cluster, pool)
    wanted = {(taint.key, taint.effect): taint for taint in pool.taints}
    there = {(taint.key, taint.effect): taint for taint in node.taints}
    for place, taint in sorted(wanted.items()):
        have = there.get(place)
        if have == taint:
            continue
        kind = "wrong-taint" if have else "missing-taint"
        says = f"taint is {have}, not {taint}" if have else f"taint {taint} is missing"
        settled = taint if taint in ours else None
        hint = "" if settled else "the cloud sets it: check the node pool of the node"
        yield Difference(pool.name, kind, says, node.name, taint=settled, help=hint)
    for place, taint in sorted(there.items()):
        if place not in wanted and taint.key in _owned(cluster) and not _is_former(cluster, pool, taint):
            says = f"taint {taint} is not in the policy"
            yield Difference(pool.name, "extra-taint", says, node.name, taint=taint)
        elif place not in wanted and not _is_former(cluster, pool, taint) and _is_foreign(pool, taint):
            says = f"taint {taint} is not in the policy, and no workload kind tolerates it"
            hint = "remove it, or add it to `taints` of the pool"
            yield Difference(pool.name, "foreign-taint", says, node.name, taint=taint, help=hint)


def _owned(cluster: Cluster) -> frozenset[str]:
    """Taint keys that the policy manages."""
    products = {card.product_key for card in cluster.cards.values()}
    return frozenset({*cluster.taint_keys, *products, cluster.usage_key} - {""})


def has_former_taints(cluster: Cluster, where: Membership) -> bool:
    """Whether a node still has a taint under a former key or value."""
    return any(
        _is_former(cluster, pool_node.pool, taint)
        for pool_node in where.pool_nodes
        for taint in pool_node.node.taints
    )


def _is_former(cluster: Cluster, pool: Pool, taint: Taint) -> bool:
    """Whether a taint of the pool had this key or value, and pods still tolerate it."""
    key, value = cluster.formerly.present(taint.key, taint.value)
    former = (key, value) != (taint.key, taint.value)
    return former and taint._replace(key=key, value=value) in pool.taints


def _is_foreign(pool: Pool, taint: Taint) -> bool:
    """Whether a taint that the policy does not know keeps the pods of every workload kind away.

    Patches tolerate the taints of the pools; admission may add tolerations.
    """
    given = injected(pool, dict.fromkeys(pool.resources, 1))
    return taint.hard and not is_transient(taint) and not any(tolerates(each, taint) for each in given)


_CORDONED = "it is cordoned"


def _usability(pool: Pool, pool_nodes: list[PoolNode]) -> Iterator[Difference]:
    """Nodes that accept no new pods in their present state; it fails only if the pool has no others."""
    states = {pool_node.node.name: _state(pool_node.node) for pool_node in pool_nodes}
    for name, state in states.items():
        # A cordon that the policy states is no difference.
        if state and not (pool.unschedulable and state == _CORDONED):
            yield Difference(pool.name, "unusable-node", f"accepts no new pods: {state}", name, fails=False)
    if states and all(states.values()) and not pool.unschedulable:
        nodes = "its only node accepts" if len(states) == 1 else f"all its {len(states)} nodes accept"
        hint = "uncordon or repair one, or add a node"
        yield Difference(pool.name, "no-usable-node", f"{nodes} no new pods", help=hint)


def _state(node: Pool) -> str:
    """Why a node accepts no new pods at the moment; empty: it does."""
    if node.unschedulable:
        return _CORDONED
    taint = next((taint for taint in node.hard_taints if is_transient(taint)), None)
    return f"taint {taint}" if taint else "" if node.ready else "its condition Ready is not True"


def _sizes(cluster: Cluster, pool_node: PoolNode) -> Iterator[Difference]:
    node, pool, shape = pool_node
    offers = node.shapes[0].allocatable
    if shape.allocatable and not offers:
        says = "node reports no allocatable resources"
        yield Difference(pool.name, "too-small", says, node.name, help="check that its kubelet runs")
        return
    # The memory and cores of virtual cards follow from the cards.
    parts = NAMES[pool.sharing.mode][1:] if pool.sharing.mode in NAMES else ()
    for resource, number in sorted(shape.allocatable.items()):
        have = offers.get(resource, 0)
        if have >= number or (resource == "pods" and number == PODS_PER_NODE) or resource in parts:
            continue
        there, wanted = amount_text(resource, have), amount_text(resource, number)
        says = f"{resource}: {there} allocatable, the policy has {wanted}"
        field = (
            "`cardsPerNode` in the policy"
            if resource in pool.resources and pool.sharing.mode == "none"
            else "the policy"
        )
        hint = (
            f"check that the device plugin runs there and its devices are healthy, or change {field}"
            if "/" in resource
            else "change `allocatable` in the policy, or the kubelet's reservations"
        )
        yield Difference(pool.name, "too-small", says, node.name, help=hint)


def _numbers(pool: Pool, pool_nodes: list[PoolNode]) -> Iterator[Difference]:
    there = {pool_node.node.name for pool_node in pool_nodes}
    absent = sorted(name for shape in pool.shapes for name in shape.node_names if name not in there)
    for name in absent:
        hint = "join it to the cluster, or remove it from the policy"
        yield Difference(
            pool.name, "missing-node", "node is in the policy but not in the cluster", name, help=hint
        )
    low = sum(shape.minimum for shape in pool.shapes)
    bounds = [shape.maximum for shape in pool.shapes]
    high = None if None in bounds else sum(bound for bound in bounds if bound is not None)
    hint = "change `nodes` in the policy, or the number of nodes"
    if len(there) + len(absent) < low:
        yield Difference(
            pool.name,
            "too-few-nodes",
            f"{_nodes(len(there))} in the cluster, at least {low} in the policy",
            help=hint,
        )
    elif high is not None and len(there) > high:
        yield Difference(
            pool.name,
            "too-many-nodes",
            f"{_nodes(len(there))} in the cluster, at most {high} in the policy",
            help=hint,
        )
    elif not there and not absent and high is None:
        yield Difference(
            pool.name, "too-few-nodes", "no nodes in the cluster", help="check that its nodes have its labels"
        )


def _control_plane(cluster: Cluster, nodes: Iterable[Pool]) -> Iterator[Difference]:
    wanted = cluster.control_plane_taint
    for node in nodes:
        if wanted and wanted not in node.taints:
            says = f"control plane taint {wanted} is missing"
            yield Difference("", "missing-taint", says, node.name, taint=wanted)


def _nodes(number: int) -> str:
    return f"{number or 'no'} node{'' if number == 1 else 's'}"


_LABEL = "kubectl label nodes --overwrite"
_UNLABEL = "kubectl label nodes"
_TAINT = "kubectl taint nodes --overwrite"
_UNTAINT = "kubectl taint nodes"
_SET = ("missing-taint", "wrong-taint")


class Step(NamedTuple):
    """Commands that can run one after another."""

    note: str
    """Precondition, for the user."""
    commands: tuple[str, ...]


def steps(found: Sequence[Difference], cloud: bool = False) -> tuple[Step, ...]:
    """Labels, then new taints, then taints to remove; nodes with the same change share a command.

    A taint is removed after its replacement is set; in between any pod could be placed there.
    `cloud`: nodes are recreated from node pools, which must have the same labels and taints.
    """
    made = (
        Step("Labels. They do not move any pod by themselves.", tuple(_label_steps(found))),
        Step(_before_taints(found), tuple(_taint_steps(found))),
        Step(
            "Removal of taints that are not in the policy, after its own taints are set.",
            tuple(_removed_taints(found, "extra-taint")),
        ),
        Step(
            "Removal of taints with keys that the policy does not have: an earlier policy may have set\n"
            "them, or somebody else. Find out first.",
            tuple(_removed_taints(found, "foreign-taint")),
        ),
    )
    kept = tuple(step for step in made if step.commands)
    if kept and cloud:
        says = "Nodes that the cloud recreates lose all this: set it in their node pool as well."
        kept = (kept[0]._replace(note=f"{says}\n{kept[0].note}"), *kept[1:])
    return kept


def _before_taints(found: Iterable[Difference]) -> str:
    says = (
        "Taints. Before this step, node daemons (nodes/daemons of `policykit gen`) and workloads that\n"
        "should stay (workloads/) must tolerate them."
    )
    evicting = any(each.taint and each.taint.evicts for each in found if each.kind in _SET)
    return f"{says}\n{EVICTS}" if evicting else says


def _label_steps(found: Iterable[Difference]) -> Iterator[str]:
    wanted: dict[str, list[str]] = {}
    unwanted: dict[str, list[str]] = {}
    for each in found:
        if each.label:
            key, value = each.label
            if each.kind == "extra-label":
                unwanted.setdefault(each.node, []).append(f"{key}-")
            else:
                wanted.setdefault(each.node, []).append(f"{key}={value}")
    yield from _joined(_LABEL, wanted)
    yield from _joined(_UNLABEL, unwanted)


def _removed_taints(found: Iterable[Difference], kind: str) -> Iterator[str]:
    unwanted: dict[str, list[str]] = {}
    for each in found:
        if each.taint and each.kind == kind:
            unwanted.setdefault(each.node, []).append(f"{each.taint}-")
    yield from _joined(_UNTAINT, unwanted)


def _taint_steps(found: Iterable[Difference]) -> Iterator[str]:
    wanted: dict[str, list[str]] = {}
    for each in found:
        if each.taint and each.kind in _SET:
            wanted.setdefault(each.node, []).append(str(each.taint))
    yield from _joined(_TAINT, wanted)


def _joined(words: str, by_node: dict[str, list[str]]) -> Iterator[str]:
    """One command for the nodes that need the same, in batches."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for node in sorted(by_node):
        if not node.startswith("-"):  # no node is called so, and kubectl would take it for an option
            alike.setdefault(tuple(by_node[node]), []).append(node)
    for arguments, nodes in alike.items():
        for start in range(0, len(nodes), BATCH):
            yield command(words, nodes[start : start + BATCH], arguments)
