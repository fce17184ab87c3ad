"""Real manifests: no crash, and every error on them is one that was looked at and found right."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from policykit import api
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from tests.clusters import policy, profile
from tests.shared import SHARED

VERDICTS = Path(__file__).parent / "corpus_verdicts.tsv"
POLICIES = ("none", "seed", "gke")
EVERY = "all"
"""In the policy column: the error is the same under each of the policies."""

GKE = {
    "domain": "ai.example.com",
    "scheme": "gke",
    "cards": {
        "l4": {"product": "NVIDIA-L4"},
        "h100": {
            "product": "NVIDIA-H100-80GB-HBM3",
            "labels": {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"},
        },
    },
    "pools": {
        "l4": {"usage": "inference", "card": "l4", "nodes": {"min": 0, "max": 20}},
        "h100": {
            "usage": "training",
            "card": "h100",
            "nodes": {"min": 0, "max": 8},
        },
        "default": {"nodes": {"min": 1, "max": 10}},
    },
    "workloads": {
        "training": {"usages": ["training"], "prefer": {"training": 100}},
        "inference": {"usages": ["inference"], "prefer": {"inference": 100}},
    },
}


def under(name: str) -> Cluster | None:
    if name == "none":
        return None
    return profile("hybrid-volcano") if name == "seed" else policy(GKE)


def corpus() -> Path:
    if SHARED is None:
        pytest.skip("the shared corpus is not beside this checkout")
    return SHARED / "corpus"


@cache
def errors(name: str) -> frozenset[tuple[str, str, str, str]]:
    """(policy, path, line, code) of every error; each file is a scope of its own."""
    cluster = under(name)
    found = set()
    for path in sorted(corpus().rglob("*.yaml")):
        relative = path.relative_to(corpus()).as_posix()
        for finding in api.lint_texts({relative: path.read_bytes()}, cluster).findings:
            if finding.severity is Severity.ERROR:
                found.add((name, relative, str(finding.span.line), finding.code))
    return frozenset(found)


def everywhere() -> frozenset[tuple[str, str, str]]:
    """(path, line, code) of the errors that all policies give."""
    first, *others = ({row[1:] for row in errors(name)} for name in POLICIES)
    return frozenset(first.intersection(*others))


def listed() -> Iterator[tuple[str, str, str, str]]:
    lines = VERDICTS.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "policy\tpath\tline\tcode\twhy it is right"
    for line in lines[1:]:
        name, path, number, code, why = line.split("\t")
        assert len(why) > 15, f"say why: {line}"
        yield name, path, number, code


@pytest.mark.parametrize("name", POLICIES)
def test_every_error_is_listed_and_every_listed_one_found(name: str) -> None:
    same = everywhere()
    found = {(EVERY if row[1:] in same else name, *row[1:]) for row in errors(name)}
    expected = {row for row in listed() if row[0] in (name, EVERY)}
    unlisted = sorted(found - expected)
    missing = sorted(expected - found)
    assert not unlisted, "unlisted:\n" + "\n".join("\t".join(row) for row in unlisted)
    assert not missing, "no longer found:\n" + "\n".join("\t".join(row) for row in missing)


def test_rows_are_sorted_and_stand_once() -> None:
    rows = VERDICTS.read_text(encoding="utf-8").splitlines()[1:]
    keys = [tuple(row.split("\t")[:4]) for row in rows]
    ordered = sorted(keys, key=lambda key: (key[0], key[1], int(key[2]), key[3]))
    assert keys == ordered
    assert len(set(keys)) == len(keys)
