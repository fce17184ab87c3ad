"""Real manifests: no crash, and every error and warning on them is one that was looked at and found right."""

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
"""In the policy column: the finding is the same under each of the policies."""

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


Row = tuple[str, str, str, str]
"""Path, line, severity and code of a finding."""


@cache
def found(name: str) -> frozenset[Row]:
    """Every error and warning under a policy; each file is a scope of its own."""
    cluster = under(name)
    rows = set()
    for path in sorted(corpus().rglob("*.yaml")):
        relative = path.relative_to(corpus()).as_posix()
        for finding in api.lint_texts({relative: path.read_bytes()}, cluster).findings:
            if finding.severity is not Severity.INFO:
                rows.add((relative, str(finding.span.line), str(finding.severity), finding.code))
    return frozenset(rows)


def everywhere() -> frozenset[Row]:
    """The findings that all policies give."""
    return frozenset.intersection(*map(found, POLICIES))


def listed() -> Iterator[tuple[str, Row]]:
    lines = VERDICTS.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "policy\tpath\tline\tseverity\tcode\twhy it is right"
    for line in lines[1:]:
        name, path, number, severity, code, why = line.split("\t")
        assert len(why) > 15, f"say why: {line}"
        yield name, (path, number, severity, code)


@pytest.mark.parametrize("name", POLICIES)
def test_every_finding_is_listed_and_every_listed_one_found(name: str) -> None:
    same = everywhere()
    there = {(EVERY if row in same else name, *row) for row in found(name)}
    expected = {(under, *row) for under, row in listed() if under in (name, EVERY)}
    unlisted = sorted(there - expected)
    missing = sorted(expected - there)
    assert not unlisted, "unlisted:\n" + "\n".join("\t".join(row) for row in unlisted)
    assert not missing, "no longer found:\n" + "\n".join("\t".join(row) for row in missing)


def test_rows_are_sorted_and_stand_once() -> None:
    keys = [(name, path, int(line), *rest) for name, (path, line, *rest) in listed()]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
