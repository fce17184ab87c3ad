"""The way from one policy to the next: steps with their commands and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.namedtuple import NamedTuple
from policykit.placement.former_names import FormerNames
from policykit.plan.nodes import NodeGroup
from policykit.plan.order import Move
from policykit.plan.replacements import PRIORITY_CLASS
from policykit.targets.nodes.existing_nodes import EVICTS
from policykit.targets.nodes.node_groups import pool_taints, shape_labels
from policykit.targets.nodes.shell import BATCH, command

BEFORE, MERGE, DELETE, NODES, WAIT, CLEAN_UP = (
    *("before the merge", "merge", "delete", "on nodes", "wait until", "clean-up"),
)
PENDING = "kubectl get pods --all-namespaces --field-selector=status.phase=Pending"
_CHECK = "policykit nodes --check nodes.json  # kubectl get nodes -o json > nodes.json"


class Step(NamedTuple):
    """Something to do, and how to see that it is done."""

    when: str
    """before the merge, merge, delete, on nodes, wait until or clean-up."""
    text: str
    commands: tuple[str, ...] = ()
    check: str = ""


class Way(NamedTuple):
    """What a way consists of."""

    before: Cluster
    after: Cluster
    groups: Sequence[NodeGroup]
    moves: Sequence[Move]
    middle: FormerNames | None = None
    """Former names that the first merge needs; None: every merge is the policy's own."""
    queues: Sequence[str] = ()
    """Queues that the new policy does not have."""
    rolls: bool = True
    """Templates of pods change."""
    replaced: int = 0
    """Objects that must be deleted and created again."""
    kept: FormerNames = FormerNames()
    """How they may stay beside the present ones."""


def steps(way: Way) -> tuple[Step, ...]:
    """The steps in order. Node changes of one kind between two merges are one step."""
    return (
        *_daemons(way),
        *_falling_limits(way),
        *_replaced_priorities(way),
        *_replaced_objects(way),
        *_moves(way),
        *_emptied_queues(way),
        *_left_labels(way),
        *_own_former_names(way),
    )


def _daemons(way: Way) -> Iterator[Step]:
    """Taints that no node has had: the daemons of the nodes must tolerate them first."""
    known = {taint for pool in way.before.pools for taint in pool.taints}
    new = {taint for pool in way.after.pools for taint in pool_taints(way.after, pool)} - known
    if new:
        listed = ", ".join(str(taint) for taint in sorted(new))
        yield Step(
            BEFORE,
            f"The node daemons tolerate {listed}: device plugin, discovery, exporters, CNI. Their values are "
            "in nodes/daemons of `policykit gen`.",
            ("policykit gen",),
            "kubectl get daemonsets --all-namespaces",
        )


def _falling_limits(way: Way) -> Iterator[Step]:
    """Children before parents when limits fall; a folder is applied parents first."""
    old = {queue.name: queue for queue in way.before.queues}
    fallen = {
        queue.name: queue
        for queue in way.after.queues
        if queue.name in old
        and any(amount < old[queue.name].limit.get(name, amount) for name, amount in queue.limit.items())
    }
    children = [queue.name for queue in fallen.values() if queue.parent in fallen]
    if children:
        yield Step(
            MERGE,
            f"the lower limits of {', '.join(children)}, by themselves: a child may not exceed its "
            "parent, and a folder is applied parents first. (Where limits rise, parents first is right.)",
        )


def _replaced_priorities(way: Way) -> Iterator[Step]:
    """A PriorityClass whose value changes must be deleted: an apply is refused."""
    old = {priority.name: priority for priority in way.before.priorities}
    for new in way.after.priorities:
        was = old.get(new.name, new)
        if (was.value, was.preempts) != (new.value, new.preempts):
            yield Step(
                DELETE,
                f"PriorityClass {new.name}, right before the merge that brings it back: "
                f"{PRIORITY_CLASS.means}.",
                (command("kubectl delete priorityclass", [new.name]).rstrip("\n"),),
                command("kubectl get priorityclass", [new.name]).replace(" \\\n ", "").rstrip("\n"),
            )


