"""The nightly audit of the examples: applied by kubectl, and its scripts run with the rights of its pod."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cluster.cluster import Cluster
from tests.cluster.programs import folder
from tests.cluster.test_live import Person
from tests.shared import ROOT

EXAMPLE = ROOT / "examples/audit"
NAMESPACE = "policykit"


@pytest.fixture
def applied(cluster: Cluster) -> Cluster:
    """Twice: the second time changes nothing."""
    cluster.create_namespaces([NAMESPACE])
    cluster.kubectl("apply", "--validate=strict", "-k", str(EXAMPLE))
    again = cluster.kubectl("apply", "--validate=strict", "-k", str(EXAMPLE)).splitlines()
    assert [line for line in again if not line.endswith(" unchanged")] == []
    return cluster


def script(name: str, results: Path, person: Person) -> subprocess.CompletedProcess[str]:
    """As the container runs it."""
    commands = results / "bin"
    commands.mkdir(exist_ok=True)
    policykit = commands / "policykit"
    policykit.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m policykit "$@"\n')
    policykit.chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(commands), str(folder()), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "HOME": str(results),
        "KUBECONFIG": str(person.kubeconfig),
        "POLICY": str(EXAMPLE / "policykit.yaml"),
        "RESULTS": str(results),
        "NAMESPACE": NAMESPACE,
    }
    command = ["sh", str(EXAMPLE / name)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def pod(applied: Cluster) -> Person:
    """Somebody with the service account of the job."""
    token = applied.kubectl("create", "token", "policykit-audit", "-n", NAMESPACE).strip()
    return Person(applied.folder, applied.plane, token)


def stored(cluster: Cluster) -> dict[str, str]:
    found = json.loads(cluster.kubectl("get", "configmap", "policykit-audit", "-n", NAMESPACE, "-o", "json"))
    return dict(found["data"])


def test_results_are_stored(applied: Cluster, pod: Person, tmp_path: Path) -> None:
    for name in ("audit.sh", "publish.sh"):
        done = script(name, tmp_path, pod)
        assert done.returncode == 0, done.stderr
    data = stored(applied)
    assert sorted(data) == ["findings.jsonl", "metrics.prom", "summary.txt"]
    assert data["summary.txt"].splitlines()[-1].endswith(" in all namespaces of context test")
    assert "policykit_objects " in data["metrics.prom"]
    assert [json.loads(line) for line in data["findings.jsonl"].splitlines()]


def test_many_findings_are_cut(applied: Cluster, pod: Person, tmp_path: Path) -> None:
    lines = [json.dumps({"number": number, "text": "x" * 990}) for number in range(2_000)]
    (tmp_path / "findings.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "metrics.prom").write_text("")
    (tmp_path / "summary.txt").write_text("2000 errors\n")
    assert script("publish.sh", tmp_path, pod).returncode == 0
    data = stored(applied)
    kept = data["findings.jsonl"].splitlines()
    assert kept == lines[: len(kept)]
    assert 890_000 < len(data["findings.jsonl"]) <= 900_000
    assert data["summary.txt"] == f"2000 errors\ncut at 900000 bytes: the first {len(kept)} of 2000 lines\n"


def test_the_job_may_change_nothing_else(applied: Cluster, pod: Person) -> None:
    rights = applied.kubectl("auth", "can-i", "--list", "--token", pod.token, "-n", NAMESPACE)
    writing = [
        line
        for line in rights.splitlines()
        if any(f" {verb}" in line or f"[{verb}" in line for verb in ("update", "patch", "delete"))
    ]
    assert [line.split()[0] for line in writing] == ["configmaps"]
    assert "[policykit-audit]" in writing[0]


def test_a_failed_audit_fails_the_job(applied: Cluster, tmp_path: Path) -> None:
    done = script("audit.sh", tmp_path, Person(applied.folder, applied.plane, "no-such-token"))
    assert done.returncode == 1
    assert "does not accept the credentials" in done.stderr


def test_the_scripts_are_those_that_the_job_runs() -> None:
    (job,) = yaml.safe_load_all((EXAMPLE / "cron-job.yaml").read_text())
    spec = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (audit,), (publish,) = spec["initContainers"], spec["containers"]
    assert audit["command"][1:] == ["/scripts/audit.sh"]
    assert publish["command"][1:] == ["/scripts/publish.sh"]
