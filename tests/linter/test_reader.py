"""Bytes to text and documents: encodings, their mistakes, templates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from policykit import api
from policykit.kube.podsets import entries as kinds
from policykit.kube.podsets import pod_sets
from policykit.linter.engine import Job, lint_file
from policykit.linter.reader import (
    decode,
    documents,
    has_signs,
    is_abridged,
    is_marked_partial,
    is_of_ytt,
    is_partial,
    is_template,
    source_comments,
)
from policykit.linter.registry import RuleSet, Selection
from policykit.linter.target import Targets
from policykit.manifests.document import manifests
from policykit.manifests.parser import Problem, parse
from policykit.rules import CATALOGUE, entries, rule
from policykit.targets import ALL_TARGETS, TARGETS
from tests.clusters import profile
from tests.shared import SHARED


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"", ""), (b"a: \xe8\x8a\x82", "a: 节"), (b"\xef\xbb\xbfa: 1", "a: 1"), (b"a\r\nb", "a\r\nb")],
    ids=["empty", "utf-8", "byte order mark", "crlf"],
)
def test_decode(raw: bytes, text: str) -> None:
    assert decode(raw) == (text, None)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"\xff", Problem("byte 0xff is not UTF-8", 0, 0)),
        (b"a\nb\xe9", Problem("byte 0xe9 is not UTF-8", 1, 1)),
        ("节: ".encode() + b"\xe9", Problem("byte 0xe9 is not UTF-8", 0, 3)),
        (b"\xef\xbb\xbfa\xe9", Problem("byte 0xe9 is not UTF-8", 0, 1)),
        (b"\xe8\x8a", Problem("byte 0xe8 is not UTF-8", 0, 0)),
        ("a: 1".encode("utf-16"), Problem("the file is UTF-16, which is not UTF-8", 0, 0)),
    ],
    ids=["first", "second line", "counted in characters", "after a mark", "cut off", "UTF-16"],
)
def test_other_bytes_have_a_place(raw: bytes, problem: Problem) -> None:
    text = decode(raw)
    assert text.problem == problem
    assert [(parsed.root, parsed.problem) for parsed in documents(text)] == [(None, problem)]


def test_documents() -> None:
    roots = [parsed.root for parsed in documents(decode(b"a: 1\n---\nb: 2\n"))]
    assert [root.data for root in roots if root] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("{{ x }}", True),
        ("a: {{b: c}", False),
        ("}}", False),
        ("a: {}", False),
        ("a: 1\n  <SOME_NAME>\nb: 2", True),
        ("a: {}\n<SOME_NAME>", True),
        ("a: <SOME_NAME>", False),
        ("<br>\n<HEAD", False),
    ],
)
def test_is_template(text: str, template: bool) -> None:
    assert is_template(text) is template


@pytest.mark.parametrize(
    ("text", "of_ytt"),
    [
        ('#@ load("@ytt:data", "data")\na: 1\n', True),
        ("a: 1\nb: #@ data.values.b\n", True),
        ("a: 1 #@ no instruction\n", False),
        ("a: '#@'\n", False),
    ],
)
def test_is_of_ytt(text: str, of_ytt: bool) -> None:
    assert is_of_ytt(text) is of_ytt


QUOTA = (
    'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {hard: {limits.nvidia.com/gpu: "8"}}\n'
)
GROUP = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: a}\nspec: {minMember: 1}\n"
)


def sources(text: str) -> list[tuple[str, str]]:
    report = api.lint_texts({"all.yaml": text.encode()}, select=["PK206", "PK306"])
    return [(finding.code, finding.source) for finding in report.findings]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"---\n# Source: app/templates/quota.yaml\n{QUOTA}", [("PK206", "app/templates/quota.yaml")]),
        (f"# Source: app/templates/quota.yaml\n{QUOTA}", [("PK206", "app/templates/quota.yaml")]),
        (f"---\r\n# Source: a b.yaml \r\n{QUOTA}", [("PK206", "a b.yaml")]),
        (f"---\n# Source: a.yaml\n{GROUP}---\n{QUOTA}", [("PK306", "a.yaml"), ("PK206", "")]),
        (f"---\n# Source: a.yaml\n---\n# Source: b.yaml\n{QUOTA}", [("PK206", "b.yaml")]),
        (f"{QUOTA}# Source: a.yaml\n", [("PK206", "")]),
        (f"# Source:\n{QUOTA}", [("PK206", "")]),
        (QUOTA, [("PK206", "")]),
    ],
    ids=["Helm", "the first", "CRLF", "each its own", "an empty one", "behind", "empty", "none"],
)
def test_source(text: str, found: list[tuple[str, str]]) -> None:
    assert sources(text) == found


def test_comments() -> None:
    assert source_comments("a\n# Source: b\n  # Source: c\n") == ((1, "b"),)


def test_settings_per_path_know_the_template() -> None:
    report = api.lint_texts(
        {"all.yaml": f"# Source: app/charts/x/a.yaml\n{QUOTA}".encode()}, select=["PK206"]
    )
    silent = Selection(frozenset({"PK206"}), per_path=(("app/charts/**", frozenset({"PK206"})),))
    assert len(report.findings) == 1
    assert silent.apply(report.findings) == []


GANGS = next(each.substrings for each in ALL_TARGETS.readers if "facts.gangs:" in each.read.path)
EVERY_READER = Targets(
    ALL_TARGETS.targets,
    tuple(each._replace(substrings=()) for each in ALL_TARGETS.readers),
    ALL_TARGETS.configurations,
)


def texts() -> Iterator[tuple[str, bytes]]:
    for entry in CATALOGUE:
        yield f"{entry.code}-bad.yaml", rule(entry).bad.encode()
        yield f"{entry.code}-good.yaml", rule(entry).good.encode()
    for path in sorted(Path(__file__).parent.parent.joinpath("rules").rglob("*.yaml")):
        yield path.name, path.read_bytes()
    for path in sorted((SHARED / "corpus").rglob("*.yaml")) if SHARED else ():
        yield path.name, path.read_bytes()


@pytest.mark.parametrize("name", ["", "hybrid-volcano"])
def test_rules_and_readers_without_their_words_would_have_found_nothing(name: str) -> None:
    cluster = profile(name) if name else None
    able = entries(with_policy=cluster is not None)
    lazy = RuleSet(able, rule)
    eager = RuleSet([each._replace(substrings=()) for each in able], rule)
    job = Job("a.yaml", cluster)
    read = 0
    for title, raw in texts():
        assert lint_file(job, raw, lazy, ALL_TARGETS) == lint_file(job, raw, eager, EVERY_READER), title
        read += 1
    assert read > 2 * len(CATALOGUE)


RUNTIME = """\
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: a}
spec:
  deploymentConfig:
    resources: {cpu: "4", memory: 8Gi, gpu: "1"}
    toleration: [{operator: Exists}, {key: a, operator: Exists, value: b}]
    nodeSelectorTerms: [{matchExpressions: [{key: model, operator: NotIn, values: [a]}]}]
