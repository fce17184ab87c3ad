"""Every rule's cases: bad manifests give exactly its findings, good ones none."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from policykit import api
from policykit.linter.finding import Report
from policykit.linter.fix_files import FixResult
from policykit.linter.rule import (
    AnyRule,
    ComponentObject,
    DeclaredPolicy,
    FailedBuild,
    GeneratedFile,
    StaleEntry,
)
from policykit.model.cluster import Cluster
from policykit.rules import rules
from tests.clusters import cluster
from tests.loaded import loaded
from tests.shared import ROOT

FOLDER = Path(__file__).parent
RULES = tuple(
    rule
    for rule in rules()
    if rule.subject not in (StaleEntry, DeclaredPolicy, FailedBuild, GeneratedFile, ComponentObject)
)
"""Those about manifests; of the others, a baseline's rule is tested with the command, in
tests/cli/test_baseline.py, those about kustomizations in tests/cli, those about policies in
tests/rules/housekeeping."""
TODAY = "2026-07-01"
BY_NAME: dict[str, AnyRule] = {rule.name: rule for rule in RULES}


def files() -> list[Path]:
    return sorted(FOLDER.glob("*/cases/*.yaml"))


@cache
def read(path: Path) -> dict[str, Any]:
    """A file of cases; nobody changes what it returns."""
    data: dict[str, Any] = loaded(path.read_text(encoding="utf-8"))
    return data


def cases(kind: str) -> Iterator[Any]:
    for path in files():
        data = read(path)
        for case in data.get(kind) or ():
            yield pytest.param(
                data["rule"],
                case.get("policy", data.get("policy")),
                case,
                id=f"{data['rule']}: {case['name']}",
            )


def linted(name: str, texts: dict[str, bytes], policy: Cluster | None, complete: bool = True) -> Report:
    """Findings of the usual rules, and of this one where it is off unless asked for."""
    select = ["ALL", name] if BY_NAME[name].on_request else []
    return api.lint_texts(texts, policy, select, complete, TODAY)


def fixed(
    name: str, texts: dict[str, bytes], policy: Cluster | None, *, unsafe: bool = True, complete: bool = True
) -> FixResult:
    """The texts with the fixes of one rule made."""
    return api.fix_texts(texts, policy, [name], unsafe=unsafe, complete=complete, today=TODAY)


_reports: dict[tuple[int, bool], Report] = {}


def report_of(rule: str, reference: object, case: dict[str, Any], complete: bool = True) -> Report:
    """Of a case, which is linted once for the two tests that look at it."""
    key = (id(case), complete)
    if key not in _reports:
        texts = {"case.yaml": case["manifest"].encode()}
        _reports[key] = linted(rule, texts, cluster(reference), complete)
    return _reports[key]


def found(rule: str, reference: object, case: dict[str, Any]) -> list[str]:
    report = report_of(rule, reference, case, case.get("complete", True))
    return [
        f"{f.span.line}:{f.span.column} {f.code} {f.severity.value} {f.message}"
        for f in report.findings
        if f.name == rule
    ]


@pytest.mark.parametrize(("rule", "reference", "case"), list(cases("bad")))
def test_bad(rule: str, reference: object, case: dict[str, Any]) -> None:
    assert case["finds"], "a bad case finds something"
    assert found(rule, reference, case) == case["finds"]


@pytest.mark.parametrize(("rule", "reference", "case"), list(cases("good")))
def test_good(rule: str, reference: object, case: dict[str, Any]) -> None:
    assert found(rule, reference, case) == []


@cache
def fixable() -> tuple[Any, ...]:
    """Bad cases that say what their fix makes of them: `fixed`, and `fix` safe or unsafe; or `fix: none`."""
    return tuple(case for case in cases("bad") if "fix" in case.values[2])


@pytest.mark.parametrize(("rule", "reference", "case"), fixable())
def test_fixed(rule: str, reference: object, case: dict[str, Any]) -> None:
    """The rule's own fixes make exactly this text, and the same again of it."""
    policy, complete = cluster(reference), case.get("complete", True)

    def fix(raw: bytes, unsafe: bool) -> bytes:
        result = fixed(rule, {"case.yaml": raw}, policy, unsafe=unsafe, complete=complete)
        assert [one.partition(" fix left out: ")[2] for one in result.dropped] == case.get("left_out", [])
        return result.after.get("case.yaml", raw)

    before = case["manifest"].encode()
    after = fix(before, unsafe=True)
    assert after.decode() == (case["manifest"] if case["fix"] == "none" else case["fixed"])
    assert fix(after, unsafe=True) == after
    assert (fix(before, unsafe=False) == after) == (case["fix"] != "unsafe")


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.fix], ids=lambda rule: rule.code)
def test_a_rule_with_a_fix_shows_it(rule: AnyRule) -> None:
    """A case at least, and the bad example of its page can be mended."""
    assert rule.name in {case.values[0] for case in fixable() if "fixed" in case.values[2]}
    policy = cluster(of_page(rule)) if rule.needs_policy else None
    result = fixed(rule.name, {"bad.yaml": rule.bad.encode()}, policy)
    assert result.after
    assert rule.code not in [finding.code for finding in result.report.findings]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_cases(rule: AnyRule) -> None:
    path = next((p for p in files() if p.stem == rule.name), None)
    assert path is not None, f"no cases/{rule.name}.yaml"
    data = read(path)
    assert data["rule"] == rule.name
    assert len(data["bad"]) >= 2
    assert len(data["good"]) >= 3


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_examples_on_the_rule_page(rule: AnyRule) -> None:
    """The page's bad example has the rule's finding; the good one has none and nothing graver."""
    policy = cluster(of_page(rule)) if rule.needs_policy else None
    bad = linted(rule.name, {"bad.yaml": rule.bad.encode()}, policy).findings
    good = linted(rule.name, {"good.yaml": rule.good.encode()}, policy).findings
    assert rule.code in [f.code for f in bad]
    assert rule.code not in [f.code for f in good]
    assert [f for f in good if f.severity == "error"] == []


