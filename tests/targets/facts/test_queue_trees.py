"""Who stands below whom, where several files declare queues."""

from policykit.linter.finding import Resource
from policykit.linter.scope import LocatedFact
from policykit.model.declared_queues import DeclaredQueue
from policykit.targets import TARGETS
from policykit.targets.facts.queue_trees import LocatedQueue, Tree, queue_semantics


def queue(
    name: str, parent: str = "root", path: str = "queues.yaml", *, partial: bool = False
) -> LocatedQueue:
    value = DeclaredQueue("volcano", name, parent)
    return LocatedFact(value, path, 0, Resource("", "Queue", None, name), {}, partial)


def tree(*queues: LocatedQueue) -> Tree:
    return Tree(queues, queue_semantics("volcano", None))


def test_the_parent_of_the_same_folder_is_meant() -> None:
    dev, prod = queue("research", path="dev/queues.yaml"), queue("research", path="prod/queues.yaml")
    child = queue("vision", "research", "prod/vision.yaml")
    assert tree(dev, prod, child).parent(child) is prod


def test_the_only_one_there_is_is_meant_wherever_it_stands() -> None:
    parent, child = (
        queue("research", path="base/queues.yaml"),
        queue("vision", "research", "team/queues.yaml"),
    )
    assert tree(parent, child).parent(child) is parent


def test_of_two_nobody_knows_which() -> None:
    one, other = queue("research", path="dev/queues.yaml"), queue("research", path="prod/queues.yaml")
    child = queue("vision", "research", "team/queues.yaml")
    assert tree(one, other, child).parent(child) is None
    assert [*tree(one, other, child).named("research")] == [one, other]


def test_a_patch_is_no_parent() -> None:
    patch, child = queue("research", partial=True), queue("vision", "research")
    assert tree(patch, child).parent(child) is None


def test_above_ends_before_the_root_and_in_circles() -> None:
    top, middle, low = queue("a"), queue("b", "a"), queue("c", "b")
    assert [each.value.name for each in tree(queue("root", ""), top, middle, low).above(low)] == ["b", "a"]
    one, other = queue("x", "y"), queue("y", "x")
    assert [each.value.name for each in tree(one, other).above(one)] == ["y"]
    alone = queue("z", "z")
    assert list(tree(alone).above(alone)) == []


def test_every_system_has_its_ways() -> None:
    for target_name in (target.name for target in TARGETS if target.queues):
        semantics = queue_semantics(target_name, None)
        assert semantics.roots <= semantics.built_in
        assert semantics.own_validator or {"guarantee", "limit"} <= semantics.field_names.keys()
        assert set(semantics.summed) <= semantics.field_names.keys()
        assert semantics.submit_fault or not semantics.trees
        assert semantics.unknown_fault
        assert semantics.own_validator or (semantics.tree_fault and semantics.queue_fault)
