"""Helm renders only what is in the repository, and does nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.linter.input_file import Chart
from policykit.workspace import helm, safe_paths
from policykit.workspace.charts import read_chart
from policykit.workspace.gitops.sources import HelmOptions
from policykit.workspace.helm import _CONSTANTS, steady
from policykit.workspace.kustomization_entries import NotHereError
from tests.tools import tool


@pytest.fixture
def chart(tmp_path: Path) -> Chart:
    safe_paths.begin()
    folder = tmp_path / "repository" / "chart"
    (folder / "templates").mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (folder / "templates" / "a.yaml").write_text(
        "name: {{ .Release.Name }}.{{ .Release.Namespace }}\nkube: {{ .Capabilities.KubeVersion.Minor }}\n"
        "values: {{ toJson .Values }}\n"
    )
    return read_chart(str(folder), str(tmp_path / "repository"))


def rendered(chart: Chart, options: HelmOptions) -> str:
    return helm.render(tool("helm3"), chart, options).text.decode()


def test_options(chart: Chart) -> None:
    values = Path(chart.folder).parent / "values.yaml"
    values.write_text("{a: 1, b: 1, c: 1, d: 1}")
    (values.parent / "part.txt").write_text("text")
    options = HelmOptions(
        "rel",
        "ns",
        (str(values),),
        ("b: 2", "{c: 3}"),
        (("d", "5"),),
        (("e", "6"),),
        (("f", str(values.parent / "part.txt")),),
        kubernetes_version="1.31",
    )
    assert rendered(chart, options) == (
        "---\n# Source: web/templates/a.yaml\nname: rel.ns\nkube: 31\n"
        'values: {"a":1,"b":2,"c":3,"d":5,"e":"6","f":"text"}\n'
    )


@pytest.mark.parametrize("place", ["../outside.yaml", "/etc/hostname", "link.yaml", ".git/config"])
def test_files_that_options_name_are_in_the_repository(chart: Chart, place: str) -> None:
    here = Path(chart.folder).parent
    (here.parent / "outside.yaml").write_text("a: 1")
    (here / ".git" / "config").write_text("a: 1")
    (here / "link.yaml").symlink_to("../outside.yaml")
    path = os.path.join(here, place)
    for options in (HelmOptions(value_files=(path,)), HelmOptions(file_parameters=(("a", path),))):
        with pytest.raises(NotHereError, match="is outside of the repository"):
            list(helm.check_options(options, str(here)))


def test_the_name_of_a_parameter_names_no_file(chart: Chart) -> None:
    values = os.path.join(chart.folder, "Chart.yaml")
    options = HelmOptions(file_parameters=(("a=/etc/hostname,b", values),))
    with pytest.raises(NotHereError, match="is not the name of a value"):
        list(helm.check_options(options, os.path.dirname(chart.folder)))


def test_a_release_is_no_option(chart: Chart) -> None:
    found = helm.render(tool("helm3"), chart, HelmOptions("--post-renderer=/bin/true"))
    assert not found.text
    assert "invalid release name" in found.failure


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/me/config")
    monkeypatch.setenv("HELM_KUBETOKEN", "secret")
    found = helm.environment("/made")
    assert found["PATH"] == ""
    assert found["HOME"] == "/made"
    assert found["KUBECONFIG"] == os.devnull
    assert {name for name in found if name.startswith("HELM_")} == {
        "HELM_CACHE_HOME",
        "HELM_CONFIG_HOME",
        "HELM_DATA_HOME",
        "HELM_PLUGINS",
        "HELM_NO_PLUGINS",
    }


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["version", "--short"], True),
        (["template", "rel", "/here/chart", "--namespace", "ns"], True),
        (["template", "rel", "/here/chart", "--post-renderer", "/bin/true"], False),
        (["template", "rel", "/here/chart", "--kubeconfig=/a"], False),
        (["template", "rel", "/here/other"], False),
        (["pull", "--untar", "chart"], False),
        (["dependency", "build", "/here/chart"], False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_kustomize_gets_nothing_else_of_helm(
    chart: Chart, tmp_path: Path, words: list[str], allowed: bool
) -> None:
    made = helm.for_kustomize(
        tool("helm3"), [chart._replace(path="/here/chart")], "1.31", str(tmp_path / "made")
    )
    script = made.options[2]
    done = subprocess.run(
        [script, *words], env=helm.environment(str(tmp_path)), check=False, capture_output=True
    )
    assert (done.returncode == 0) is allowed
    assert (b"kube: 31" in made.rendered()) is (allowed and words[0] == "template")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {{ randAlphaNum 8 | quote }}", 'a: {{ printf "%08d" 8 | quote }}'),
        ("a: {{ 8 | randAlpha }}", 'a: {{ 8 | printf "%08d" }}'),
        ('a: {{ now | date "2006" }}', 'a: {{ (toDate "2006-01-02" "2020-01-01") | date "2006" }}'),
        ("a: {{ .Values.now }}", "a: {{ .Values.now }}"),
        ("a: {{ $now }}", "a: {{ $now }}"),
        ('a: {{ "now" }}{{ `now` }}', 'a: {{ "now" }}{{ `now` }}'),
        ("now: {{ .a }}", "now: {{ .a }}"),
        ("a: {{ now", "a: {{ now"),
        ("a: now", "a: now"),
    ],
)
def test_only_functions_are_replaced(text: str, expected: str) -> None:
    assert steady(text) == expected


@given(st.lists(st.sampled_from(["{{", "}}", '"', "`", "\n", " ", "a", ".", *_CONSTANTS]), max_size=30))
def test_lines_stay_lines(parts: list[str]) -> None:
    text = "".join(parts)
    assert steady(text).count("\n") == text.count("\n")
