"""A key or a value that does not decode hides no other fault, and makes none."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.problem import Problem
from policykit.targets.yunikorn import validation, versions
from policykit.targets.yunikorn.validation import decoding
from policykit.targets.yunikorn.validation.problem import UndecodedParts, certain_problems, problem
from tests.growth.steps import count
from tests.targets.yunikorn.test_validation import ACCEPTED, REFUSED, tree

FILES = {**{name: case[0] for name, case in REFUSED.items() if case[1] != "decoding"}, **ACCEPTED}
del FILES["null-items"]  # places behind such an item are counted without it
Place = tuple[str, str]


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Of everything that stands under a key."""
    for step, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(step, str):
            yield (*path, step)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, step))


def found(data: Any) -> set[Place]:
    problems = validation.problems(data)
    return {(each.kind, dotted(each.path)) for each in problems if each.kind != "decoding"}


def renamed(data: Any, path: Path) -> Any:
    """A slip in one key."""
    changed = copy.deepcopy(data)
    holder: Any = lookup(changed, path[:-1])
    entries = {f"{key}y" if key == path[-1] else key: value for key, value in holder.items()}
    holder.clear()
    holder.update(entries)
    return changed


def retyped(data: Any, path: Path) -> Any:
    """A value of a type that is never right there."""
    changed = copy.deepcopy(data)
    value = lookup(changed, path)
    holder: Any = lookup(changed, path[:-1])
    holder[path[-1]] = "words" if isinstance(value, (dict, list)) else [{}]
    return changed


@pytest.mark.parametrize("change", [renamed, retyped])
@pytest.mark.parametrize("name", FILES)
def test_a_broken_part_accuses_nothing_else(name: str, change: Any) -> None:
    data = yaml.safe_load(FILES[name]) or {}
    for path in places(data):
        broken = change(data, path)
        if any(decoding.problems(broken, versions.parse(""))):
            assert found(broken) <= found(data), path


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        (
            "{name: a, maxApplications: 1, resources: {guaranteed: {vcore: 3}, max: {vcore: 2}}}",
            {("max-guaranteed", "partitions[0].queues[0].queues[0].resources.guaranteed.vcore")},
        ),
        (
            "{name: a, limit: [], submitacl: a b c}, {name: b.c, Parent: true}, {id: d}",
            {
                ("acl", "partitions[0].queues[0].queues[0].submitacl"),
                ("queue-name", "partitions[0].queues[0].queues[1].name"),
            },
        ),
        (
            "{name: a, maxapplications: 3, queues: [{name: b, maxapplication: 2}, {name: c}]}",
            {("applications", "partitions[0].queues[0].queues[0].queues[1]")},
        ),
        ("{name: a, limits: [{user: [ann], maxapplications: 1}]}", set()),
        (
            "{name: a, resources: {max: {vcore: 3}}, queues: [{name: b, resource: {}}, {name: c, resources:"
            " {guaranteed: {vcore: 4}}}]}",
            set(),
        ),
        (
            "{name: x, color: red}, {name: a, resources: {max: {vcore: 3}}, queues: [{name: c, resources:"
            " {guaranteed: {vcore: 4}}}]}",
            {("max-sum", "partitions[0].queues[0].queues[1].resources.max.vcore")},
        ),
    ],
    ids=["amounts", "names-and-lists", "a-sibling", "perhaps-there", "perhaps-less", "another-branch"],
)
def test_what_is_certain_is_said_too(queues: str, expected: set[Place]) -> None:
    data = yaml.safe_load(tree(queues))
    assert any(each.kind == "decoding" for each in validation.problems(data))
    assert found(data) == expected


def test_work_grows_with_the_broken_parts_and_not_with_their_square() -> None:
    queues: Path = ("partitions", 0, "queues", 0, "queues")

    def steps(size: int) -> int:
        undecoded = [problem((*queues, number, "bogus"), "decoding", "") for number in range(size)]
        problems = [
            *(problem((*queues, number, "submitacl"), "acl", "") for number in range(size)),
            *(problem((*queues, number), "applications", "") for number in range(size)),
        ]
        found: list[Problem] = []
        taken = count(lambda: found.extend(certain_problems(problems, UndecodedParts.of(undecoded))))
        assert [each.kind for each in found] == ["acl"] * size
        return taken

    one, two = steps(500), steps(1000)
    assert two < 2.1 * one


@pytest.mark.parametrize(
    ("broken", "stays"),
    [
        ((), False),
        (("partition",), False),
        (("partitions", 0, "queue"), False),
        (("partitions", 1, "queue"), True),
    ],
    ids=["the-file", "a-key-of-the-file", "the-same-partition", "another-one"],
)
def test_a_problem_of_a_partition_stays_unless_that_is_broken(broken: Path, stays: bool) -> None:
    one = problem(("partitions", 0, "nodesortpolicy"), "rule-queue", "")
    assert list(certain_problems([one], UndecodedParts.of([problem(broken, "decoding", "")]))) == (
        [one] if stays else []
    )