NEED_OPEN_POOLS = ("PK103", "PK111", "PK114", "PK123", "PK130", "PK209")
"""Rules that have nothing to say where every pool is tainted, where there is one card, or where the
policy may not know all pools."""

OPEN_POOLS = {
    "domain": "maip.mxsf.io",
    "coverage": "complete",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {
        "train-h20": {"usage": "training", "card": "h20", "nodes": 2},
        "infer-l20": {
            "usage": "inference",
            "card": "l20",
            "nodes": 2,
            "scheme": {"usage": {"taint": False}, "product": {"taint": False}},
        },
        "web": {
            "nodes": 3,
            "labels": {"example.com/pool": "web"},
            "taints": ["example.com/pool=web:NoSchedule"],
        },
    },
    "workloads": {
        "training": {"usages": ["training"], "prefer": {"training": 100}},
        "web": {"cards": "none"},
    },
}


NEED_ALL_POOLS = ("PK133", "PK134", "PK135", "PK221", "PK407", "PK412")
"""Rules that speak only where the policy's pools are all there is."""


PAGE_PROFILES = {
    "PK607": "profile:koordinator-binpack",
    "PK608": "profile:koordinator-binpack",
    "PK712": "profile:teams-yunikorn",
    "PK808": "profile:packed-kube-scheduler",
}
"""Rules about a system that the usual profile does not have."""


def of_page(rule: AnyRule) -> object:
    """The policy that a rule's page is read with."""
    if rule.code in NEED_ALL_POOLS:
        return {**OPEN_POOLS, "coverage": "complete"}
    if rule.code in PAGE_PROFILES:
        return PAGE_PROFILES[rule.code]
    return OPEN_POOLS if rule.code in NEED_OPEN_POOLS else "profile:hybrid-volcano"


def test_every_rule_file_is_listed() -> None:
    there = {
        path.stem
        for path in (ROOT / "policykit" / "rules").glob("*/*.py")
        if path.stem != "__init__" and "\nRULE = Rule(" in path.read_text(encoding="utf-8")
    }
    assert there == {rule.name.replace("-", "_") for rule in rules()}


def test_rules_stand_in_the_order_of_their_codes_and_once() -> None:
    codes = [rule.code for rule in rules()]
    assert codes == sorted(set(codes))


@pytest.mark.parametrize(("rule", "reference", "case"), list(cases("bad")))
def test_messages_and_help_read_alike(rule: str, reference: object, case: dict[str, Any]) -> None:
    """Neither ends with a stop; help begins in lower case unless with a name."""
    for finding in report_of(rule, reference, case).findings:
        for text in (finding.message, *finding.help.split("\n")):
            assert not text.endswith("."), text
            assert text == text.strip(), text
        first = finding.help.split(" ")[0]
        assert not (first.istitle() and first.isalpha() and first in COMMON_WORDS), finding.help


COMMON_WORDS = {
    "Add",
    "Ask",
    "Delete",
    "Did",
    "If",
    "It",
    "Name",
    "Pods",
    "Raise",
    "Rename",
    "Run",
    "Select",
    "The",
    "Write",
}
