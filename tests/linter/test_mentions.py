"""Words that must be there for a rule to be run: they leave out nothing that would be found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from policykit.kube.podsets import entries as kinds
from policykit.linter.engine import Job, lint_file
from policykit.linter.mentions import unmentioned
from policykit.linter.registry import RuleSet
from policykit.linter.systems import Systems
from policykit.rules import CATALOGUE, entries, rule
from policykit.targets import SYSTEMS, TARGETS
from tests.clusters import profile
from tests.shared import SHARED

GANGS = next(each.words for each in SYSTEMS.readers if "gang_facts" in each.read.path)
EVERY_READER = Systems(
    SYSTEMS.targets, tuple(each._replace(words=()) for each in SYSTEMS.readers), SYSTEMS.configurations
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("kind: Queue", {"toleration"}),
        ("tolerations: []", {"Queue"}),
        ("", {"Queue", "toleration"}),
        ("run: 'C:\\temp'", {"Queue", "toleration"}),
        ('kind: "Que\\u0075e"', set()),
        ('kind: "Que\\x75e"', set()),
        ('kind: "Que\\U00000075e"', set()),
        ('kind: "Que\\\n  ue"', set()),
        ('kind: "Que\\\r\n  ue"', set()),
        ('kind: "Que\\\u2028ue"', set()),
        ('{"kind": "a\\/b"}', set()),
    ],
)
def test_only_what_no_scalar_can_say_is_absent(text: str, left: set[str]) -> None:
    assert unmentioned(text, ["Queue", "toleration"]) == left


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
    eager = RuleSet([each._replace(words=()) for each in able], rule)
    job = Job("a.yaml", cluster)
    read = 0
    for title, raw in texts():
        assert lint_file(job, raw, lazy, SYSTEMS) == lint_file(job, raw, eager, EVERY_READER), title
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
    ' "image": "a:1", "resources": {"limits": {"cpu": 1, "memory": 1, "nvidia.com\\/gpu.shared": 2}}}]}}'
)


@pytest.mark.parametrize(
    ("text", "codes"),
    [(RUNTIME, ["PK112", "PK116", "PK117"]), (SLASHES, ["PK214"])],
    ids=["fields-of-other-names", "slashes-with-backslashes"],
)
def test_other_spellings_are_found_too(text: str, codes: list[str]) -> None:
    found = lint_file(Job("a.yaml"), text.encode(), RuleSet(entries(with_policy=False), rule), SYSTEMS)
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
