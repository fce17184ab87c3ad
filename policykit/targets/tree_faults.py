"""What can be wrong with queues as a tree of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from posixpath import dirname

from policykit.linter.scope import ScopeViolation
from policykit.model.severity import Severity
from policykit.nearest import Names
from policykit.targets.sharing import DEEPEST, Declared, Tree, place


def declarations(tree: Tree) -> Iterator[ScopeViolation]:
    """Queues that say the same thing of themselves, and cannot both have it."""
    yield from _twice(tree)
    yield from _annotated(tree)
    yield from _charged(tree)


def places(tree: Tree, plan: frozenset[str], unclear: Callable[[Declared], bool]) -> Iterator[ScopeViolation]:
    """Whether each queue can stand where it says it does; `plan`: queues that the policy has.

    Nothing is said of queues of which it is `unclear` where they stand.
    """
    known = _Known(tree, plan)
    circles = {id(circle[0]): circle for circle in tree.circles}
    for queue in tree.queues:
        if not unclear(queue):
            yield from _parent(queue, tree, known)
            yield from _circle(circles.get(id(queue), ()), tree)
            yield from _depth(queue, tree)
            yield from _unlike(queue, tree)
            yield from _order(queue, tree)


class _Known:
    """Names that a parent may have."""

    def __init__(self, tree: Tree, plan: frozenset[str]) -> None:
        ways = tree.ways
        self.plan = plan
        self.holding = {each.value.name for each in tree.queues if each.value.holds_queues or each.partial}
        self.likely = Names(({each.value.name for each in tree.queues} | plan | ways.built_in) - ways.roots)


def _parent(queue: Declared, tree: Tree, known: _Known) -> Iterator[ScopeViolation]:
    """A parent that is not there, or does not say that it is one."""
    name, ways = queue.value.parent, tree.ways
    if name in ways.roots or not name:
        return
    declared = tree.named(name)
    if not declared and name not in known.plan and name not in ways.built_in:
        likely = known.likely.nearest(name, 0.75, but=queue.value.name)
        # Queues are often kept apart from those of the team that stand below them.
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{ways.noun} {queue.value.name} stands below {name}, which nothing here defines",
            f"did you mean {likely}?" if likely else f"add {name}, or name another parent",
            None if likely or known.plan else Severity.WARNING,
        )
    elif ways.must_hold and declared and name not in known.holding:
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{ways.noun} {queue.value.name} stands below {name}, which does not say that it holds quotas",
            f'give {name} the label quota.scheduling.koordinator.sh/is-parent: "true"',
        )


def _circle(circle: Sequence[Declared], tree: Tree) -> Iterator[ScopeViolation]:
    """Said once for all queues of a circle, of the first one."""
    if circle:
        name = circle[0].value.name
        way = " below ".join(each.value.name for each in (*circle, circle[0]))
        yield ScopeViolation(
            circle[0],
            place(circle[0], "parent"),
            f"{tree.ways.noun} {name} stands below itself: {way}",
            "give one of them another parent",
        )


def _depth(queue: Declared, tree: Tree) -> Iterator[ScopeViolation]:
    """Of the first queue on its way down that is too deep: what stands below follows."""
    most = tree.ways.depth
    if most is not None and tree.depths.get(id(queue)) == most:
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.ways.noun} {queue.value.name} is {most + 1} levels below the root, {most} are allowed",
            f"make the tree flatter, or raise --max-queue-depth of {tree.ways.title}'s webhook",
        )


def _twice(tree: Tree) -> Iterator[ScopeViolation]:
    """In one file for certain; files of one folder may be meant for two clusters."""
    firsts: dict[tuple[str, str], list[Declared]] = {}
    for queue in tree.queues:
        if queue.partial or not queue.value.measured:
            continue
        # The first, and the first that says something else: one of the two is unlike any other.
        before = firsts.setdefault((queue.value.name, dirname(queue.path)), [])
        other = next((each for each in before if each.value != queue.value), None)
        if other is not None:
            yield ScopeViolation(queue, "name", *_doubled(queue, other, tree))
        if not before or (len(before) == 1 and other is not None):
            before.append(queue)


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


def _annotated(tree: Tree) -> Iterator[ScopeViolation]:
    """The second tree of Volcano, of plugin drf: a queue stands at the end of a path."""
    below: dict[str, Declared] = {}
    for queue in tree.queues:
        steps = queue.value.path.split("/", DEEPEST)
        for end in range(1, len(steps)):
            below.setdefault("/".join(steps[:end]), queue)
    for queue in tree.queues:
        path = queue.value.path
        through = below.get(path) if path else None
        if through is not None:
            yield ScopeViolation(
                queue,
                "path",
                f"queue {queue.value.name} stands at {path}, where the path of queue {through.value.name} "
                f"goes through: {through.value.path}",
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
    if tree.positions[id(queue)] < tree.positions[id(parent)] and id(queue) in tree.depths:
        yield ScopeViolation(
            queue,
            place(queue, "parent"),
            f"{tree.ways.noun} {queue.value.name} stands before {parent.value.name}, which it stands below",
            f"put {parent.value.name} first: applied in this order, {tree.ways.title} refuses it",
            Severity.WARNING,
        )


def _charged(tree: Tree) -> Iterator[ScopeViolation]:
    """A namespace belongs to one quota."""
    firsts: dict[tuple[str, str], list[Declared]] = {}
    for queue in tree.queues:
        found: list[tuple[int, str, Declared]] = []
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
            yield ScopeViolation(
                queue,
                "namespaces",
                f"namespace {namespace} belongs to {tree.ways.noun} {other.value.name} already",
                f"list it in one of the two: {tree.ways.tree_fault}",
            )
