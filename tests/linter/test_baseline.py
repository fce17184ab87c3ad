"""Baselines as values: keys, text and back, what is hidden, kept and taken out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.errors import SourceError
from policykit.linter.baseline import (
    ANY,
    Baseline,
    Key,
    extended_baseline,
    is_within,
    key_of,
    outermost,
    parse,
    pruned_baseline,
    stale_entries,
    text_of,
)
from policykit.linter.finding import Finding, Resource
from policykit.linter.rule import StaleEntry
from policykit.manifests.node import Span
from policykit.model.severity import Severity

FINDING = Finding(
    "apps/a.yaml",
    Span(3, 1, 3, 2),
    "PK201",
    "name",
    Severity.ERROR,
    "message",
    resource=Resource("batch/v1", "Job", "dev", "train"),
    pointer="/spec/containers/0",
    field="/spec/containers[main]",
)
KEY = Key("PK201", "Job.batch", "dev", "train", "/spec/containers[main]", cause="message")
WORDS = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.builds(Key, st.sampled_from(["PK101", "PK2"]), WORDS, WORDS, WORDS, WORDS, WORDS, WORDS)
AMOUNTS = st.dictionaries(KEYS, st.integers(1, 9))
PATHS = st.lists(st.sampled_from([".", "a", "a/b", "a/bc", "b", "../c", "a/b/c.yaml"]))


def located(path: str) -> str:
    return f"below/{path}"


@pytest.mark.parametrize(
    ("finding", "key"),
    [
        (FINDING, KEY),
        (FINDING._replace(path="b.yaml", span=Span(9, 9, 9, 9), document=4, pointer="/y"), KEY),
        (FINDING._replace(message="needs 4, has 2"), KEY._replace(cause="needs 4, has 2")),
        (
            FINDING._replace(message="also in apps/b.yaml:3:1 ('c.yml'), line 7"),
            KEY._replace(cause="also in ... ('...'), ..."),
        ),
        (FINDING._replace(resource=Resource("batch/v2", "Job", "dev", "train")), KEY),
        (
            FINDING._replace(resource=Resource("v1", "Pod", None, "a"), field=""),
            Key("PK201", "Pod", "", "a", cause="message"),
        ),
        (
            FINDING._replace(resource=Resource("v1", "Pod", None, "")),
            Key("PK201", path="below/apps/a.yaml", cause="message"),
        ),
        (FINDING._replace(resource=None), Key("PK201", path="below/apps/a.yaml", cause="message")),
    ],
    ids=[
        "an object",
        "elsewhere",
        "another cause",
        "the same cause with other places",
        "another version",
        "the core group",
        "without a name",
        "no object",
    ],
)
def test_key_of(finding: Finding, key: Key) -> None:
    assert key_of(finding, located) == key


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (KEY, "PK201 of Job.batch dev/train at /spec/containers[main]"),
        (Key("PK201", "Pod", name="a"), "PK201 of Pod a"),
        (Key("PK001", path="a.yaml", cause="x"), "PK001 in a.yaml"),
    ],
)
def test_said(key: Key, said: str) -> None:
    assert str(key) == said


def test_text() -> None:
    text = text_of(Baseline({KEY: 2, Key("PK001", path="节点.yaml", cause='a "b"'): 1}, ("apps", "b.yaml")))
    assert text == (
        "{\n"
        '  "kind": "policykit-baseline",\n'
        '  "version": 2,\n'
        '  "covers": ["apps", "b.yaml"],\n'
        '  "findings": [\n'
        '    {"rule": "PK001", "path": "节点.yaml", "cause": "a \\"b\\"", "occurrences": 1},\n'
        '    {"rule": "PK201", "kind": "Job.batch", "namespace": "dev", "name": "train",'
        ' "field": "/spec/containers[main]", "cause": "message", "occurrences": 2}\n'
        "  ]\n"
        "}\n"
    )


@given(AMOUNTS, PATHS)
def test_what_is_written_reads_back_equal(accepted: dict[Key, int], covers: list[str]) -> None:
    baseline = Baseline(accepted, outermost(covers))
    assert parse(text_of(baseline), "b.json") == baseline


@given(st.permutations(sorted([KEY._replace(name=name) for name in "abcde"])))
def test_the_text_is_sorted(keys: list[Key]) -> None:
    assert text_of(Baseline(dict.fromkeys(keys, 1))) == text_of(Baseline(dict.fromkeys(sorted(keys), 1)))


ENTRY = '{"kind": "policykit-baseline", "version": 2, "covers": [],\n "findings": [\n  %s]}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "b.json:1:1: is not JSON, so it cannot be read as a baseline"),
        ('{"kind": 1,\n<<<<<<< HEAD\n}', "b.json:2:1: is not JSON, so it cannot be read as a baseline"),
        ("[" * 100_000, "b.json: is not JSON, so it cannot be read as a baseline"),
        ("[]", "b.json: is not a policykit baseline"),
        ('{"apiVersion": "v1", "kind": "Pod"}', "b.json: is not a policykit baseline"),
        (
            '{"kind": "policykit-baseline", "version": 3}',
            "b.json: is a baseline of version 3, but this policykit reads 1 and 2",
        ),
        (
            '{"kind": "policykit-baseline", "version": 1, "covers": [1], "findings": []}',
            "b.json: `covers` must be a list of paths and `findings` a list of entries",
        ),
        (
            '{"kind": "policykit-baseline", "version": 1, "covers": []}',
            "b.json: `covers` must be a list of paths and `findings` a list of entries",
        ),
        *(
            (ENTRY % entry, "b.json:3:3: the entry does not have the format that policykit writes")
            for entry in (
                "1",
                "{}",
                '{"rule": "PK1"}',
                '{"rule": 1, "occurrences": 1}',
                '{"rule": "PK1", "occurrences": 0}',
                '{"rule": "PK1", "occurrences": true}',
                '{"rule": "PK1", "line": "3", "occurrences": 1}',
            )
        ),
        ('{"rule": "PK1", "occurrences": 1}', "b.json: is not a policykit baseline"),
    ],
)
def test_what_is_no_baseline(text: str, says: str) -> None:
    with pytest.raises(SourceError) as raised:
        parse(text, "b.json")
    assert str(raised.value).split("\n")[0] == says
    assert raised.value.hint


OLD = """{"kind": "policykit-baseline", "version": 1, "covers": ["."], "findings": [
  {"rule": "PK201", "kind": "Pod", "name": "a", "occurrences": 2},
  {"rule": "PK001", "path": "a.yaml", "message": "m", "occurrences": 1}
]}"""


def test_entries_of_version_1_are_for_all_clusters_and_causes() -> None:
    old = parse(OLD, "b.json")
    pod, text = Key("PK201", "Pod", name="a"), Key("PK001", path="a.yaml", cause="m")
    assert old.accepted == {pod.general(): 2, text.general(): 1}
    assert parse(text_of(old), "b.json") == old
    found = {pod._replace(cluster="prod", cause="x"): 1, pod._replace(cluster="dev", cause="x"): 1}
    again = extended_baseline(old, found, ["."], {pod.general(): 1})
    assert again.accepted == {**found, pod.general(): 1, text.general(): 1}
    assert extended_baseline(old, found, ["."], {pod.general(): 2}).accepted == {**found, text.general(): 1}


def test_an_entry_that_git_merged_twice_counts_once() -> None:
    entry = '{"rule": "PK1", "occurrences": %d}'
    assert parse(ENTRY % f"{entry % 1},\n {entry % 3}", "b.json").accepted == {Key("PK1"): 3}


@given(AMOUNTS, AMOUNTS)
def test_joined_accepts_all_of_both(old: dict[Key, int], found: dict[Key, int]) -> None:
    after = extended_baseline(Baseline(old, ("a",)), found, ["a/b", "c"])
    assert after.covers == ("a", "c")
    assert set(after.accepted) == {*old, *found}
    assert all(amount == max(old.get(k, 0), found.get(k, 0)) for k, amount in after.accepted.items())


@given(AMOUNTS, AMOUNTS, st.sets(WORDS))
def test_pruned_adds_nothing_and_leaves_other_rules_and_clusters(
    old: dict[Key, int], found: dict[Key, int], some: set[str]
) -> None:
    codes = some | {key.rule for key in [*found][:3]}
    after = pruned_baseline(Baseline(old, ("a",)), found, codes)
    assert after.covers == ("a",)
    for key, amount in old.items():
        linted = key.rule in codes and key.cluster in (ANY, "")
        assert after.accepted.get(key, 0) == (min(amount, found.get(key, 0)) if linted else amount)
    assert set(after.accepted) <= set(old)


def test_stale_entries_have_their_places() -> None:
    gone, fewer = Key("PK001", path="a.yaml", cause="m"), KEY
    baseline = Baseline({gone: 1, fewer: 3, Key("PK5"): 1})
    left = {gone: 1, fewer: 2, Key("PK5"): 1}
    assert stale_entries(baseline, left, {"PK001", "PK201"}, text_of(baseline)) == [
        StaleEntry("PK001 in a.yaml", 1, 0, Span(6, 5, 6, 12)),
        StaleEntry("PK201 of Job.batch dev/train at /spec/containers[main]", 3, 1, Span(7, 5, 7, 12)),
    ]


@given(PATHS)
def test_outermost(paths: list[str]) -> None:
    found = outermost(paths)
    assert all(any(is_within(path, one) for one in found) for path in paths)
    assert not any(is_within(one, other) for one in found for other in found if one != other)


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("a/b", "a", True),
        ("a", "a", True),
        ("ab", "a", False),
        ("a", ".", True),
        (".", ".", True),
        ("../a", ".", False),
        ("..", ".", False),
        ("..a", ".", True),
        (".", "a", False),
    ],
)
def test_within(path: str, folder: str, inside: bool) -> None:
    assert is_within(path, folder) is inside
