"""A queue has no place in a tree: its parent is missing, it is in a cycle, or it is too deep.

Volcano and Koordinator refuse a queue whose parent does not exist or does not match it. If such a
tree gets into a cluster anyway, Volcano gives nothing to any queue. Two queues of one name are one
queue: the one applied last. A YuniKorn configuration is always a tree; PK701 reports its errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Scope, ScopeViolation
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.targets import destinations
from policykit.targets.sharing import Declared, Tree, place, trees

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


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Trees of objects in a complete scope."""
    for tree in trees(scope, context.cluster):
        plan = frozenset(destinations.policy_queues(tree.system, context.cluster).queues)
        yield from _declarations(tree)
        for queue in tree.queues:
            parent = queue.value.parent
            unclear = queue.partial or is_placeholder(parent) or scope.may_hold(parent)
            if tree.semantics.trees and not unclear:
                yield from _place_in(tree, queue, plan)


def _declarations(tree: Tree) -> Iterator[ScopeViolation]:
    """Queues that claim the same name, path or namespace."""
    for queue in tree.queues:
        yield from _twice(queue, tree)
        yield from _annotated(queue, tree)
        yield from _charged(queue, tree)


def _place_in(tree: Tree, queue: Declared, plan: frozenset[str]) -> Iterator[ScopeViolation]:
    """Whether a queue fits below its parent; `plan`: queues of the policy."""
    yield from _parent(queue, tree, plan)
    yield from _cycle(queue, tree)
    yield from _depth(queue, tree)
    yield from _unlike(queue, tree)
    yield from _order(queue, tree)


def _parent(queue: Declared, tree: Tree, plan: frozenset[str]) -> Iterator[ScopeViolation]:
    """A parent that does not exist, or is not marked as one."""
    name, semantics = queue.value.parent, tree.semantics
    if name in semantics.roots or not name:
        return
    declared = tree.named(name)
    if not declared and name not in plan and name not in semantics.built_in:
        known = {each.value.name for each in tree.queues} | plan | semantics.built_in
        likely = nearest(name, tuple(sorted(known - semantics.roots - {queue.value.name})), 0.75)
        # Parent queues are often kept in another repository than those of the teams.
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"parent {name} of {semantics.noun} {queue.value.name} is not defined here",
            f"did you mean {likely}?" if likely else f"add {name}, or name another parent",
            None if likely or plan else Severity.WARNING,
        )
    elif (
        semantics.must_hold
        and declared
        and not any(each.value.holds_queues or each.partial for each in declared)
    ):
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"parent {name} of {semantics.noun} {queue.value.name} is not marked as a parent",
            f'give {name} the label quota.scheduling.koordinator.sh/is-parent: "true"',
        )


def _cycle(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Reported once for all queues of a cycle, at the first one."""
    if queue.value.parent == queue.value.name and queue.value.name:
        cycle = [queue]
    else:
        cycle = [queue, *tree.above(queue)]
        if tree.parent(cycle[-1]) is not queue or len(cycle) == 1:
            return
    if queue is min(cycle, key=tree.queues.index):
        way = " below ".join(each.value.name for each in (*cycle, queue))
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.semantics.noun} {queue.value.name} is below itself: {way}",
            "give one of them another parent",
        )


def _depth(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Only the first queue on the way down that is too deep."""
    most = tree.semantics.depth
    if most is not None and len(list(tree.above(queue))) == most and not _in_cycle(queue, tree):
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.semantics.noun} {queue.value.name} is {most + 1} levels below the root, "
            f"but at most {most} are allowed",
            f"flatten the tree, or raise --max-queue-depth of {tree.semantics.title}'s webhook",
        )


def _in_cycle(queue: Declared, tree: Tree) -> bool:
    way = [queue, *tree.above(queue)]
    return any(tree.parent(way[-1]) is each for each in way)


def _twice(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Certain in one file; files of one folder may be for two clusters."""
    if queue.partial or not queue.value.measured:
        return
    for other in tree.named(queue.value.name):
        if other is queue:
            break
        if other.partial or other.value == queue.value or not other.value.measured:
            continue
        if dirname(other.path) == dirname(queue.path):
            yield ScopeViolation(queue, "name", *_doubled(queue, other, tree))
            break


def _doubled(queue: Declared, other: Declared, tree: Tree) -> tuple[str, str, Severity | None]:
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


def _annotated(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """The second tree of Volcano, of plugin drf: a queue is at the end of a path."""
    path = queue.value.path
    below = next((each for each in tree.queues if path and each.value.path.startswith(f"{path}/")), None)
    if below is not None:
        yield ScopeViolation(
            queue,
            "path",
            f"queue {queue.value.name} is at {path}, but the path of queue {below.value.name} "
            f"passes through it: {below.value.path}",
            "end each path at a queue of its own: Volcano refuses one that other paths pass through",
        )


def _unlike(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """What a queue and its parent must have in common."""
    parent, semantics = tree.parent(queue), tree.semantics
    if parent is None or parent.value.name in semantics.roots or not parent.value.measured:
        return
    mine, its, name = queue.value, parent.value, f"{semantics.noun} {queue.value.name}"
    if mine.tree_id and its.tree_id and mine.tree_id != its.tree_id:
        yield ScopeViolation(
            queue,
            "tree_id",
            f"{name} is in tree {mine.tree_id}, but its parent {its.name} in tree {its.tree_id}",
            f"give both the same tree-id: {semantics.tree_fault}",
        )
    differing = sorted(mine.limit.keys() ^ its.limit.keys())
    if semantics.same_resources and mine.measured and differing:
        word = semantics.field_names["limit"]
        only = mine if differing[0] in mine.limit else its
        yield ScopeViolation(
            queue,
            place(queue, f"limit.{differing[0]}", "limit"),
            f"{word} of {name} and of its parent {its.name} name different resources: only {only.name} has "
            f"{differing[0]}",
            f"name the same resources in both: {semantics.tree_fault}",
        )


def _order(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Objects of a file are applied from the top."""
    parent = tree.parent(queue)
    if parent is None or parent.path != queue.path or parent.value.name in tree.semantics.roots:
        return
    first, second = tree.queues.index(queue), tree.queues.index(parent)
    if first < second and not _in_cycle(queue, tree):
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.semantics.noun} {queue.value.name} comes before its parent {parent.value.name}",
            f"put {parent.value.name} first: applied in this order, {tree.semantics.title} refuses it",
            Severity.WARNING,
        )


def _charged(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """A namespace belongs to one quota."""
    for other in tree.queues if queue.value.namespaces else ():
        if other is queue:
            return
        both = sorted(set(queue.value.namespaces) & set(other.value.namespaces))
        if both and other.value.name != queue.value.name and dirname(other.path) == dirname(queue.path):
            yield ScopeViolation(
                queue,
                "namespaces",
                f"namespace {both[0]} already belongs to {tree.semantics.noun} {other.value.name}",
                f"list it in only one of them: {tree.semantics.tree_fault}",
            )
            return


RULE = Rule(
    code="PK403",
    name="queue-tree-broken",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