"""
SLASHES = (
    '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "a",'
    ' "image": "a:1", "resources": {"limits": {"cpu": 1, "memory": "1Gi", "nvidia.com\\/gpu.shared": 2}}}]}}'
)


@pytest.mark.parametrize(
    ("text", "codes"),
    [(RUNTIME, ["PK112", "PK116", "PK117"]), (SLASHES, ["PK214"])],
    ids=["fields-of-other-names", "slashes-with-backslashes"],
)
def test_other_spellings_are_found_too(text: str, codes: list[str]) -> None:
    found = lint_file(Job("a.yaml"), text.encode(), RuleSet(entries(with_policy=False), rule), ALL_TARGETS)
    assert [finding.code for finding in found.findings] == codes


def test_every_key_by_which_pods_join_a_gang_lets_its_reader_run() -> None:
    for key in (key.key for target in TARGETS for key in target.keys if key.purpose == "gang"):
        assert any(word in key for word in GANGS), key


def test_every_kind_with_several_templates_lets_the_reader_of_gangs_run() -> None:
    core = {"apps", "batch", "argoproj.io"}
    for each in kinds():
        if each.gang and each.group not in core:
            assert any(word in each.group or word in each.kind for word in GANGS), each.kind
        elif each.gang:
            assert len(each.templates) == 1, each.kind


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# policykit: partial\na: 1\n", True),
        ("a: 1\n  #  policykit:  partial -- a patch\n", True),
        ("a: 1 # policykit: partial\n", False),
        ("# policykit: partially\n", False),
        ("# policykit: ignore[PK1]\n", False),
        ("a: 'policykit: partial'\n", False),
    ],
    ids=["first line", "later", "behind a value", "another word", "another comment", "a value"],
)
def test_says_partial(text: str, says: bool) -> None:
    assert is_marked_partial(text) is says


DEPLOYMENT = "{apiVersion: apps/v1, kind: Deployment, spec: {%s}}"
POD = "{apiVersion: v1, kind: Pod, spec: {%s}}"
JOB = "{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {%s}}}}"
VOLCANO = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {%s}}"


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        (DEPLOYMENT % "template: {spec: {containers: [{name: a}]}}", True),
        (DEPLOYMENT % "template: {spec: {containers: [{name: a, image: x}]}}", False),
        (DEPLOYMENT % "selector: {}, template: {spec: {containers: [{name: a}]}}", True),
        (DEPLOYMENT % "selector: {matchLabels: {a: b}}, template: {spec: {containers: []}}", False),
        (DEPLOYMENT % "template: {spec: {containers: {a: b}}}", True),
        (DEPLOYMENT % "selector: {a: b}, $retainKeys: [a]", True),
        (JOB % "containers: [{name: a}]", True),
        (JOB % "restartPolicy: Never, containers: [{name: a}]", False),
        (VOLCANO % "tasks: [{template: {spec: {containers: [{name: a}]}}}]", False),
        (VOLCANO % "tasks: [{template: {spec: {nodeSelector: {a: b}}}}]", True),
        (POD % "containers: [{name: a}]", False),
        (POD % "containers: [{name: a, $patch: delete}]", True),
        (POD % "volumes: [[{$patch: replace}]]", True),
        ("{kind: Pod, metadata: {name: a, uid: u, ownerReferences: [{kind: Job}]}, spec: {}}", True),
        ("{kind: Pod, metadata: {name: a, uid: u}, spec: {}}", False),
        ("{apiVersion: v1, kind: ConfigMap, data: {a: '$patch'}}", False),
        ("{apiVersion: v1, kind: ConfigMap, data: {$patch: delete}}", True),
    ],
)
def test_is_partial(text: str, partial: bool) -> None:
    (document,) = parse(dedent(text))
    assert document.root
    (manifest,) = manifests(document.root, 0)
    assert is_partial(manifest, pod_sets(manifest.data)) is partial


def test_aliases_do_not_multiply_the_search() -> None:
    lines = ["a0: &a0 {x: y}"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 15)]
    (document,) = parse("\n".join(lines))
    assert document.root
    (manifest,) = manifests(document.root, 0)
    assert is_partial(manifest, ()) is False


def verdicts(text: str) -> list[bool]:
    read = [parsed for parsed in parse(text) if parsed.root is not None]
    begin = [parsed.start_line if number else 0 for number, parsed in enumerate(read)]
    ends = [*begin[1:], text.count("\n") + 1]
    lines = text.split("\n")
    roots = [parsed.root for parsed in read if parsed.root is not None]
    return [is_abridged(*each) for each in zip(roots, [lines] * len(roots), begin, ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: ...\n", [True]),
        ("a: '...'\n", [True]),
        ("a: [b, ...]\n", [True]),
        ("a: {...}\n", [True]),
        ("a: \u2026\n", [True]),
        ("a: b\n# ...\n", [False]),
        ("a: b # ... and more\n", [False]),
        ("a:\n  # (...)\n  b: c\n", [False]),
        ("a:\n  ## <... as above>\n  b: c\n", [False]),
        ("a: b\n...\n", [True]),
        ("a: b\n...\nspec: {c: d}\n", [True]),
        ("---\na: b\n...\nspec: {c: d}\n", [True]),
        ("---\na: b\n...\n---\nc: d\n...\n", [False, False]),
        ("# licence\n---\na: b\n...\n", [False]),
        ("a: b\n---\nc: ...\n", [False, True]),
        ("a: ...\n---\nc: d\n", [True, False]),
        ("a: b\n# and so on ...\n", [False]),
        ("a: wait...\n", [False]),
        ("a: .. .\n", [False]),
        ("a: |\n  # ...\n  ...\nb: c\n", [False]),
        ('a: "x\n  # ...\n  y"\n', [False]),
        ("a: |\n  ...\n...\n", [True]),
        ("a: &a {b: c}\nd: [*a, *a, ...]\n", [True]),
    ],
)
def test_is_abridged(text: str, said: list[bool]) -> None:
    assert verdicts(text) == said
    assert has_signs(text) or not any(said)


def test_aliases_do_not_multiply_the_search_for_dots() -> None:
    lines = ["a0: &a0 {x: y...}"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 15)]
    assert verdicts("\n".join(lines)) == [False]
