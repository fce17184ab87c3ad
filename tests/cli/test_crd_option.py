"""`policykit lint --crd`: objects of the user's own kinds are held against their definitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.workspace.linting import incremental as cached
from tests.cli.commands import Shell

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  names: {kind: Foo, plural: foos}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, mode: {type: string}}}
"""
FOO = """\
apiVersion: example.com/v1
kind: Foo
metadata: {name: a}
spec:
  size: "3"
  mdoe: fast
"""
FOUND = [
    'a.yaml:5:9: PK004 error: spec.size must be a whole number, but is the string "3" [invalid-field]',
    "a.yaml:6:3: PK003 error: unknown field spec.mdoe: did you mean `mode`? [unknown-field]",
]


def lines(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("a.yaml")]


@pytest.mark.parametrize("path", ["crds/foo.yaml", "crds"])
def test_a_file_or_a_folder(shell: Shell, path: str) -> None:
    shell.write({"a.yaml": FOO, "crds/foo.yaml": CRD})
    assert lines(shell.run("lint", "a.yaml").out) == []
    result = shell.run("lint", "--crd", path, "a.yaml")
    assert (result.code, lines(result.out)) == (1, FOUND)


def test_what_is_cached_of_a_run_without_is_not_used(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLICYKIT_CACHE_DIR", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    monkeypatch.setattr(cached, "_WORTH", 0)
    shell.write({"a.yaml": FOO, "crds/foo.yaml": CRD})
    for _ in range(2):
        assert lines(shell.run("lint", "a.yaml").out) == []
        assert lines(shell.run("lint", "--crd", "crds", "a.yaml").out) == FOUND


def test_a_fix_follows_the_definition(shell: Shell) -> None:
    shell.write({"a.yaml": FOO.replace("mdoe", "modee"), "crds/foo.yaml": CRD})
    shell.run("lint", "--crd", "crds", "--unsafe-fixes", "a.yaml")
    assert (shell.folder / "a.yaml").read_text() == FOO.replace("mdoe", "mode")


def test_a_path_without_definitions(shell: Shell) -> None:
    shell.write({"a.yaml": FOO})
    result = shell.run("lint", "--crd", "a.yaml", "a.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "policykit: a.yaml: contains no CustomResourceDefinition\n"
        "  help: pass files or folders that contain some\n"
    )


POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: test}
pools:
  cpu: {nodes: 2, allocatable: {cpu: 8, memory: 32Gi}}
lint:
  crds: [crds]
"""


def test_the_policy_names_them(shell: Shell) -> None:
    shell.write({"app/a.yaml": FOO, "crds/foo.yaml": CRD, "policykit.yaml": POLICY})
    shell.cd("app")
    assert lines(shell.run("lint", "a.yaml").out) == FOUND


def test_pyproject_names_them(shell: Shell) -> None:
    shell.write(
        {"a.yaml": FOO, "crds/foo.yaml": CRD, "pyproject.toml": '[tool.policykit.lint]\ncrds = ["crds"]\n'}
    )
    assert lines(shell.run("lint", "a.yaml").out) == FOUND


def test_a_policy_that_names_nothing_fails_the_run(shell: Shell) -> None:
    shell.write({"a.yaml": FOO, "policykit.yaml": POLICY})
    result = shell.run("lint", "a.yaml")
    assert result.code == 2
    assert "crds: cannot be read: No such file or directory" in result.err
