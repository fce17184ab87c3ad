"""Charts of the repository, judged as helm renders them, told in their templates."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.commands import Result, Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.tools import tool

POLICY = "profile:hybrid-volcano"

CHART = {
    "charts/train/Chart.yaml": "apiVersion: v2\nname: train\nversion: 1.0.0\n",
    "charts/train/values.yaml": "usage: training\ncards: 1\n",
    "charts/train/templates/job.yaml": """\
{{- $name := .Release.Name }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  labels: {policykit.io/workload: training}
  annotations: {started: {{ now | date "2006-01-02 15:04:05.000" | quote }}, id: {{ uuidv4 }}}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations:
        - key: maip.mxsf.io/node.usage
          operator: Equal
          value: {{ .Values.usage }}
          effect: NoSchedule
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
        - {key: a, operator: Exists, value: b}
      containers:
        - name: main
          image: registry.example/train:1
          resources: {limits: {nvidia.com/gpu: {{ .Values.cards }}}}
""",
}


@pytest.fixture(params=["helm3", "helm4"])
def helm(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder on PATH with one release of helm."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "helm").symlink_to(tool(request.param))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def lint(
    shell: Shell,
    files: dict[str, str],
    *words: str,
    select: str = "PK101,PK116,PK006",
    form: str = "concise",
) -> Result:
    shell.write(dict(files))
    return shell.run("lint", "--no-cache", "-p", POLICY, "--format", form, "--select", select, *words)


def places(result: Result) -> list[str]:
    """`path:line:column: code` of each finding."""
    return [" ".join(line.split(" ")[:2]) for line in result.out.splitlines()]


def uses(**fields: object) -> dict[str, str]:
    entry = {"name": "train", "releaseName": "gw", **fields}
    return {
        **CHART,
        "prod/kustomization.yaml": kustomization(helmGlobals={"chartHome": "../charts"}, helmCharts=[entry]),
    }


LITERAL = "charts/train/templates/job.yaml:18:45: PK116"


@pytest.mark.usefixtures("helm")
def test_a_literal_is_told_at_its_line_of_the_template(shell: Shell) -> None:
    result = lint(shell, uses())
    assert places(result) == [LITERAL]
    assert "linted file by file" not in result.err


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize(("words", "reasons"), [((), []), (("--helm", "never"), ["no-program", "not-yaml"])])
def test_a_template_that_was_rendered_is_judged(
    shell: Shell, words: tuple[str, ...], reasons: list[str]
) -> None:
    found = json.loads(lint(shell, uses(), *words, form="json").out)
    assert sorted(each["reason"] for each in found["not_judged"]) == reasons


@pytest.mark.usefixtures("helm")
def test_values_of_the_kustomization_count(shell: Shell) -> None:
    result = lint(shell, uses(valuesInline={"usage": "trainnig"}))
    assert places(result) == ["charts/train/templates/job.yaml:12:7: PK101", LITERAL]


@pytest.mark.usefixtures("helm")
def test_patches_on_rendered_objects_are_told_in_the_patch(shell: Shell) -> None:
    files = uses()
    entry = {"name": "train", "releaseName": "gw"}
    patch = [
        {"op": "add", "path": "/spec/template/spec/tolerations", "value": [{"key": "a", "operator": "x"}]}
    ]
    files["prod/kustomization.yaml"] = kustomization(
        helmGlobals={"chartHome": "../charts"},
        helmCharts=[entry],
        patches=[{"path": "place.yaml", "target": {"kind": "Job"}}],
    )
    files["prod/place.yaml"] = json.dumps(patch)
    assert places(lint(shell, files, select="PK101")) == ["prod/place.yaml:1:59: PK101"]


@pytest.mark.usefixtures("helm")
def test_random_values_and_dates_change_no_finding(shell: Shell) -> None:
    files = uses()
    job = files["charts/train/templates/job.yaml"]
    files["charts/train/templates/job.yaml"] = job.replace(
        "value: b", "value: {{ randAlphaNum 8 | lower }}"
    ).replace("NVIDIA-H20", '{{ printf "H-%s" (randAlphaNum 5) }}')
    first, second = (lint(shell, files, select="PK1", form="json") for _ in range(2))
    assert json.loads(first.out)["findings"]
    assert first.out == second.out


@pytest.mark.usefixtures("helm")
def test_a_dependency_in_the_repository_is_rendered(shell: Shell) -> None:
    dependencies = "dependencies:\n- {name: common, version: 1.0.0, repository: 'file://../common'}\n"
    files = uses()
    files["charts/train/Chart.yaml"] += dependencies
    files["charts/common/Chart.yaml"] = "apiVersion: v2\nname: common\nversion: 1.0.0\n"
    files["charts/common/templates/_name.tpl"] = '{{- define "usage" }}trainnig{{ end }}\n'
    files["charts/train/templates/job.yaml"] = files["charts/train/templates/job.yaml"].replace(
        "{{ .Values.usage }}", '{{ include "usage" . }}'
    )
    assert "charts/train/templates/job.yaml:12:7: PK101" in places(lint(shell, files))


NOT_RENDERED = [
    (
        "a chart that is not here",
        {"name": "gone", "repo": "https://charts.example"},
        "prod/kustomization.yaml uses the chart gone, which is",
    ),
    ("an option as name", {"releaseName": "--post-renderer=/bin/sh"}, "which helm would read as an option"),
    (
        "values from elsewhere",
        {"valuesFile": "https://example.com/values.yaml"},
        "which is not on this machine",
    ),
    ("values outside", {"valuesFile": "../../outside.yaml"}, "which is outside of the repository"),
    (
        "more values outside",
        {"additionalValuesFiles": ["/etc/hostname"]},
        "which is outside of the repository",
    ),
]


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize(
    ("entry", "reason"), [case[1:] for case in NOT_RENDERED], ids=[c[0] for c in NOT_RENDERED]
)
def test_what_is_not_in_the_repository_is_not_rendered(
    shell: Shell, entry: dict[str, object], reason: str
) -> None:
    shell.write({"../outside.yaml": "usage: trainnig\n"})
    result = lint(shell, uses(**entry))
    assert places(result) == []
    assert reason in result.err


HOSTILE_TEMPLATES = [
    ("a line of 0.8 GB", '{{ repeat 800000000 "x" }}', "helm needs more than 1 GB of memory"),
    ("no end", '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}', "error call"),
]


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize(
    ("template", "reason"), [case[1:] for case in HOSTILE_TEMPLATES], ids=[c[0] for c in HOSTILE_TEMPLATES]
)
def test_what_a_template_takes_is_bounded(shell: Shell, template: str, reason: str) -> None:
    result = lint(shell, {**uses(), "charts/train/templates/big.yaml": f"a: {template}\n"})
    assert reason in result.err
    assert places(result) == []


@pytest.mark.usefixtures("helm")
def test_what_it_renders_to_is_bounded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policykit.workspace.helm._OUTPUT", 1 << 20)
    files = uses()
    files["charts/train/templates/big.yaml"] = 'a: {{ repeat 3000000 "x" }}\n'
    result = lint(shell, files)
    assert "it renders to more than 64 MB" in result.err
    assert places(result) == []


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize("target", ["/etc/hostname", "../../../secret", "/dev/zero", "../../.git/config"])
def test_links_out_of_the_repository_are_not_followed(shell: Shell, target: str) -> None:
    files = uses()
    files["charts/train/templates/job.yaml"] += '---\na: {{ .Files.Get "data" | quote }}\n'
    shell.write({"../secret": "token", ".git/config": "token"})
    (shell.folder / "charts/train").mkdir(parents=True)
    (shell.folder / "charts/train/data").symlink_to(target)
    result = lint(shell, files)
    assert "charts/train/data links to a place outside of the repository" in result.err
    assert places(result) == []


def test_without_helm_charts_are_not_judged(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "kustomize").symlink_to(tool("kustomize"))
    monkeypatch.setenv("PATH", str(folder))
    assert "it uses charts, and helm is not on PATH" in lint(shell, uses()).err


@pytest.mark.usefixtures("helm")
def test_helm_never(shell: Shell) -> None:
    result = lint(shell, uses(), "--helm", "never")
    assert places(result) == []
    assert "it uses charts, and --helm never" in result.err
