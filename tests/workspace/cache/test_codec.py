"""Values to JSON and back: exactly, and nothing else."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.linter.engine import FileResult, Job, lint_file
from policykit.linter.finding import Report, Resource, TextFix
from policykit.linter.scope import LocatedFact
from policykit.manifests.node import Span
from policykit.manifests.patch import Patch
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Taint
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets import ALL_TARGETS
from policykit.targets.yunikorn.options import YuniKornOptions
from policykit.workspace.cache.codec import decode, encode
from policykit.workspace.cache.folder import DamagedError
from policykit.workspace.cache.policies import CompiledPolicy
from policykit.workspace.kustomize import Build
from tests.clusters import cluster as cluster_of
from tests.policies import clusters
from tests.rules.test_cases import cases
from tests.workspace.cache.values import facts, values

ROOTS = (FileResult, Report, CompiledPolicy, Build)
"""What is cached."""


@pytest.mark.parametrize("kind", [*ROOTS, *facts()], ids=lambda kind: kind.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_any_value_comes_back(kind: Any, data: st.DataObject) -> None:
    """Also one with a field that was added today: a type that has no form as data fails here."""
    value = data.draw(values(kind))
    texts = encode(kind, [value])
    again = decode(kind, texts)
    assert again == [value]
    assert encode(kind, again) == texts, "equal, and of the same types: True is not 1"


@settings(max_examples=20)
@given(st.lists(values(FileResult), max_size=4))
def test_many_come_back_in_their_order(results: list[FileResult]) -> None:
    texts = encode(FileResult, results)
    assert decode(FileResult, texts) == results
    assert [decode(FileResult, [text]) for text in texts] == [[result] for result in results]


@given(clusters())
def test_any_policy_comes_back(cluster: Cluster) -> None:
    assert decode(Cluster, encode(Cluster, [cluster])) == [cluster]


def test_what_every_rule_finds_comes_back() -> None:
    """Facts are values of `policykit.model`, and fixes hold nothing but plain data."""
    results = []
    for case in cases("bad"):
        _, reference, said = case.values
        policy = cluster_of(reference)
        job = Job("case.yaml", policy, fixes=True)
        results.append(lint_file(job, said["manifest"].encode(), api.setting(policy).rules, ALL_TARGETS))
    assert len({type(fact.value) for r in results for fact in r.facts if isinstance(fact, LocatedFact)}) > 15
    assert decode(FileResult, encode(FileResult, results)) == results


class Odd(NamedTuple):
    """A type that nobody has a form for."""

    inner: complex


class Empty(NamedTuple):
    """Not even a fact of ours."""

    name: str


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Odd, Odd(1j)),
        (Taint, Taint(1)),  # type: ignore[arg-type]
        (Taint, Taint(Severity.ERROR)),
        (Taint, Taint("a")[:2]),
        (Span, Span(True, 1, 1, 1)),
        (Report, Report([], 0, 0)),  # type: ignore[arg-type]
        (LocatedFact, LocatedFact(Empty("a"), "", 0, None, {})),  # type: ignore[arg-type]
        (Patch, Patch("add", (), {1: 2})),
        (Patch, Patch("add", (), Odd(1j))),
        (dict, {}),
    ],
    ids=[
        "complex",
        "a number for a text",
        "an enumeration for a text",
        "another tuple",
        "a bool for a number",
        "a list for a tuple",
        "no type of the model",
        "keys that are not text",
        "no plain data",
        "no annotation",
    ],
)
def test_what_is_not_as_its_annotations_say_has_no_form(kind: Any, value: object) -> None:
    with pytest.raises(TypeError):
        encode(kind, [value])


def test_a_number_that_json_cannot_hold_has_no_form() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode(Patch, [Patch("add", (), float("inf"))])


WRONG = [
    ("nothing", Taint, b""),
    ("no JSON", Taint, b"taint"),
    ("not UTF-8", Taint, b'["a","b","\xff"]'),
    ("too short", Taint, b'["a","b"]'),
    ("too long", Taint, b'["a","b","c","d"]'),
    ("two values", Taint, b'["a","b","c"],["a","b","c"]'),
    ("a mapping for a value", Taint, b'{"key":"a"}'),
    ("a text for a value", Taint, b'"abc"'),
    ("a number for a text", Taint, b'["a","b",3]'),
    ("null for a text", Taint, b'["a","b",null]'),
    ("a text for a number", Span, b'[1,1,1,"1"]'),
    ("a fraction for a number", Span, b"[1,1,1,1.5]"),
    ("true for a number", Span, b"[1,1,1,true]"),
    ("no number", Span, b"[1,1,1,NaN]"),
    ("without an end", Span, b"[1,1,1,Infinity]"),
    ("digits without an end", Span, b"[1,1,1," + b"9" * 5000 + b"]"),
    ("larger than any", Patch, b'["add",[],[0,1e999]]'),
    ("a severity that is none", TextFix, b'["harmless","",[],[]]'),
    ("a severity that is a list", TextFix, b'[["safe"],"",[],[]]'),
    ("an alternative that is none", Patch, b'["add",[],[2,1]]'),
    ("an alternative from behind", Patch, b'["add",[],[-1,[[],[]]]]'),
    ("an alternative by name", Patch, b'["add",[],["Move",[[],[]]]]'),
    ("a list of no kind", Patch, b'["add",[],[0,["set",1]]]'),
    ("a list without a kind", Patch, b'["add",[],[0,[]]]'),
    ("nested without an end", Patch, b'["add",[],' + b"[" * 1_000_000),
    ("nested deeply", Patch, b'["add",[],[0,' + b'["list",' * 5_000 + b"1" + b"]" * 5_002),
    ("a pair of three", Queue, b'["a","",1,[["a",1,2]],[],[],null,true,null,null]'),
    ("bytes beyond bytes", Build, b'["\xe2\x82\xac","",""]'),
]


@pytest.mark.parametrize(("kind", "raw"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_anything_else_is_refused(kind: type, raw: bytes) -> None:
    with pytest.raises(DamagedError):
        decode(kind, [raw])


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "gang.PodGroup.x",
        "gang.",
        ".PodGroup",
        "gang",
        "",
        "gang.Mapping",
        "gang.NamedTuple",
        "taint.Taint",
        "cluster.Any",
        "..cli.lint.command",
        "gang.__builtins__",
        "severity.Severity",
        "nothing.PodGroup",
        7,
        None,
        ["gang.PodGroup"],
    ],
)
def test_a_fact_names_no_type_but_those_of_the_model(name: object) -> None:
    (text,) = encode(
        LocatedFact, [LocatedFact(Taint("a"), "a.yaml", 0, Resource("v1", "Pod", None, "a"), {})]
    )
    data = json.loads(text)
    assert data[0][0] == "pool.Taint"
    assert decode(LocatedFact, [text])
    data[0][0] = name
    with pytest.raises(DamagedError):
        decode(LocatedFact, [json.dumps(data).encode()])


@pytest.mark.parametrize("target_name", ["yunikorn.options", "nodes", "volcano", "os", "..", ""])
def test_options_are_only_of_the_types_that_targets_name(target_name: str) -> None:
    (text,) = encode(TargetSettings, [TargetSettings("yunikorn", options=YuniKornOptions())])
    named = f'["{target_name}",'.encode()
    with pytest.raises(DamagedError):
        decode(TargetSettings, [text.replace(b'["yunikorn",[', named + b"[")])


def test_options_of_another_type_are_not_encoded() -> None:
    with pytest.raises(TypeError):
        encode(TargetSettings, [TargetSettings("yunikorn", options=Version(1, 9, 0))])
