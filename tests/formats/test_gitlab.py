"""GitLab Code Quality: the members that GitLab reads, fingerprints apart."""

from __future__ import annotations

import json

from policykit.formats.gitlab import gitlab
from policykit.linter.finding import Report
from tests.formats.reports import CONTEXT, EMPTY, FINDING, FIXED, MIXED


def test_members() -> None:
    entries = json.loads(gitlab(MIXED, CONTEXT))
    assert [{**entry, "fingerprint": ""} for entry in entries] == [
        {
            "description": "PK101 nothing tolerates a: 1",
            "check_name": "missing-toleration",
            "fingerprint": "",
            "severity": "critical",
            "location": {"path": "apps/train.yaml", "lines": {"begin": 24}},
        },
        {
            "description": "PK206 50% of 'Job', it says: never",
            "check_name": "quota-key-never-counted",
            "fingerprint": "",
            "severity": "major",
            "location": {"path": "apps/名.yaml", "lines": {"begin": 2}},
        },
        {
            "description": "PK008 no kind 节点",
            "check_name": "unknown-api-kind",
            "fingerprint": "",
            "severity": "info",
            "location": {"path": "b.yaml", "lines": {"begin": 1}},
        },
    ]


def test_fingerprints_are_unique_and_stay() -> None:
    again = FINDING._replace(span=FINDING.span._replace(line=30, end_line=30))
    marks = [
        entry["fingerprint"] for entry in json.loads(gitlab(Report((FINDING, again, FIXED), 1, 1), CONTEXT))
    ]
    assert len(set(marks)) == 3
    assert json.loads(gitlab(Report((again,), 1, 1), CONTEXT))[0]["fingerprint"] == marks[0]


def test_paths_are_relative() -> None:
    dotted = FINDING._replace(path="./apps/a.yaml")
    assert json.loads(gitlab(Report((dotted,), 1, 1), CONTEXT))[0]["location"]["path"] == "apps/a.yaml"
    assert json.loads(gitlab(EMPTY, CONTEXT)) == []
