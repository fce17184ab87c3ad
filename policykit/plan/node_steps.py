"""Steps on nodes, with their commands: labels and taints change, or nodes join and leave pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.namedtuple import NamedTuple
from policykit.plan.nodes import NodeGroup
from policykit.plan.transition import BEFORE, CLEAN_UP, NODES, Step, Transition
from policykit.targets.nodes.existing_nodes import BATCH, CONTROL_PLANE_NODES, EVICTS, command
from policykit.targets.nodes.node_groups import pool_taints, shape_labels

PENDING = "kubectl get pods --all-namespaces --field-selector=status.phase=Pending"
_CHECK = "policykit nodes --check nodes.json  # kubectl get nodes -o json > nodes.json"
_LABEL, _TAINT = "kubectl label nodes --overwrite", "kubectl taint nodes --overwrite"


def early_labels(transition: Transition) -> Iterator[Step]:
    """Whatever selects the new keys alone, such as a preference or a queue's flavor, finds them at once."""
    commands: list[str] = []
    for group in transition.groups:
        nodes = _named(group.names) or _selected(transition.before, group, group.nodes)
        if labels := _early(transition, group):
            commands += _labelled(nodes, labels)
    if commands:
        yield Step(BEFORE, "The nodes carry the labels under both keys.", tuple(commands))


def _early(transition: Transition, group: NodeGroup) -> Mapping[str, str]:
    """Labels under a new domain: nodes may have them before anything selects them."""
    domains = tuple(f"{new}/" for new in transition.middle.domain) if transition.middle else ()
    found = _new_labels(transition.before, transition.after, group)
    return {key: value for key, value in found.items() if key.startswith(domains)} if domains else {}


def node_steps(
    transition: Transition, group: NodeGroup, number: int, names: Sequence[str], cards: set[str]
) -> Iterator[Step]:
    """One step; where the nodes have names, one of each card first. `cards`: those that had theirs."""
    old, new = group.before, group.after
    if old is None and new is not None:
        verb = "joins" if number == 1 else "join"
        text = f"{_nodes(number)} of pool {new.name} {verb}, with its labels and taints."
        yield Step(NODES, text, (), _CHECK)
        return
    assert old is not None
    if new is None:
        alone = number == 1
        leave = "is in no pool any more and leaves" if alone else "are in no pool any more and leave"
        stay = "If it stays, take away its" if alone else "If they stay, take away their"
        one_by_one = "" if alone else ", one after another"
        text = (
            f"{_nodes(number)} of pool {old.name} {leave} the cluster{one_by_one}. "
            f"{stay} labels and taints instead."
        )
        yield Step(NODES, text, tuple(_drained(names)), PENDING)
        return
    verb = "moves" if number == 1 else "move"
    where = f"of pool {new.name}" if old.name == new.name else f"{verb} from pool {old.name} to {new.name}"
    if len(names) > 1 and old.card not in cards:
        first = where.replace("move ", "moves ") if verb == "move" else where
        card = f" with card {old.card}" if old.card else ""
        yield _changed(
            transition, group, names[:1], f"1 node {first}, the first{card}: check it before the others."
        )
        names, number = names[1:], number - 1
        where = where.replace("move ", "moves ") if number == 1 else where
    cards.add(old.card)
    text = f"{_nodes(number)} {where}."
    if number and not names and not _selected(transition.before, group, number):
        text += (
            " The policy does not say which nodes these are: `policykit plan --nodes nodes.json` names them, "
            "or change them where they are made."
        )
    yield _changed(transition, group, names, text)


def _changed(transition: Transition, group: NodeGroup, names: Sequence[str], text: str) -> Step:
    old, new = group.before, group.after
    assert old is not None
    assert new is not None
    evicting = [taint for taint in new.taints if taint.evicts and taint not in old.taints]
    nodes = _named(names) or _selected(transition.before, group, group.nodes)
    if evicting:
        nodes = [each for name in names for each in _named([name])] or nodes
        text = f"{text} {EVICTS}"
    early = _early(transition, group)
    labels = {
        key: value
        for key, value in _new_labels(transition.before, transition.after, group).items()
        if key not in early
    }
    commands = _changes(transition.before, transition.after, group, nodes, labels)
    return Step(NODES, text, tuple(commands), _CHECK)


def _nodes(number: int) -> str:
    return f"{number} node{'' if number == 1 else 's'}"


def control_plane(transition: Transition) -> Iterator[Step]:
    commands = tuple(_control_plane_taint(transition.before, transition.after))
    if commands:
        yield Step(
            NODES, "The control plane has another taint; what runs there tolerates it first.", commands
        )


def left_labels(transition: Transition) -> Iterator[Step]:
    """Labels of the old policy that the nodes still have."""
    commands = [each for group in transition.groups for each in _unlabelled(transition.before, group)]
    if commands:
        yield Step(
            CLEAN_UP, "Labels of the old policy that nothing selects any more.", tuple(commands), _CHECK
        )


