"""Template paths: their text, what they match, what a match binds."""

from __future__ import annotations

import pytest

from policykit.kube.podsets.kind_entry import Binding, Wildcard, literal, matches, pattern, value
from policykit.manifests.path import Path

_DATA = {"spec": {"tasks": [{"t": 1}, {"t": None}, "x", {"t": 0}], "roles": {"[*]": {"t": 2}, "b": 3}}}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", ()),
        ("spec", ("spec",)),
        ("spec.tasks[*].template", ("spec", "tasks", Wildcard.ITEM, "template")),
        ("a[*][*].b", ("a", Wildcard.ITEM, Wildcard.ITEM, "b")),
        ("a{*}.b", ("a", Wildcard.VALUE, "b")),
    ],
)
def test_pattern(text: str, steps: tuple[str | Wildcard, ...]) -> None:
    assert pattern(text) == steps


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", [()]),
        ("spec.tasks[*].t", [("spec", "tasks", 0, "t"), ("spec", "tasks", 3, "t")]),
        ("spec.tasks[*]", [("spec", "tasks", n) for n in range(4)]),
        ("spec.roles{*}.t", [("spec", "roles", "[*]", "t")]),
        ("spec.roles[*]", []),
        ("spec.tasks{*}", []),
        ("spec.none.t", []),
    ],
)
def test_matches_in_order_without_what_is_missing_or_null(text: str, paths: list[Path]) -> None:
    assert list(matches(_DATA, pattern(text))) == paths


@pytest.mark.parametrize(
    ("path", "found"), [((), _DATA), (("spec", "tasks", 9), None), (("spec", "tasks", 2, "t"), None)]
)
def test_value(path: Path, found: object) -> None:
    assert value(_DATA, path) == found


@pytest.mark.parametrize(
    ("other", "bound"),
    [
        ("spec.tasks[*].replicas", ("spec", "tasks", 3, "replicas")),
        ("spec.tasks[*].template.spec", ("spec", "tasks", 3, "template", "spec")),
        ("spec.groups[*].n", ("spec", "groups", Wildcard.ITEM, "n")),
        ("spec.tasks[*].steps[*]", ("spec", "tasks", 3, "steps", Wildcard.ITEM)),
        ("spec", ("spec",)),
    ],
)
def test_a_match_binds_the_wildcards_it_shares(other: str, bound: tuple[object, ...]) -> None:
    binding = Binding(pattern("spec.tasks[*].template"), ("spec", "tasks", 3, "template"))
    assert binding.bound(pattern(other)) == bound
    assert binding.suffix == "[3]"


def test_literal_leaves_wildcards_out() -> None:
    assert literal(pattern("spec.tasks[*].t")) == ("spec", "tasks", "t")
