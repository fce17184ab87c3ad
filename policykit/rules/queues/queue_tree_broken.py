"""A queue has no place in a tree: its parent is missing, it is in a cycle, or it is too deep.

Volcano and Koordinator refuse a queue whose parent does not exist or does not match it. If such a
tree gets into a cluster anyway, Volcano gives nothing to any queue. Two queues of one name are one
queue: the one applied last. A YuniKorn configuration is always a tree; PK701 reports its errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import dirname

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.declared_queues import DeclaredQueue
from policykit.model.severity import Severity
from policykit.nearest import Names
from policykit.rules.queues.tree_releases import of_trees
from policykit.targets.facts import queue_trees
from policykit.targets.facts.queue_trees import MAX_DEPTH, LocatedQueue, Tree, first_field, trees

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: vision
spec:
  weight: 1
  parent: reserach
"""

GOOD = BAD.replace("reserach", "research")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Trees of objects in a complete scope."""
    for tree in trees(scope, context.cluster):
        yield from _duplicates(tree)
        yield from _annotated(tree)
        yield from _shared_namespaces(tree)
        if tree.semantics.trees:
            yield from of_trees(_places(tree, scope, context), tree.semantics)


class _Parents:
    """Names that a parent may have."""

    def __init__(self, tree: Tree, planned: frozenset[str]) -> None:
        """`planned`: queues of the policy."""
        semantics = tree.semantics
        self.planned = planned
        self.holding = {each.value.name for each in tree.queues if each.value.holds_queues or each.partial}
        declared = {each.value.name for each in tree.queues}
        self.names = Names((declared | planned | semantics.built_in) - semantics.roots)


def _places(tree: Tree, scope: Scope, context: Context) -> Iterator[Violation]:
    """Whether each queue fits below its parent, where that is known."""
    parents = _Parents(tree, frozenset(queue_trees.policy_queues(tree.target_name, context.cluster).queues))
    cycles = {id(cycle[0]): cycle for cycle in tree.cycles}
    for queue in tree.queues:
        parent = queue.value.parent
        if queue.partial or is_placeholder(parent) or scope.may_hold(parent):
            continue
        yield from _parent(queue, tree, parents)
        yield from _cycle(cycles.get(id(queue), ()), tree)
        yield from _depth(queue, tree)
        yield from _unlike(queue, tree)
        yield from _order(queue, tree)


def _parent(queue: LocatedQueue, tree: Tree, parents: _Parents) -> Iterator[Violation]:
    """A parent that does not exist, or is not marked as one."""
    name, semantics = queue.value.parent, tree.semantics
    if name in semantics.roots or not name:
        return
    declared = tree.named(name)
    if not declared and name not in parents.planned and name not in semantics.built_in:
        likely = parents.names.nearest(name, 0.75, but=queue.value.name)
        # Parent queues are often kept in another repository than those of the teams.
        yield Violation(
            queue.at(first_field(queue, "parent")),
            f"parent {name} of {semantics.noun} {queue.value.name} is not defined here",
            f"did you mean {likely}?" if likely else f"add {name}, or name another parent",
            None if likely or parents.planned else Severity.WARNING,
        )
    elif semantics.parents_must_be_marked and declared and name not in parents.holding:
        yield Violation(
            queue.at(first_field(queue, "parent")),
            f"parent {name} of {semantics.noun} {queue.value.name} is not marked as a parent",
            f'give {name} the label quota.scheduling.koordinator.sh/is-parent: "true"',
        )


def _cycle(cycle: Sequence[LocatedQueue], tree: Tree) -> Iterator[Violation]:
    """Reported once for all queues of a cycle, at the first one."""
    if cycle:
        name = cycle[0].value.name
        way = " below ".join(each.value.name for each in (*cycle, cycle[0]))
        yield Violation(
            cycle[0].at(first_field(cycle[0], "parent")),
            f"{tree.semantics.noun} {name} is below itself: {way}",
            "give one of them another parent",
        )


def _depth(queue: LocatedQueue, tree: Tree) -> Iterator[Violation]:
    """Only the first queue on the way down that is too deep."""
    most = tree.semantics.depth
    if most is not None and tree.depths.get(id(queue)) == most:
        yield Violation(
            queue.at(first_field(queue, "parent")),
            f"{tree.semantics.noun} {queue.value.name} is {most + 1} levels below the root, "
            f"but at most {most} are allowed",
            f"flatten the tree, or raise --max-queue-depth of {tree.semantics.title}'s webhook",
        )


def _duplicates(tree: Tree) -> Iterator[Violation]:
    """Certain in one file; files of one folder may be for two clusters."""
    firsts: dict[tuple[str, str], list[LocatedQueue]] = {}
    for queue in tree.queues:
        if queue.partial or not queue.value.measured:
            continue
        # The first, and the first that differs from it: one of the two differs from any other.
        before = firsts.setdefault((queue.value.name, dirname(queue.path)), [])
        other = next((each for each in before if each.value != queue.value), None)
        if other is not None:
            yield Violation(queue.at("name"), *_doubled(queue, other, tree))
        if not before or (len(before) == 1 and other is not None):
            before.append(queue)


def _doubled(queue: LocatedQueue, other: LocatedQueue, tree: Tree) -> tuple[str, str, Severity | None]:
    noun, name = tree.semantics.noun, queue.value.name
    severity = None if other.path == queue.path else Severity.WARNING
    if queue.value.namespace != other.value.namespace:
        spaces = f"{other.value.namespace} and {queue.value.namespace}"
        message = f"{noun} {name} is defined in two namespaces, {spaces}, but names are cluster-wide"
        return message, "rename one of them", severity
    line = other.place("name").span.line
    where = f"on line {line}" if other.path == queue.path else f"in {other.path}:{line}"
    message = f"{noun} {name} is defined twice with different content: first {where}"
    return message, "delete or rename one of the two: the one applied last wins", severity


def _annotated(tree: Tree) -> Iterator[Violation]:
    """The second tree of Volcano, of plugin drf: a queue is at the end of a path."""
    below: dict[str, LocatedQueue] = {}
    for queue in tree.queues:
        steps = queue.value.path.split("/", MAX_DEPTH)
        for end in range(1, len(steps)):
            below.setdefault("/".join(steps[:end]), queue)
    for queue in tree.queues:
        path = queue.value.path
        through = below.get(path) if path else None
        if through is not None:
            yield Violation(
                queue.at("path"),
                f"queue {queue.value.name} is at {path}, but the path of queue {through.value.name} "
                f"passes through it: {through.value.path}",
                "end each path at a queue of its own: Volcano refuses one that other paths pass through",
            )


def _unlike(queue: LocatedQueue, tree: Tree) -> Iterator[Violation]:
    """What a queue and its parent must have in common."""
    parent, semantics = tree.parent(queue), tree.semantics
    if parent is None or parent.value.name in semantics.roots or not parent.value.measured:
        return
    mine, its, name = queue.value, parent.value, f"{semantics.noun} {queue.value.name}"
    if mine.tree_id and its.tree_id and mine.tree_id != its.tree_id:
        yield Violation(
            queue.at("tree_id"),
            f"{name} is in tree {mine.tree_id}, but its parent {its.name} in tree {its.tree_id}",
            f"give both the same tree-id: {semantics.tree_fault}",
        )
    differing = sorted(mine.limit.keys() ^ its.limit.keys())
    if semantics.same_resources and mine.measured and differing:
        word = semantics.field_names["limit"]
        only = mine if differing[0] in mine.limit else its
        yield Violation(
            queue.at(first_field(queue, f"limit.{differing[0]}", "limit")),
            f"{word} of {name} and of its parent {its.name} name different resources: only {only.name} has "
            f"{differing[0]}",
            f"name the same resources in both: {semantics.tree_fault}",
        )


def _order(queue: LocatedQueue, tree: Tree) -> Iterator[Violation]:
    """Objects of a file are applied from the top."""
    parent = tree.parent(queue)
    if parent is None or parent.path != queue.path or parent.value.name in tree.semantics.roots:
        return
    if tree.positions[id(queue)] < tree.positions[id(parent)] and id(queue) in tree.depths:
        yield Violation(
            queue.at(first_field(queue, "parent")),
            f"{tree.semantics.noun} {queue.value.name} comes before its parent {parent.value.name}",
            f"put {parent.value.name} first: applied in this order, {tree.semantics.title} refuses it",
            Severity.WARNING,
        )


def _shared_namespaces(tree: Tree) -> Iterator[Violation]:
    """A namespace belongs to one quota."""
    firsts: dict[tuple[str, str], list[LocatedQueue]] = {}
    for queue in tree.queues:
        found: list[tuple[int, str, LocatedQueue]] = []
        for namespace in sorted(set(queue.value.namespaces)):
            # The first, and the first of another name: one of the two has another name than any other.
            before = firsts.setdefault((namespace, dirname(queue.path)), [])
            other = next((each for each in before if each.value.name != queue.value.name), None)
            if other is not None:
                found.append((tree.positions[id(other)], namespace, other))
            if not before or (len(before) == 1 and other is not None):
                before.append(queue)
        if found:
            _, namespace, other = min(found, key=lambda each: each[:2])
            yield Violation(
                queue.at("namespaces"),
                f"namespace {namespace} already belongs to {tree.semantics.noun} {other.value.name}",
                f"list it in only one of them: {tree.semantics.tree_fault}",
            )


RULE = Rule(
    code="PK403",
    name="queue-tree-broken",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredQueue,),
)
