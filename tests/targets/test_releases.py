"""One way to ask what a stated release does not have, and the tables that answer."""

from __future__ import annotations

import re

import pytest

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.release import ReleaseFact, Version
from policykit.targets import TARGETS, releases
from tests.shared import ROOT

SPEC = "scheduling.koordinator.sh/numa-topology-spec"
HINT = "scheduling.koordinator.sh/device-allocate-hint"


def with_koordinator(version: str) -> Cluster:
    return Cluster("c", (), targets={"koordinator": TargetSettings("koordinator", version)})


@pytest.mark.parametrize(
    ("version", "names", "reasons"),
    [
        (
            "1.4.1",
            {SPEC: "{}"},
            [f"Koordinator 1.4.1 does not read annotation {SPEC}: it was added in 1.5.0"],
        ),
        ("1.5.0", {SPEC: "{}"}, []),
        ("", {SPEC: "{}"}, []),
        ("1.5.0", {HINT: "{}"}, []),
        (
            "1.5.0",
            {HINT: '{"gpu":{"requiredTopologyScope":"NUMANode"}}'},
            [
                f"Koordinator 1.5.0 does not read annotation requiredTopologyScope of {HINT}: it was added "
                "in 1.6.0"
            ],
        ),
    ],
)
def test_missing(version: str, names: dict[str, str], reasons: list[str]) -> None:
    found = releases.missing("annotation", names, with_koordinator(version))
    assert [each.reason for each in found] == reasons


def test_what_no_supported_release_has_is_missing_without_a_policy() -> None:
    (found,) = releases.missing("label", {"runai/queue": "a"}, None)
    assert found.reason == "KAI-Scheduler does not read label runai/queue: it was removed in 0.6.0"
    assert found.help == "write label kai.scheduler/queue"


@pytest.mark.parametrize(
    ("version", "read"), [((1, 5, 0), False), ((1, 6, 0), True), ((1, 7, 9), True), ((1, 8, 0), False)]
)
def test_from_since_until_before_gone(version: tuple[int, int, int], read: bool) -> None:
    fact = ReleaseFact("label", "a/b", Version(1, 6, 0), Version(1, 8, 0))
    assert fact.read_by(Version(*version)) is read


def test_every_fact_has_a_date_and_a_source_within_what_is_supported() -> None:
    for target in TARGETS:
        known = releases.table(target)
        for fact in releases.facts(target):
            assert known is not None
            assert fact.since or fact.gone, fact
            assert fact.source, fact
            assert fact.since is None or known.oldest < fact.since <= known.newest, fact
            # Before the oldest: no supported release has it.
            assert fact.gone is None or fact.gone <= known.newest, fact


def test_the_page_of_the_documentation_is_current() -> None:
    page = ROOT / "docs" / "reference" / "releases.md"
    assert page.read_text(encoding="utf-8") == releases.reference(), "run make compiled"


TABLES = frozenset(
    {
        "policykit/targets/coscheduling.py",
        "policykit/targets/kai/facts.py",
        "policykit/targets/koordinator/scheduler/plugins.py",
        "policykit/targets/kubernetes/scheduler/plugins.py",
        "policykit/targets/yunikorn/configuration/configmap.py",
    }
)
"""Modules beside `versions.py` and `release_facts.py` of a target that date something: tables, which the
release facts list."""


def test_dates_stand_in_tables() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "policykit").rglob("*.py")
        if re.search(r"\bVersion\([01], [1-9]", path.read_text(encoding="utf-8"))
    }
    assert {path for path in found if not path.endswith(("/versions.py", "/release_facts.py"))} == TABLES
