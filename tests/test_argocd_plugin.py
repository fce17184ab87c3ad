"""The plugin for Argo CD, run as its server for plugins runs it: command and args in the folder of the
application, with an environment of its own; standard output is what is applied."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.cli.live_drift import generated_objects
from policykit.policy.load import load
from policykit.workspace.files import read
from tests import tools
from tests.shared import ROOT

PLUGIN: dict[str, Any] = yaml.safe_load((ROOT / "examples/argocd/plugin.yaml").read_text())
POLICIES = ("docs/live", "docs/gitops", "docs/schedulers")


def generate(application: Path, commands: Path) -> subprocess.CompletedProcess[str]:
    """What the server runs: only variables of the application and of the sidecar are set."""
    kustomize = tools.found("kustomize")
    if not kustomize:
        pytest.skip("kustomize is not installed")
    commands.mkdir()
    (commands / "kustomize").symlink_to(kustomize)
    (commands / "policykit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m policykit "$@"\n')
    (commands / "policykit").chmod(0o755)
    stated = PLUGIN["spec"]["generate"]
    environment = {
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "ARGOCD_APP_NAME": "scheduling-policy",
        "ARGOCD_APP_NAMESPACE": "default",
        "ARGOCD_APP_SOURCE_PATH": ".",
    }
    command = [*stated["command"], *stated["args"]]
    return subprocess.run(
        command, cwd=application, env=environment, capture_output=True, text=True, check=False
    )


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("source", POLICIES)
def test_it_generates_the_objects_of_a_policy(source: str, tmp_path: Path) -> None:
    application = tmp_path / "application"
    shutil.copytree(ROOT / source, application)
    assert (application / PLUGIN["spec"]["discover"]["fileName"]).is_file()
    before = files(application)
    done = generate(application, tmp_path / "commands")
    assert done.returncode == 0, done.stderr
    objects = [each for each in yaml.safe_load_all(done.stdout) if each]
    wanted = [*generated_objects(load(str(ROOT / source / "policykit.yaml"), read).cluster)]
    assert sorted(map(identity, objects)) == sorted(map(identity, wanted))
    assert files(application) == before


def identity(data: dict[str, Any]) -> tuple[str, str, str]:
    return data["apiVersion"], data["kind"], data["metadata"]["name"]


def test_a_mistake_in_the_policy_fails_the_sync(tmp_path: Path) -> None:
    """Argo CD shows standard error, and applies nothing."""
    application = tmp_path / "application"
    application.mkdir()
    (application / "policykit.yaml").write_text("apiVersion: policykit.io/v1alpha1\nkind: Policy\npods: {}\n")
    done = generate(application, tmp_path / "commands")
    assert (done.returncode, done.stdout) == (2, "")
    assert "policykit.yaml:" in done.stderr
