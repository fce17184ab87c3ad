"""The examples tell the story they promise, and the demo tells it to the end."""

import json
import os
import subprocess
import sys

import pytest
import yaml

from policykit import api
from policykit.generator.bundle import bundle
from policykit.model.cluster import Cluster
from policykit.policy.load import load
from policykit.workspace.files import read
from tests.shared import ROOT

EXAMPLES = ROOT / "examples"
POLICY = EXAMPLES / "policykit.yaml"


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    loaded = load(str(POLICY), read)
    assert loaded.notices == ()
    return loaded.cluster


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "policykit", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("name", "finds"),
    [
        ("apps/finetune.yaml", []),
        ("apps/portal.yaml", []),
        (
            "apps/chat.yaml",
            ["14:9 PK122 warning", "17:33 PK106 error", "19:11 PK115 warning", "39:15 PK208 error"],
        ),
        ("apps/pretrain.yaml", ["7:14 PK301 error"]),
        ("apps/quota.yaml", ["9:5 PK206 error"]),
        ("bare/evaluate.yaml", ["9:5 PK101 error", "9:5 PK121 warning"]),
        ("bare/kustomization.yaml", []),
        ("policykit.yaml", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_findings(cluster: Cluster, name: str, finds: list[str]) -> None:
    report = api.lint_texts({name: (EXAMPLES / name).read_bytes()}, cluster)
    assert [f"{f.span.line}:{f.span.column} {f.code} {f.severity}" for f in report.findings] == finds
    assert not report.failures


def test_every_example_has_a_row() -> None:
    """Linted all together, nothing more is found than file by file."""
    done = run("lint", "--format", "json", "examples")
    places = [f"{f['path']}:{f['line']} {f['code']}" for f in json.loads(done.stdout)["findings"]]
    assert done.returncode == 1
    assert places == [
        "examples/apps/chat.yaml:14 PK122",
        "examples/apps/chat.yaml:17 PK106",
        "examples/apps/chat.yaml:19 PK115",
        "examples/apps/chat.yaml:39 PK208",
        "examples/apps/pretrain.yaml:7 PK301",
        "examples/apps/quota.yaml:9 PK206",
        "examples/bare/evaluate.yaml:9 PK101",
        "examples/bare/evaluate.yaml:9 PK121",
    ]


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        (
            "apps/finetune.yaml",
            {"train-h20": "preferred", "hybrid-h20": "accepted", "infer-l20": "refused", "system": "refused"},
        ),
        ("apps/chat.yaml", dict.fromkeys(("train-h20", "hybrid-h20", "infer-l20", "system"), "refused")),
        (
            "apps/portal.yaml",
            {"train-h20": "refused", "hybrid-h20": "refused", "infer-l20": "refused", "system": "accepted"},
        ),
        ("bare/evaluate.yaml", dict.fromkeys(("train-h20", "hybrid-h20", "infer-l20", "system"), "refused")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_landings(cluster: Cluster, name: str, verdicts: dict[str, str]) -> None:
    (review,) = api.where((EXAMPLES / name).read_bytes(), cluster)
    assert {landing.pool.name: landing.verdict for landing in review.landings} == verdicts


def test_what_the_example_generates_lints_clean(cluster: Cluster) -> None:
    files = bundle(cluster, api.generate(cluster))
    texts = {path: text.encode() for path, text in files.items() if path.endswith(".yaml")}
    assert [f"{f.path} {f.code} {f.message}" for f in api.lint_texts(texts, cluster).findings] == []


def test_the_bare_example_names_a_component_that_is_generated(cluster: Cluster) -> None:
    kustomization = yaml.safe_load((EXAMPLES / "bare" / "kustomization.yaml").read_text(encoding="utf-8"))
    (component,) = kustomization["components"]
    inside = os.path.relpath(EXAMPLES / "bare" / component, EXAMPLES / cluster.output)
    assert f"{inside}/kustomization.yaml" in bundle(cluster, api.generate(cluster))


def test_the_demo_runs_to_its_end_without_colours() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/demo.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    headings = [line[:2] for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert headings == ["1.", "2.", "3.", "4.", "5."]
    assert done.stdout.count("\n") <= 150
    assert "\033" not in done.stdout
    assert "/tmp" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