def _replaced_objects(way: Way) -> Iterator[Step]:
    if way.replaced:
        objects = "1 object" if way.replaced == 1 else f"{way.replaced} objects"
        yield Step(
            DELETE,
            f"{objects} whose template is immutable, called replaced above: let them finish first, or delete "
            "them right before the merge that brings them back.",
        )


def _moves(way: Way) -> Iterator[Step]:
    merges = 0
    total = sum(move.group < 0 for move in way.moves)
    last = max((number for number, move in enumerate(way.moves) if move.group >= 0), default=-1)
    done = 0
    rest = {number: list(group.names) for number, group in enumerate(way.groups)}
    for is_merge, run in groupby(way.moves, key=lambda move: move.group < 0):
        for move in run:
            done += 1
            if is_merge:
                merges += 1
                yield from _merge(way, merges, total)
                yield from _rolled(way) if done <= last else ()
            else:
                names = rest[move.group][: move.nodes]
                rest[move.group] = rest[move.group][move.nodes :]
                yield _node_step(way, way.groups[move.group], move.nodes, names)


def _merge(way: Way, number: int, total: int) -> Iterator[Step]:
    kept = _kept_queues(way)
    if way.middle is not None and number < total:
        names = way.middle._replace(queues=kept)
        text = (
            f"the new policy with `formerly: {former_text(names)}`, and the manifests patched with it: they "
            "accept the old and the new names."
        )
        yield Step(MERGE, text, ("policykit gen", "policykit patch --in-place ."), PENDING)
    elif way.middle is not None:
        text = "the new policy without `formerly:`, and the manifests without the old names."
        gone = ("policykit gen", "policykit patch --from HEAD --in-place .")
        yield Step(MERGE, text, gone, PENDING)
    else:
        former = f" with `formerly: {former_text(FormerNames(queues=kept))}`" if kept else ""
        yield Step(MERGE, f"the new policy{former}, and its manifests.", ("policykit gen",), PENDING)


def _kept_queues(way: Way) -> Mapping[str, tuple[str, ...]]:
    """Queues that go but may stay beside the present ones."""
    return {new: olds for new, olds in way.kept.queues.items() if set(olds) & set(way.queues)}


def _rolled(way: Way) -> Iterator[Step]:
    if way.rolls:
        yield Step(
            WAIT,
            "every rolling update has ended, and objects that must be replaced are: pods of the old "
            "templates do not accept what follows.",
            (),
            "kubectl get deployments,statefulsets,daemonsets --all-namespaces",
        )


def _node_step(way: Way, group: NodeGroup, number: int, names: Sequence[str]) -> Step:
    nodes = f"{number} node{'' if number == 1 else 's'}"
    old, new = group.before, group.after
    if new is None:
        assert old is not None
        text = f"{nodes} of pool {old.name} leave the cluster, one after another."
        return Step(NODES, text, tuple(_drained(names)), PENDING)
    if old is None:
        return Step(NODES, f"{nodes} of pool {new.name} join, with its labels and taints.", (), _CHECK)
    verb = "moves" if number == 1 else "move"
    moves = f"{verb} from pool {old.name} to {new.name}"
    destination = f"of pool {new.name}" if old.name == new.name else moves
    text = f"{nodes} {destination}" + (", one after another." if len(names) > 1 else ".")
    evicting = [taint for taint in new.taints if taint.evicts and taint not in old.taints]
    text = f"{text} {EVICTS}" if evicting else text
    targets = [NodeSelection((name,)) for name in names] or _selected(way, group, number)
    if not targets:
        text = f"{text} The policy does not say which nodes these are: change them where they are made."
    return Step(NODES, text, tuple(_node_commands(way, old, new, targets)), _CHECK)


class NodeSelection(NamedTuple):
    """Nodes as arguments of kubectl."""

    arguments: tuple[str, ...]
    keys: frozenset[str] = frozenset()
    """Labels that select them."""


def _selected(way: Way, group: NodeGroup, number: int) -> list[NodeSelection]:
    """A selector that means the nodes of the group alone, by labels of their pool."""
    old = group.before
    if old is None or number != group.nodes:
        return []
    every = {**old.labels, **old.shapes[0].labels, **old.shapes[0].selector}
    for labels in (shape_labels(way.before, old, old.shapes[0]), every):
        alike = [pool for pool in way.before.pools if labels.items() <= _all_labels(pool).items()]
        if labels and len(alike) == 1 and len(alike[0].shapes) == 1:
            listed = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
            return [NodeSelection(("-l", listed), frozenset(labels))]
    return []


