"""Facts of a large file are those that were added, and encoded as they would be otherwise."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest

from policykit import api
from policykit.linter.scope import (
    AnyFact,
    UnreadableText,
    decoded,
    may_have_findings,
    name_of_fact,
    objects_of,
)
from policykit.rules import rules
from policykit.workspace.cache import large_file_facts
from policykit.workspace.cache.codec import encode
from policykit.workspace.cache.large_file_facts import PackedFacts, kind_of
from tests.clusters import profile


@pytest.fixture(scope="module")
def facts() -> list[AnyFact]:
    """What the pages of all rules state."""
    found: list[AnyFact] = [UnreadableText(frozenset({"a", "b"})), UnreadableText(None)]
    for rule in rules():
        found += api.facts("a.yaml", rule.bad.encode(), profile("hybrid-volcano"))
    assert len(found) > 500
    return found


def packed(facts: Sequence[AnyFact]) -> PackedFacts:
    found = PackedFacts("a.yaml")
    for fact in facts:
        found.add(fact)
    return found


@pytest.mark.parametrize("together", [1, 3, 100_000])
def test_facts_are_those_that_were_added(
    together: int, facts: list[AnyFact], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_file_facts, "_TOGETHER", together)
    by_type: dict[str, list[AnyFact]] = {}
    for fact in facts:
        by_type.setdefault(name_of_fact(fact), []).append(fact)
    found = pickle.loads(pickle.dumps(packed(facts)))  # as a worker process sends it
    assert {name: [*found.of(name)] for name in found.names} == by_type
    assert [*decoded([found])] == [fact for some in by_type.values() for fact in some]
    assert {*found.objects()} == {*objects_of(facts)}
    assert dict(found.encoded()) == {
        name: encode(kind_of(name), [tuple(some)])[0] for name, some in by_type.items()
    }


def test_facts_that_only_answer(facts: list[AnyFact]) -> None:
    for fact in facts:
        assert may_have_findings([packed([fact])]) is may_have_findings([fact])
