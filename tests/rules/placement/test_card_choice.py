"""Pods that could have several cards: one finding, whose help names the command that chooses."""

from __future__ import annotations

from typing import Any

import pytest

from policykit import api
from policykit.manifests.writer import dump
from tests.clusters import policy

CARDS = {"h100": {"product": "NVIDIA-H100-80GB-HBM3"}, "a100": {"product": "NVIDIA-A100-SXM4-80GB"}}
WORKLOADS = {
    "training": {"usages": ["training", "hybrid"], "prefer": {"training": 100}},
    "inference": {"usages": ["inference"]},
}
TWO = {
    "t1": {"usage": "training", "card": "h100", "nodes": 2},
    "t2": {"usage": "training", "card": "a100", "nodes": 2},
    "spare": {"usage": "hybrid", "card": "a100", "nodes": 2},
    "web": {"usage": "inference", "nodes": 2},
}
FOREIGN = {"usage": "inference", "card": "h100", "nodes": 2}
PLAIN = {"preset": "plain", "usage": {"key": "example.com/usage"}}
CHOICE = "choose a card: policykit patch job.yaml --card h100 (or a100)"


def job() -> bytes:
    container = {
        "name": "main",
        "image": "registry.example/train:1",
        "resources": {"limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": 8}},
    }
    template = {
        "metadata": {"labels": {"policykit.io/workload": "training"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    made = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a"},
        "spec": {"template": template},
    }
    return dump(made).encode()


@pytest.mark.parametrize(
    ("pools", "scheme", "code"),
    [
        pytest.param({**TWO, "i": FOREIGN}, PLAIN, "PK104", id="a pool of another usage accepts it"),
        pytest.param({**TWO, "any": {"card": "h100", "nodes": 2}}, PLAIN, "PK103", id="any pool accepts it"),
        pytest.param(TWO, PLAIN, "PK130", id="pools are not ranked"),
        pytest.param(TWO, "seed", "PK101", id="no pool accepts it"),
    ],
)
def test_one_finding_says_which_command_chooses(pools: dict[str, Any], scheme: Any, code: str) -> None:
    cluster = policy(
        {"domain": "a.example.com", "scheme": scheme, "cards": CARDS, "pools": pools, "workloads": WORKLOADS}
    )
    texts = {"job.yaml": job()}
    (finding,) = api.lint_texts(texts, cluster).findings
    assert (finding.code, finding.help) == (code, CHOICE)
    result = api.fix_texts(texts, cluster)
    assert result.after == {}
    said = "fix left out: cards h100, a100 would serve: name one with `policykit patch --card`"
    assert [line.partition(f"{code} ")[2] for line in result.dropped] == [said]


def test_one_card_leaves_no_choice() -> None:
    pools = {**TWO, "t1": FOREIGN}
    cluster = policy(
        {"domain": "a.example.com", "scheme": PLAIN, "cards": CARDS, "pools": pools, "workloads": WORKLOADS}
    )
    result = api.lint_texts({"job.yaml": job()}, cluster)
    assert all("choose a card" not in finding.help for finding in result.findings)
    assert api.fix_texts({"job.yaml": job()}, cluster).dropped == ()


@pytest.mark.parametrize(
    ("path", "file"),
    [("a b.yaml", "'a b.yaml'"), ("app/kustomization.yaml#built", "FILE"), ("<stdin>", "FILE")],
)
def test_the_command_can_be_pasted(path: str, file: str) -> None:
    cluster = policy({"domain": "a.example.com", "cards": CARDS, "pools": TWO, "workloads": WORKLOADS})
    (finding,) = api.lint_texts({path: job()}, cluster).findings
    assert finding.help == CHOICE.replace("job.yaml", file)


def test_the_only_card_of_a_kind_is_named_with_the_command() -> None:
    workloads = {"training": {"role": "training", "cards": ["a100"]}}
    pools = {"big": {"card": "h100", "nodes": 2}, "old": {"card": "a100", "nodes": 2}}
    cluster = policy({"scheme": "plain", "cards": CARDS, "pools": pools, "workloads": workloads})
    (finding,) = api.lint_texts({"job.yaml": job()}, cluster).findings
    assert (finding.code, finding.help) == (
        "PK130",
        "workload kind training may use a100: policykit patch job.yaml",
    )


def test_cards_of_nodes_that_are_too_small_are_no_choice() -> None:
    pools = {**TWO, "t1": {**TWO["t1"], "cardsPerNode": 4}}
    cluster = policy(
        {"domain": "a.example.com", "scheme": PLAIN, "cards": CARDS, "pools": pools, "workloads": WORKLOADS}
    )
    result = api.fix_texts({"job.yaml": job()}, cluster)
    assert b"values:\n                      - NVIDIA-A100-SXM4-80GB" in result.after["job.yaml"]
