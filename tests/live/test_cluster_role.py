"""The ClusterRole of the examples is what policykit reads, no more and no less."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policykit.cli.live_drift import generated_objects
from policykit.live.kinds import kinds
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.live.cluster_role import COMPARED, text
from tests.shared import ROOT

FILE = ROOT / "examples/audit/cluster-role.yaml"
POLICIES = sorted([*ROOT.glob("profiles/*.yaml"), *ROOT.glob("docs/*/policykit.yaml")])


def test_golden_file(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        FILE.write_text(text(), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text()


def test_no_verb_writes_and_no_secret_is_read() -> None:
    for rule in yaml.safe_load(FILE.read_text())["rules"]:
        assert set(rule["verbs"]) <= {"get", "list", "watch"}
        assert "secrets" not in rule["resources"]
        assert "*" not in (*rule["resources"], *rule["apiGroups"])


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_kinds_may_be_read(path: Path) -> None:
    known = {(kind.group, kind.name) for kind in kinds()} | set(COMPARED)
    for data in generated_objects(load(str(path), read).cluster):
        assert (data["apiVersion"].rpartition("/")[0], data["kind"]) in known
