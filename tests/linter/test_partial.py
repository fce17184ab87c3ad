"""Patches and fragments: nothing is missing from them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from policykit.kube.podsets import pod_sets
from policykit.linter.partial import has_signs, is_abridged, is_partial, says_partial
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse


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
    assert says_partial(text) is says


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