class NodeSelection(NamedTuple):
    """Nodes as arguments of kubectl."""

    arguments: tuple[str, ...]
    keys: frozenset[str] = frozenset()
    """Labels that select them."""


def _named(names: Sequence[str]) -> list[NodeSelection]:
    """Nodes by name, in batches."""
    return [NodeSelection(tuple(names[start : start + BATCH])) for start in range(0, len(names), BATCH)]


def _selected(before: Cluster, group: NodeGroup, number: int) -> list[NodeSelection]:
    """A selector that means the nodes of the group alone, by labels of their pool; empty: there is none."""
    old = group.before
    if old is None or number != group.nodes:
        return []
    every = {**old.labels, **old.shapes[0].labels, **old.shapes[0].selector}
    for labels in (shape_labels(before, old, old.shapes[0]), every):
        alike = [pool for pool in before.pools if labels.items() <= _all_labels(pool).items()]
        if labels and len(alike) == 1 and len(alike[0].shapes) == 1:
            listed = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
            return [NodeSelection(("-l", listed), frozenset(labels))]
    return []


def _all_labels(pool: Pool) -> dict[str, str]:
    found = dict(pool.labels)
    for shape in pool.shapes:
        found |= {**shape.labels, **shape.selector}
    return found


def _new_labels(before: Cluster, after: Cluster, group: NodeGroup) -> dict[str, str]:
    """The labels that the nodes get, sorted; none for nodes that come or go."""
    old, new = group.before, group.after
    if old is None or new is None:
        return {}
    had, wanted = shape_labels(before, old, old.shapes[0]), shape_labels(after, new, new.shapes[0])
    return {key: value for key, value in sorted(wanted.items()) if had.get(key) != value}


def _labelled(nodes: Iterable[NodeSelection], labels: Mapping[str, str]) -> Iterator[str]:
    for each in nodes:
        yield _command(_LABEL, each.arguments, [f"{key}={value}" for key, value in labels.items()])


def _changes(
    before: Cluster,
    after: Cluster,
    group: NodeGroup,
    nodes: Iterable[NodeSelection],
    labels: Mapping[str, str],
) -> Iterator[str]:
    """Labels, then taints, each in one request to a node; what a selector needs is changed last. Nodes are
    cordoned before all of that, and uncordoned after it."""
    old, new = group.before, group.after
    assert old is not None
    assert new is not None
    taints = pool_taints(after, new)
    places = {(taint.key, taint.effect) for taint in taints}
    added = [str(taint) for taint in taints if taint not in old.taints]
    gone = [
        f"{taint.key}:{taint.effect}-"
        for taint in pool_taints(before, old)
        if (taint.key, taint.effect) not in places
    ]
    closed, opened = (
        each.unschedulable and not other.unschedulable for each, other in ((new, old), (old, new))
    )
    for each in nodes:
        made = list(_labelled([each], labels)) if labels else []
        made += [_command(_TAINT, each.arguments, [*added, *gone])] if added or gone else []
        moved = each.keys & labels.keys()
        if closed:
            yield _command("kubectl cordon", each.arguments)
        if opened:
            made.insert(1 if moved else len(made), _command("kubectl uncordon", each.arguments))
        yield from reversed(made) if moved else made


def _control_plane_taint(before: Cluster, after: Cluster) -> Iterator[str]:
    """The taint of the control plane, if it changes."""
    old, new = before.control_plane_taint, after.control_plane_taint
    if old == new:
        return
    added = [str(new)] if new else []
    stays = old is None or (new is not None and (old.key, old.effect) == (new.key, new.effect))
    gone = [] if stays or old is None else [f"{old.key}:{old.effect}-"]
    yield _command(_TAINT, ["-l", CONTROL_PLANE_NODES], [*added, *gone])


def _drained(names: Iterable[str]) -> Iterator[str]:
    """One node after the other."""
    for name in names:
        yield _command("kubectl drain --ignore-daemonsets --delete-emptydir-data", [name])
        yield _command("kubectl delete node", [name])


def _unlabelled(before: Cluster, group: NodeGroup) -> Iterator[str]:
    """Takes away labels of the old policy that the new one does not have."""
    if group.before is None or group.after is None:
        return
    had = shape_labels(before, group.before, group.before.shapes[0])
    kept = {**group.after.labels, **group.after.shapes[0].labels, **group.after.shapes[0].selector}
    gone = [f"{key}-" for key in sorted(had) if key not in kept]
    for each in _named(sorted(group.names)) if gone else ():
        yield _command("kubectl label nodes", each.arguments, gone)


def _command(words: str, *groups: Iterable[str]) -> str:
    return command(words, *groups).rstrip("\n")
