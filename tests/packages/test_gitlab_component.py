"""The GitLab component: valid by the schema, and its commands run."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.packages.vendored import valid
from tests.shared import ROOT
from tests.tools import policykit_on_path

TEMPLATE = ROOT / "templates" / "lint" / "template.yml"


def parts() -> tuple[dict[str, Any], dict[str, Any]]:
    header, jobs = yaml.safe_load_all(TEMPLATE.read_text(encoding="utf-8"))
    return header["spec"]["inputs"], jobs


def filled(value: Any) -> Any:
    """The jobs with every input's default in its place, as GitLab fills them in."""
    inputs, _ = parts()
    text = json.dumps(value)
    return json.loads(re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: inputs[m[1]]["default"], text))


def test_valid_by_the_schema(tmp_path: Path) -> None:
    inputs, jobs = parts()
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", json.dumps(jobs)))
    assert used == inputs.keys()
    (tmp_path / "jobs.yml").write_text(yaml.safe_dump(filled(jobs)), encoding="utf-8")
    valid("gitlab-ci", tmp_path / "jobs.yml")


def test_its_command_leaves_the_reports_it_names(tmp_path: Path) -> None:
    job = filled(parts()[1])["policykit-lint"]
    spec = "spec: {hard: {limits.nvidia.com/gpu: '8'}}"
    quota = f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: a}}\n{spec}\n"
    (tmp_path / ".git").mkdir()
    (tmp_path / "quota.yaml").write_text(quota, encoding="utf-8")
    (command,) = job["script"]
    path = policykit_on_path(tmp_path.parent / f"{tmp_path.name}-bin")
    there = command.replace("/tmp/policykit/bin/policykit", "policykit")
    done = subprocess.run(
        ["sh", "-c", there], cwd=tmp_path, env={"PATH": path}, capture_output=True, check=False
    )
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    (entry,) = json.loads((tmp_path / reports["codequality"]).read_text(encoding="utf-8"))
    assert entry["location"] == {"path": "quota.yaml", "lines": {"begin": 4}}
    assert 'failures="1"' in (tmp_path / reports["junit"]).read_text(encoding="utf-8")
