"""Baselines over the findings of units: what is like at one place of several units counts once."""

from __future__ import annotations

from collections import Counter

from policykit import api
from policykit.linter.baseline import Baseline, BaselineFile, Baselines, Key
from policykit.linter.baseline_pass import accept, tally
from policykit.linter.finding import Finding
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Workspace
from policykit.manifests.node import Span
from tests.linter.test_baseline import FINDING, KEY, located


def on(line: int, setting: int = 0, build: int = -1, **fields: str) -> UnitFinding:
    finding = FINDING._replace(span=Span(line, 1, line, 2))
    return UnitFinding(Finding(*{**finding._asdict(), **fields}.values()), setting, build)


def workspace(accepted: dict[Key, int]) -> Workspace:
    file = BaselineFile("/b.json", "b.json", "", Baseline(accepted))
    baselines = Baselines({"/b.json": file}, {FINDING.path: "/b.json"})
    return Workspace((), (api.setting(), api.setting()), lambda _: b"", baselines=baselines)


def kept(accepted: int, *found: UnitFinding) -> tuple[list[Finding], int]:
    done = accept(workspace({KEY: accepted}), found, complete=True)
    return [one.finding for one in done.findings], done.amount


def test_as_many_are_accepted_as_the_baseline_says() -> None:
    other = on(3, code="PK202")
    assert kept(2, on(1), other, on(2), on(9)) == ([other.finding, on(9).finding], 2)


def test_what_is_said_twice_of_one_place_counts_once() -> None:
    assert kept(1, on(1), on(1)) == ([], 1)


def test_units_share_what_is_accepted_at_one_place() -> None:
    assert kept(1, on(1, 0, 0), on(1, 1, 1), on(1, 1, 1, message="other words")) == (
        [on(1, message="other words").finding],
        1,
    )


def test_another_cause_at_the_same_place_is_told() -> None:
    other = on(1, message="other words")
    assert kept(1, on(1), other) == ([other.finding], 1)
    assert kept(2, on(1), other) == ([other.finding], 1)


def test_an_entry_of_version_1_accepts_every_cause_once_a_place() -> None:
    def old(accepted: int, *found: UnitFinding) -> int:
        done = accept(workspace({KEY.general(): accepted}), found, complete=True)
        return len(done.findings)

    assert old(1, on(1, 0, 0), on(1, 1, 1, message="other words")) == 0
    assert old(1, on(1), on(1, message="other words")) == 1
    assert old(1, on(1), on(2)) == 1


def test_tally_counts_places_and_never_staleness() -> None:
    found = [on(1, code="PK909"), on(1, 0, 0), on(1, 1, 1), on(2)]
    assert tally(found, ["", ""], located).found == Counter({KEY: 2})


def test_what_no_baseline_governs_is_told() -> None:
    (elsewhere,) = kept(1, on(1, path="other.yaml"))[0]
    assert elsewhere.path == "other.yaml"
