"""The scope a file stands in: kustomization, chart, policy folder, argument, own folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policykit.workspace.scopes import is_patch, kustomization_namespace, kustomization_root, scope_root

LISTS = "resources: [apps]\n"


def write(root: Path, files: dict[str, str]) -> None:
    (root / ".git").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("files", "argument", "policy", "scope"),
    [
        ({}, "", "", "apps/web"),
        ({}, "apps", "", "apps"),
        ({}, "apps", ".", "."),
        ({"Chart.yaml": "name: a\n"}, "apps", ".", "."),
        ({"apps/Chart.yaml": "name: a\n"}, "", ".", "apps"),
        ({"apps/kustomization.yaml": ""}, "", ".", "apps"),
        ({"apps/kustomization.yml": ""}, "", ".", "apps"),
        ({"apps/Kustomization": ""}, "", ".", "apps"),
        ({"apps/kustomization.yaml": "", "apps/web/Chart.yaml": ""}, "", ".", "apps"),
        ({"apps/kustomization.yaml": "", "kustomization.yaml": ""}, "", "", "apps"),
        ({"apps/kustomization.yaml": "", "kustomization.yaml": LISTS}, "", "", "."),
        ({"apps/kustomization.yaml": "", "kustomization.yaml": "bases: [./apps/]\n"}, "", "", "."),
        ({"apps/kustomization.yaml": "", "kustomization.yaml": "components: [apps]\n"}, "", "", "."),
        ({"apps/kustomization.yaml": "", "kustomization.yaml": "resources: {apps: 1}\n"}, "", "", "apps"),
        ({"apps/kustomization.yaml": "", "kustomization.yaml": "resources: [\n"}, "", "", "apps"),
    ],
    ids=[
        "own folder",
        "argument",
        "policy",
        "chart before policy",
        "nearest chart",
        "kustomization",
        "kustomization.yml",
        "Kustomization",
        "kustomization before chart",
        "a higher one that does not list it",
        "a higher one that lists it",
        "as a base",
        "as a component",
        "of the wrong shape",
        "broken",
    ],
)
def test_scope_root(tmp_path: Path, files: dict[str, str], argument: str, policy: str, scope: str) -> None:
    write(tmp_path, {"apps/web/a.yaml": "", **files})
    given = [str(tmp_path / part) if part else "" for part in (argument, policy)]
    found = scope_root(str(tmp_path / "apps/web/a.yaml"), *given)
    assert os.path.relpath(found, tmp_path) == scope


def test_the_repository_is_the_limit(tmp_path: Path) -> None:
    write(tmp_path, {"kustomization.yaml": "", "inner/.git/HEAD": "", "inner/a.yaml": ""})
    assert kustomization_root(str(tmp_path / "inner")) == ""


@pytest.mark.parametrize(
    ("inner", "outer", "namespace"),
    [
        ("", "", ""),
        ("namespace: a\n", "", "a"),
        ("namespace: a\n", LISTS, "a"),
        ("namespace: a\n", LISTS + "namespace: b\n", "b"),
        ("namespace: a\n", "namespace: b\n", "a"),
        ("namespace: [a]\n", "", ""),
    ],
    ids=["none", "inner", "listed", "outermost wins", "not listed", "wrong shape"],
)
def test_kustomization_namespace(tmp_path: Path, inner: str, outer: str, namespace: str) -> None:
    write(tmp_path, {"apps/kustomization.yaml": inner, "kustomization.yaml": outer})
    assert kustomization_namespace(str(tmp_path / "apps")) == namespace


@pytest.mark.parametrize(
    ("kustomization", "patch"),
    [
        ({"kustomization.yaml": "patches: [{path: apps/a.yaml}]\n"}, True),
        ({"apps/kustomization.yaml": "patches: [{path: ./a.yaml}]\n"}, True),
        ({"apps/kustomization.yaml": "patchesStrategicMerge: [a.yaml]\n"}, True),
        ({"apps/kustomization.yaml": "patchesStrategicMerge: ['a: 1\\nb: 2']\n"}, False),
        ({"apps/kustomization.yaml": "patches: [{patch: 'a: 1'}, x, null]\n"}, False),
        ({"apps/kustomization.yaml": "patches: a.yaml\n"}, False),
        ({"apps/kustomization.yaml": b"\xff".decode("latin-1")}, False),
    ],
    ids=["from above", "beside", "merge", "inline merge", "inline", "wrong shape", "unreadable"],
)
def test_is_patch(tmp_path: Path, kustomization: dict[str, str], patch: bool) -> None:
    write(tmp_path, {"apps/a.yaml": "", **kustomization})
    assert is_patch(str(tmp_path / "apps/a.yaml")) is patch


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("00-assert.yaml", True),
        ("01-errors.yaml", True),
        ("01-error.yml", True),
        ("02-assert-scaled.yaml", True),
        ("02-install.yaml", False),
        ("02-assertive.yaml", False),
        ("00-assert.gotmpl.yaml", True),
        ("assert.yaml", True),
        ("assert-install-app.yaml", True),
        ("node-assert.yaml", True),
        ("node_assertions.yml", True),
        ("error.yaml", False),
        ("assertive.yaml", False),
        ("reassert.yaml", False),
    ],
)
def test_assertions_of_tests_are_parts(tmp_path: Path, name: str, part: bool) -> None:
    write(tmp_path, {name: ""})
    assert is_patch(str(tmp_path / name)) is part


_TEST = """
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: scale}
spec:
  steps:
    - try:
        - apply: {file: job.yaml}
        - assert: {file: ../expected/ready.yaml}
        - assert: {file: job.yaml}
        - error: {file: gone.yaml}
        - assert: {resource: {apiVersion: v1, kind: Pod}}
        - patch: &again {file: scaled.yaml}
        - patch: *again
"""


@pytest.mark.parametrize(
    ("name", "part"), [("job.yaml", False), ("gone.yaml", True), ("scaled.yaml", True), ("other.yaml", False)]
)
def test_files_that_a_test_compares_are_parts(tmp_path: Path, name: str, part: bool) -> None:
    write(tmp_path, {name: "", "chainsaw-test.yaml": _TEST})
    assert is_patch(str(tmp_path / name)) is part
