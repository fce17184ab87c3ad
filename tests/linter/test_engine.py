"""One file through every rule: positions, documents, and that nothing in it makes a rule raise."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.formats import FormatContext
from policykit.formats import where as where_formats
from policykit.formats.json import json_text
from policykit.formats.text import text
from policykit.gates.pod_gates import Answer
from policykit.linter.engine import Job, lint_file
from policykit.linter.input_file import OBJECTS
from policykit.linter.registry import RuleSet
from policykit.manifests.path import Path
from policykit.rules import entries, rule
from policykit.targets import ALL_TARGETS
from tests.clusters import profile
from tests.shared import ROOT, SHARED

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team-a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          requests:
            cpu: 1
            nvidia.com/gpu: 1
"""


def test_a_finding_in_full() -> None:
    (finding,) = api.lint_texts({"a.yaml": JOB.encode()}).findings
    assert (finding.path, finding.code, finding.name) == ("a.yaml", "PK201", "card-request-limit-mismatch")
    assert finding.span == (14, 29, 14, 30)
    assert (finding.document, str(finding.resource)) == (0, "Job team-a/train")
    assert finding.pointer == "/spec/template/spec/containers/0/resources/requests/nvidia.com~1gpu"


@pytest.mark.parametrize(
    ("text_", "line", "document", "pointer"),
    [
        (f"---\n---\n{JOB}", 16, 1, "/spec/"),
        (f"a: 1\n---\n{JOB}---\nb: 2\n", 16, 1, "/spec/"),
        ("apiVersion: v1\nkind: List\nitems:\n- " + JOB.replace("\n", "\n  "), 17, 0, "/items/0/spec/"),
        (
            "apiVersion: batch/v1\nkind: JobList\nitems:\n- " + JOB.replace("\n", "\n  "),
            17,
            0,
            "/items/0/spec/",
        ),
        (JOB.replace("\n", "\r\n"), 14, 0, "/spec/"),
        (f"\ufeff{JOB}", 14, 0, "/spec/"),
        (json.dumps(yaml.safe_load(JOB), indent=1), 19, 0, "/spec/"),
    ],
    ids=["after empty documents", "between others", "list", "typed list", "crlf", "byte order mark", "json"],
)
def test_where_an_object_stands(text_: str, line: int, document: int, pointer: str) -> None:
    (finding,) = api.lint_texts({"a.yaml": text_.encode()}, select=["PK201"]).findings
    assert (finding.span.line, finding.document) == (line, document)
    assert finding.pointer.startswith(pointer)


def test_a_fault_in_an_anchor_is_found_where_it_is_used() -> None:
    shared = "x: &r {requests: {nvidia.com/gpu: 1}}\n"
    used = JOB.split("        resources:")[0] + "        resources: *r\n"
    (finding,) = api.lint_texts({"a.yaml": (shared + used).encode()}, select=["PK201"]).findings
    assert finding.pointer.endswith("/resources/requests/nvidia.com~1gpu")


def _documents() -> Iterator[dict[str, Any]]:
    paths = [*sorted((ROOT / "tests/seeds").glob("*.yaml"))]
    if SHARED:
        paths += sorted((SHARED / "corpus").rglob("*.yaml"))[::7]
    for path in paths:
        try:
            loaded = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        except yaml.YAMLError:
            continue
        for document in loaded:
            if isinstance(document, dict) and "kind" in document:
                plain: dict[str, Any] = json.loads(json.dumps(document, default=str))
                yield plain


DOCUMENTS = list(_documents())
OTHERS: list[Any] = [
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "1", "1Gi", "*", "\n", "\x7f", "{{ x }}"),
    *([], [None], [[]], [{}], [1], ["x"], {}, {"a": None}, {"": ""}, {"x": "y"}, {"a": {"b": []}}),
]


def _places(value: object, base: Path = ()) -> Iterator[Path]:
    if base:
        yield base
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, inner in entries:
        yield from _places(inner, (*base, step))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A manifest with up to three of its values replaced by something else."""
    document: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(1, 3))):
        places = [place for place in _places(document) if place not in (("kind",), ("apiVersion",))]
        if not places:
            break
        *above, last = draw(st.sampled_from(places))
        owner: Any = document
        for step in above:
            owner = owner[step]
        owner[last] = copy.deepcopy(draw(st.sampled_from(OTHERS)))
    return document


@pytest.mark.parametrize("policy", [None, "hybrid-volcano", "koordinator-binpack"])
@settings(max_examples=150, deadline=None)
@given(document=mutated())
def test_no_shape_makes_lint_or_where_raise(policy: str | None, document: dict[str, Any]) -> None:
    raw = json.dumps(document).encode()
    cluster = profile(policy) if policy else None
    report = api.lint_texts({"a.yaml": raw}, cluster)
    assert json.loads(json_text(report))["findings"] or not report.findings
    for line in text(report, FormatContext()).splitlines():
        assert line.startswith(("a.yaml:1:", "    "))
    if cluster:
        reviews = [Answer("a.yaml", review) for review in api.where(raw, cluster)]
        assert len(json.loads(where_formats.json_text(reviews))["pod_sets"]) == len(reviews)
        assert where_formats.text(reviews).count("a.yaml:1") >= len(reviews)


@settings(max_examples=150, deadline=None)
@given(raw=st.binary(max_size=80) | st.text("ab:-[]{}#&*!|>'\"%@` \n\t,?$<", max_size=80).map(str.encode))
def test_no_bytes_make_lint_raise(raw: bytes) -> None:
    head = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
    for given_ in (raw, head + raw, head + b"---\n" + raw):
        report = api.lint_texts({"a.yaml": given_}, profile("hybrid-volcano"))
        assert all(f.span.line >= 1 and f.span.column >= 1 for f in report.findings)


BUILT = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: NAME
  labels: {kueue.x-k8s.io/queue-name: a}
  annotations:
    config.kubernetes.io/origin: |
      path: ../base/NAME.yaml
spec: {backofLimit: 1}
"""


def test_rules_are_applied_to_the_objects_of_some_origins_and_facts_are_read_of_all() -> None:
    raw = "---\n".join(BUILT.replace("NAME", name) for name in "abc").encode()
    rules = RuleSet(entries(with_policy=False), rule)
    whole = lint_file(Job("a", only=OBJECTS), raw, rules, ALL_TARGETS)
    part = lint_file(Job("a", only=OBJECTS, origins=("../base/b.yaml",)), raw, rules, ALL_TARGETS)
    assert {each.document for each in whole.findings} == {0, 1, 2}
    assert part.findings == tuple(each for each in whole.findings if each.document == 1)
    assert part.facts == whole.facts