def _all_labels(pool: Pool) -> dict[str, str]:
    found = dict(pool.labels)
    for shape in pool.shapes:
        found |= {**shape.labels, **shape.selector}
    return found


def _node_commands(way: Way, old: Pool, new: Pool, targets: Iterable[NodeSelection]) -> Iterator[str]:
    """Labels, then taints, each in one request to a node; what a selector needs is changed last. Nodes are
    cordoned before all of that, and uncordoned after it."""
    had, wanted = shape_labels(way.before, old, old.shapes[0]), shape_labels(way.after, new, new.shapes[0])
    changed = {key: value for key, value in sorted(wanted.items()) if had.get(key) != value}
    labels = [f"{key}={value}" for key, value in changed.items()]
    taints = pool_taints(way.after, new)
    places = {(taint.key, taint.effect) for taint in taints}
    added = [str(taint) for taint in taints if taint not in old.taints]
    gone = [
        f"{taint.key}:{taint.effect}-"
        for taint in pool_taints(way.before, old)
        if (taint.key, taint.effect) not in places
    ]
    closed, opened = (
        each.unschedulable and not other.unschedulable for each, other in ((new, old), (old, new))
    )
    for nodes in targets:
        made = [
            command(words, nodes.arguments, arguments).rstrip("\n")
            for words, arguments in (
                ("kubectl label nodes --overwrite", labels),
                ("kubectl taint nodes --overwrite", [*added, *gone]),
            )
            if arguments
        ]
        moved = nodes.keys & changed.keys()
        if closed:
            yield command("kubectl cordon", nodes.arguments).rstrip("\n")
        if opened:
            made.insert(1 if moved else len(made), command("kubectl uncordon", nodes.arguments).rstrip("\n"))
        yield from reversed(made) if moved else made


def _drained(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield command("kubectl drain --ignore-daemonsets --delete-emptydir-data", [name]).rstrip("\n")
        yield command("kubectl delete node", [name]).rstrip("\n")


def _emptied_queues(way: Way) -> Iterator[Step]:
    if not way.queues:
        return
    listed = ", ".join(way.queues)
    queues = "queue" if len(way.queues) == 1 else "queues"
    yield Step(
        WAIT,
        f"{queues} {listed}: empty. Keep them in the policy until then; deleting a queue does not wait for "
        "its pods.",
        (),
        "policykit plan --queues queues.json  # kubectl get queues -o json > queues.json",
    )
    yield Step(MERGE, f"the policy without {queues} {listed}.", ("policykit gen --prune",), "")


def _left_labels(way: Way) -> Iterator[Step]:
    """Labels of the old policy that the nodes still have."""
    commands: list[str] = []
    for group in way.groups:
        if group.before is None or group.after is None:
            continue
        had = shape_labels(way.before, group.before, group.before.shapes[0])
        kept = {**group.after.labels, **group.after.shapes[0].labels, **group.after.shapes[0].selector}
        gone = [f"{key}-" for key in sorted(had) if key not in kept]
        for start in range(0, len(group.names) if gone else 0, BATCH):
            batch = sorted(group.names)[start : start + BATCH]
            commands.append(command("kubectl label nodes", batch, gone).rstrip("\n"))
    if commands:
        yield Step(
            CLEAN_UP, "Labels of the old policy that nothing selects any more.", tuple(commands), _CHECK
        )


def _own_former_names(way: Way) -> Iterator[Step]:
    if way.after.formerly.on_nodes or way.after.formerly.queues:
        yield Step(
            CLEAN_UP,
            "When all nodes and workloads have the new names: remove `formerly:` from the policy, and "
            "`policykit patch --from HEAD --in-place .` takes the old names out of the manifests.",
        )


def former_text(names: FormerNames) -> str:
    """{domain: {new: [old]}}, as one line of YAML."""
    parts = []
    for field, found in names._asdict().items():
        if found:
            inner = ", ".join(f"{new}: [{', '.join(olds)}]" for new, olds in found.items())
            parts.append(f"{field}: {{{inner}}}")
    return "{" + ", ".join(parts) + "}"
