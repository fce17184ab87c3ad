"""A queue stands in no tree: its parent is missing, it goes round in a circle, or is too deep.

Volcano and Koordinator refuse a queue whose parent is not there, or does not fit it.
Where such a tree gets into a cluster all the same, Volcano gives nothing to any queue. Two queues
of one name are one queue: the one that is applied last. A configuration of YuniKorn is a tree by
its form; what is wrong with it is said by PK701.
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
    """Trees of objects, of which every file is known."""
    for tree in trees(scope, context.cluster):
        plan = frozenset(destinations.planned(tree.system, context.cluster).queues)
        yield from _declarations(tree)
        for queue in tree.queues:
            parent = queue.value.parent
            unclear = queue.partial or is_placeholder(parent) or scope.may_hold(parent)
            if tree.ways.trees and not unclear:
                yield from _place_in(tree, queue, plan)


def _declarations(tree: Tree) -> Iterator[ScopeViolation]:
    """Queues that say the same thing of themselves, and cannot both have it."""
    for queue in tree.queues:
        yield from _twice(queue, tree)
        yield from _annotated(queue, tree)
        yield from _charged(queue, tree)


def _place_in(tree: Tree, queue: Declared, plan: frozenset[str]) -> Iterator[ScopeViolation]:
    """Whether a queue can stand where it says it does; `plan`: queues that the policy has."""
    yield from _parent(queue, tree, plan)
    yield from _circle(queue, tree)
    yield from _depth(queue, tree)
    yield from _unlike(queue, tree)
    yield from _order(queue, tree)


def _parent(queue: Declared, tree: Tree, plan: frozenset[str]) -> Iterator[ScopeViolation]:
    """A parent that is not there, or does not say that it is one."""
    name, ways = queue.value.parent, tree.ways
    if name in ways.roots or not name:
        return
    declared = tree.named(name)
    if not declared and name not in plan and name not in ways.built_in:
        known = {each.value.name for each in tree.queues} | plan | ways.built_in
        likely = nearest(name, tuple(sorted(known - ways.roots - {queue.value.name})), 0.75)
        # Queues are often kept apart from those of the team that stand below them.
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{ways.noun} {queue.value.name} stands below {name}, which nothing here defines",
            f"did you mean {likely}?" if likely else f"add {name}, or name another parent",
            None if likely or plan else Severity.WARNING,
        )
    elif (
        ways.must_hold and declared and not any(each.value.holds_queues or each.partial for each in declared)
    ):
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{ways.noun} {queue.value.name} stands below {name}, which does not say that it holds quotas",
            f'give {name} the label quota.scheduling.koordinator.sh/is-parent: "true"',
        )


def _circle(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Said once for all queues of a circle, of the first one."""
    if queue.value.parent == queue.value.name and queue.value.name:
        circle = [queue]
    else:
        circle = [queue, *tree.above(queue)]
        if tree.parent(circle[-1]) is not queue or len(circle) == 1:
            return
    if queue is min(circle, key=tree.queues.index):
        way = " below ".join(each.value.name for each in (*circle, queue))
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.ways.noun} {queue.value.name} stands below itself: {way}",
            "give one of them another parent",
        )


def _depth(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Of the first queue on its way down that is too deep: what stands below follows."""
    most = tree.ways.depth
    if most is not None and len(list(tree.above(queue))) == most and not _in_circle(queue, tree):
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.ways.noun} {queue.value.name} is {most + 1} levels below the root, {most} are allowed",
            f"make the tree flatter, or raise --max-queue-depth of {tree.ways.title}'s webhook",
        )


def _in_circle(queue: Declared, tree: Tree) -> bool:
    way = [queue, *tree.above(queue)]
    return any(tree.parent(way[-1]) is each for each in way)


def _twice(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """In one file for certain; files of one folder may be meant for two clusters."""
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
    noun, name = tree.ways.noun, queue.value.name
    severity = None if other.path == queue.path else Severity.WARNING
    if queue.value.namespace != other.value.namespace:
        spaces = f"{other.value.namespace} and {queue.value.namespace}"
        message = (
            f"{noun} {name} is defined in two namespaces, {spaces}, but names hold for the whole cluster"
        )
        return message, "give one of them another name", severity
    line = other.place("name").span.line
    where = f"on line {line}" if other.path == queue.path else f"in {other.path}:{line}"
    message = f"{noun} {name} is defined twice, differently: first {where}"
    return message, "delete one of the two, or give it another name: the one applied last counts", severity


def _annotated(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """The second tree of Volcano, of plugin drf: a queue stands at the end of a path."""
    path = queue.value.path
    below = next((each for each in tree.queues if path and each.value.path.startswith(f"{path}/")), None)
    if below is not None:
        yield ScopeViolation(
            queue,
            "path",
            f"queue {queue.value.name} stands at {path}, where the path of queue {below.value.name} "
            f"goes through: {below.value.path}",
            "end each path at a queue of its own: Volcano refuses one that others go through",
        )


def _unlike(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """What a queue and its parent must have in common."""
    parent, ways = tree.parent(queue), tree.ways
    if parent is None or parent.value.name in ways.roots or not parent.value.measured:
        return
    mine, its, name = queue.value, parent.value, f"{ways.noun} {queue.value.name}"
    if mine.tree_id and its.tree_id and mine.tree_id != its.tree_id:
        yield ScopeViolation(
            queue,
            "tree_id",
            f"{name} is in tree {mine.tree_id}, {its.name} above it in tree {its.tree_id}",
            f"give both the same tree-id: {ways.tree_fault}",
        )
    differing = sorted(mine.limit.keys() ^ its.limit.keys())
    if ways.same_resources and mine.measured and differing:
        word = ways.words["limit"]
        only = mine if differing[0] in mine.limit else its
        yield ScopeViolation(
            queue,
            place(queue, f"limit.{differing[0]}", "limit"),
            f"{word} of {name} names other resources than that of {its.name} above it: only {only.name} has "
            f"{differing[0]}",
            f"name the same resources in both: {ways.tree_fault}",
        )


def _order(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Objects of a file are applied from the top."""
    parent = tree.parent(queue)
    if parent is None or parent.path != queue.path or parent.value.name in tree.ways.roots:
        return
    first, second = tree.queues.index(queue), tree.queues.index(parent)
    if first < second and not _in_circle(queue, tree):
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.ways.noun} {queue.value.name} stands before {parent.value.name}, which it stands below",
            f"put {parent.value.name} first: applied in this order, {tree.ways.title} refuses it",
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
                f"namespace {both[0]} belongs to {tree.ways.noun} {other.value.name} already",
                f"list it in one of the two: {tree.ways.tree_fault}",
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
