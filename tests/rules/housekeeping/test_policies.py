"""Rules about policies: each policy of the tables gives exactly its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from policykit import api
from policykit.errors import SourceError
from policykit.linter.finding import Finding, Report
from policykit.linter.input_file import InputFile
from policykit.linter.rule import AnyRule, Context, DeclaredPolicy
from policykit.linter.workspace import Options, Policy, Workspace
from policykit.manifests.node import Span
from policykit.manifests.writer import dump
from policykit.policy.load import load, load_profile
from policykit.policy.locations import policy_locations
from policykit.rules import rules
from tests.loaded import loaded
from tests.policies import policies
from tests.policy.memory import HEAD

FOLDER = Path(__file__).parent / "policies"
FILE = "policykit.yaml"
RULES = [rule for rule in rules() if rule.subject is DeclaredPolicy]


def linted(files: Mapping[str, str], *, base: bool = False) -> Report:
    """All findings of a policy in memory."""

    def read(name: str) -> bytes:
        if name not in files:
            raise SourceError("no such file", "", name)
        return files[name].encode()

    cluster = load(FILE, read).cluster
    said = policy_locations(FILE, read)
    assert said is not None
    policy = Policy(0, DeclaredPolicy(cluster, said.at, said.own, lambda: base), file=FILE)
    workspace = Workspace((InputFile(FILE, FILE, "", 0),), (api.setting(cluster),), read, policies=(policy,))
    return api.lint(workspace, Options(workers=1))


def lines(findings: tuple[Finding, ...]) -> list[str]:
    return [
        ("" if f.path == FILE else f"{f.path}:")
        + f"{f.span.line}:{f.span.column} {f.code} {f.severity.value} {f.message}"
        for f in findings
    ]


def files_of(case: Mapping[str, Any]) -> dict[str, str]:
    return {FILE: HEAD + case["policy"], **case.get("files", {})}


def table(rule: str) -> Any:
    return loaded((FOLDER / f"{rule}.yaml").read_text(encoding="utf-8"))


def cases(kind: str) -> Iterator[Any]:
    for rule in RULES:
        for case in table(rule.name)[kind]:
            yield pytest.param(rule, case, id=f"{rule.name}: {case['name']}")


@pytest.mark.parametrize(("rule", "case"), list(cases("bad")))
def test_bad(rule: AnyRule, case: dict[str, Any]) -> None:
    found = tuple(f for f in linted(files_of(case)).findings if f.code == rule.code)
    assert lines(found) == case["finds"]
    for finding in found:
        for text in (finding.message, finding.help):
            assert text
            assert text == text.strip()
            assert not text.endswith(".")


@pytest.mark.parametrize(("rule", "case"), list(cases("good")))
def test_good(rule: AnyRule, case: dict[str, Any]) -> None:
    assert [line for line in lines(linted(files_of(case)).findings) if rule.code in line] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_cases(rule: AnyRule) -> None:
    data = table(rule.name)
    assert data["rule"] == rule.name
    assert len(data["bad"]) >= 2
    assert len(data["good"]) >= 3


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_examples_on_the_rule_page(rule: AnyRule) -> None:
    assert rule.code in [f.code for f in linted({FILE: rule.bad}).findings]
    assert lines(linted({FILE: rule.good}).findings) == []


SHARING = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
cards: {h20: {product: NVIDIA-H20}}
pools:
  hybrid: {usage: hybrid, card: h20, nodes: 4}%s
workloads:
  training: {usages: [hybrid], scheduler: volcano}
"""
OVERLAY = "extends: [base.yaml]\nworkloads: {inference: {usages: [hybrid], scheduler: default-scheduler}}\n"
SAID = "volcano (training) and default-scheduler (inference) can place pods on pool hybrid"


def test_a_finding_stands_in_the_file_that_said_it() -> None:
    found = linted({FILE: HEAD + OVERLAY, "base.yaml": SHARING % ""}).findings
    assert lines(found) == [
        f"base.yaml:5:3 PK911 warning {SAID}: each sees the pods of the other only once they are bound"
    ]


def test_a_suppression_there_hides_it() -> None:
    report = linted({FILE: HEAD + OVERLAY, "base.yaml": SHARING % "  # policykit: ignore[PK911] -- at night"})
    assert (lines(report.findings), report.suppressed) == ([], 1)


def test_an_overlay_gives_the_reason_for_its_base() -> None:
    reason = "pools: {hybrid: {sharedBySchedulers: training runs at night}}\n"
    assert lines(linted({FILE: HEAD + OVERLAY + reason, "base.yaml": SHARING % ""}).findings) == []


def test_what_a_profile_says_is_told_where_it_is_extended() -> None:
    text = (
        HEAD
        + "extends:\n- profile:teams-yunikorn\nworkloads: {more: {usages: [training], scheduler: volcano}}\n"
    )
    assert lines(linted({FILE: text}).findings) == [
        "6:3 PK911 warning yunikorn (training) and volcano (more) can place pods on pool train-h20: each"
        " sees the pods of the other only once they are bound"
    ]


def test_a_base_declares_for_others() -> None:
    text = HEAD + "cards: {l20: {product: NVIDIA-L20}}\npools: {web: {nodes: 1}}\n"
    assert [f.code for f in linted({FILE: text}).findings] == ["PK908"]
    assert linted({FILE: text}, base=True).findings == ()


def test_a_suppression_that_hides_nothing_is_told() -> None:
    text = HEAD + "pools:\n  web: {nodes: 1}  # policykit: ignore[PK911] -- shared on purpose\n"
    assert [f.code for f in linted({FILE: text}).findings] == ["PK903"]
    assert linted({FILE: text}, base=True).findings == ()


@pytest.mark.parametrize(
    "name", ["hybrid-volcano", "koordinator-binpack", "packed-kube-scheduler", "teams-yunikorn"]
)
def test_bundled_profiles_have_no_finding(name: str) -> None:
    cluster = load_profile(name).cluster
    declared = DeclaredPolicy(cluster, lambda path, key: (FILE, Span(1, 1, 1, 2)))
    found = [said for rule in RULES for said in rule.check(declared, Context())]
    assert [said.message for said in found] == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(policies())
def test_any_policy(data: dict[str, Any]) -> None:
    """Each finding is of a rule about policies, at a key that is there, and a reason silences PK911."""
    text = dump(data)
    written = text.splitlines()
    found = linted({FILE: text}).findings
    for finding in found:
        assert finding.name in {rule.name for rule in RULES}
        name = finding.pointer.rsplit("/", 1)[-1]
        line = written[finding.span.line - 1][finding.span.column - 1 : finding.span.end_column - 1]
        assert line.strip("'\"") == name or finding.code == "PK910"
    for finding in found:
        if finding.code == "PK911":
            data["pools"][finding.pointer.split("/")[2]]["sharedBySchedulers"] = "on purpose"
    left = linted({FILE: dump(data)}).findings
    assert [f.message for f in left] == [f.message for f in found if f.code != "PK911"]
