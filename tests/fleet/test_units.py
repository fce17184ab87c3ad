"""One policy with one build is judged by itself: what one cluster settles, decides nothing for another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.commands import Result, Shell
from tests.fleet.repositories import kustomization, policy
from tests.fleet.repositories import on_path as on_path

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, labels: {policykit.io/workload: training}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/train:1
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def fleet(**policies: str) -> dict[str, str]:
    """A base in `apps/gw`, and for each cluster an overlay and a policy in `clusters/NAME`."""
    files = {"apps/gw/kustomization.yaml": kustomization(resources=["job.yaml"]), "apps/gw/job.yaml": JOB}
    for name, text in policies.items():
        files[f"clusters/{name}/policykit.yaml"] = text
        files[f"clusters/{name}/gw/kustomization.yaml"] = kustomization(
            resources=["../../../apps/gw"], namespace="gw"
        )
    return files


def lint(shell: Shell, files: dict[str, str], *words: str) -> Result:
    shell.write(dict(files))
    return shell.run("lint", "--no-cache", *words)


def told(result: Result) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Place, code, severity and clusters of each finding in JSON."""
    return [
        (f"{f['path']}:{f['line']}", f["code"], f["severity"], tuple(f["clusters"]))
        for f in json.loads(result.out)["findings"]
    ]


def judged(shell: Shell, files: dict[str, str], *words: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return told(lint(shell, files, "--format", "json", *words))


PLACE = ("apps/gw/job.yaml:6", "PK101")


@pytest.mark.parametrize(
    ("dev", "expected"),
    [
        ({}, [(*PLACE, "error", ("dev", "prod"))]),
        ({"ignore": ["PK101"]}, [(*PLACE, "error", ("prod",))]),
        ({"select": ["PK201"]}, [(*PLACE, "error", ("prod",))]),
        ({"perPath": {"apps/*": ["PK101"]}}, [(*PLACE, "error", ("prod",))]),
        (
            {"severity": {"PK101": "info"}},
            [(*PLACE, "info", ("dev",)), (*PLACE, "error", ("prod",))],
        ),
    ],
    ids=["none", "ignore", "select", "perPath", "severity"],
)
def test_settings_of_one_cluster_decide_for_it_alone(
    shell: Shell, dev: dict[str, Any], expected: list[tuple[str, str, str, tuple[str, ...]]]
) -> None:
    files = fleet(dev=policy("dev", **dev), prod=policy("prod"))
    result = lint(shell, files, "--format", "json", "--fail-on", "error")
    assert [each for each in told(result) if each[1] == "PK101"] == expected
    assert result.code == 1


def test_the_worst_of_all_clusters_is_the_exit_code(shell: Shell) -> None:
    ignored = policy("dev", select=["PK101"], severity={"PK101": "info"})
    assert lint(shell, fleet(dev=ignored)).code == 0
    assert lint(shell, fleet(prod=policy("prod", select=["PK101"]))).code == 1


UNKNOWN = JOB.replace("  template:", "  suspendd: false\n  template:")


def test_how_a_file_is_written_is_judged_by_every_policy_that_reaches_it(shell: Shell) -> None:
    files = {
        **fleet(dev=policy("dev", ignore=["PK0"]), prod=policy("prod", severity={"PK003": "warning"})),
        "apps/gw/job.yaml": UNKNOWN,
    }
    place = ("apps/gw/job.yaml:5", "PK003")
    written = [each for each in judged(shell, files) if each[1] == "PK003"]
    assert written == [(*place, "warning", ("prod",))]
    again = {"clusters/dev/policykit.yaml": policy("dev", severity={"PK003": "warning"})}
    written = [each for each in judged(shell, again) if each[1] == "PK003"]
    assert written == [(*place, "warning", ("dev", "prod"))]


@given(st.lists(st.sampled_from(["PK1", "PK101", "PK2", "PK201", "PK0"]), max_size=2), st.booleans())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_settings_of_one_cluster_never_change_anothers_findings(
    shell: Shell, words: list[str], graver: bool
) -> None:
    lint_: dict[str, object] = {"severity": {"PK101": "info"}} if graver else {}
    files = fleet(dev=policy("dev", ignore=words, **lint_), prod=policy("prod"))
    of_prod = [each for each in judged(shell, files) if "prod" in each[3]]
    plain = fleet(dev=policy("dev"), prod=policy("prod"))
    expected = [each for each in judged(shell, plain) if "prod" in each[3]]
    assert [each[:3] for each in of_prod] == [each[:3] for each in expected]


@pytest.mark.parametrize("words", [("lint", "--no-cache"), ("gen", "--all", "--check", "--no-cache")])
def test_a_mistake_in_a_base_is_told_once_with_the_clusters_that_it_breaks(
    shell: Shell, words: tuple[str, ...]
) -> None:
    base = json.loads(policy("")) | {"poolz": {}}
    head: dict[str, Any] = {"apiVersion": "policykit.io/v1alpha1", "kind": "Policy"}
    own = {**head, "extends": ["../../base.yaml"], "generate": {"out": "generated"}}
    names = ("dev", "lab", "qa", "stage", "test")
    files = fleet(**{name: json.dumps({**own, "metadata": {"name": name}}) for name in names})
    files["clusters/prod/policykit.yaml"] = json.dumps({**head, "metadata": {"name": "prod"}, "extendz": []})
    shell.write({**files, "base.yaml": json.dumps(base)})
    result = shell.run(*words)
    assert result.code == 2
    assert result.err.count("poolz") == 1
    assert "  breaks: dev, lab, qa, stage and test\n" in result.err
    assert result.err.count("breaks:") == 1
    assert "extendz" in result.err
