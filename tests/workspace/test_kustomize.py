"""What a kustomization that cannot be built is said to fail from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from policykit.workspace import kustomize
from policykit.workspace.kustomize import edited

ACCUMULATED = (
    "accumulating resources: accumulation err='accumulating resources from 'base': 'base' must resolve to a "
    "file': recursed accumulation of path 'base': accumulating resources: accumulation err='accumulating "
    "resources from '../store.yaml': security; file '../store.yaml' is not in or below '.'': must build at "
    "directory: '../store.yaml': file is not directory"
)


TWICE = (
    "accumulating resources: accumulation err='merging resources from 'more.yaml': may not add resource with "
    "an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]': must build at directory: "
    "'/somewhere/samples/more.yaml': file is not directory"
)


@pytest.mark.parametrize(
    ("stderr", "failure"),
    [
        ("Error: no such file\n", "no such file"),
        ("# Warning: 'bases' is deprecated.\nError: no such file\n", "no such file"),
        (
            'E1123 07:16:21.767201   31030 run.go:72] "command failed" err="a field \\"x\\" is unknown"\n',
            'a field "x" is unknown',
        ),
        (
            'E1123 07:16:21.767201   31030 run.go:72] "command failed" err=<\n'
            '\tmapping key "a" already defined\n\tat line 4\n >\n',
            'mapping key "a" already defined at line 4',
        ),
        (
            "I1123 07:16:21.767200   31030 log.go:245] well-defined vars that were never replaced: version\n"
            'E1123 07:16:21.767201   31030 run.go:72] "command failed" err="wildcard is not supported"\n',
            "wildcard is not supported",
        ),
        (
            "2026/11/23 07:16:21 well-defined vars that were never replaced: version\nError: no such file\n",
            "no such file",
        ),
        (
            f'E1123 07:16:21.767201   31030 run.go:72] "command failed" err="{ACCUMULATED}"\n',
            "../store.yaml: security; file '../store.yaml' is not in or below '.'",
        ),
        (
            f"Error: {TWICE}\n",
            "more.yaml: may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]",
        ),
        ("", "kustomize gives no reason"),
    ],
    ids=[
        "kustomize",
        "warnings",
        "kubectl",
        "lines of kubectl",
        "remarks of kubectl",
        "of kustomize",
        "a file outside",
        "an object twice",
        "silence",
    ],
)
def test_failure(tmp_path: Path, stderr: str, failure: str) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({stderr!r})\nsys.exit(1)\n")
    program.chmod(0o755)
    (built,) = kustomize.build(str(program), [kustomize.Root(str(tmp_path))])
    assert built.failure == failure


def place(path: str) -> str:
    return f"@{path}"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"resources": ["a.yaml", "../b"]}, {"resources": ["@a.yaml", "@../b"]}),
        ({"transformers": ["t.yaml", "kind: A\n"]}, {"transformers": ["@t.yaml", "kind: A\n"]}),
        ({"patchesStrategicMerge": ["p.yaml"]}, {"patchesStrategicMerge": ["@p.yaml"]}),
        (
            {"patches": [{"path": "p.yaml", "target": {"kind": "Job"}}, {"patch": "a: 1\n"}]},
            {"patches": [{"path": "@p.yaml", "target": {"kind": "Job"}}, {"patch": "a: 1\n"}]},
        ),
        (
            {"configMapGenerator": [{"name": "a", "files": ["x/c.txt", "k=v.txt"], "envs": ["e.env"]}]},
            {
                "configMapGenerator": [
                    {"name": "a", "files": ["c.txt=@x/c.txt", "k=@v.txt"], "envs": ["@e.env"]}
                ]
            },
        ),
        (
            {"helmCharts": [{"name": "a", "valuesFile": "v.yaml"}]},
            {
                "helmCharts": [{"name": "a", "valuesFile": "@v.yaml"}],
                "helmGlobals": {"chartHome": "@charts"},
            },
        ),
        ({"openapi": {"path": "o.json"}}, {"openapi": {"path": "@o.json"}}),
        ({"resources": "odd", "configMapGenerator": [1], "patches": [1]},) * 2,
        ({"namePrefix": "a-", "labels": [{"pairs": {"a": "b"}}]},) * 2,
    ],
    ids=["resources", "settings", "merge", "patches", "files", "charts", "openapi", "wrong", "others"],
)
def test_paths_are_seen_from_the_other_folder(data: dict[str, Any], expected: dict[str, Any]) -> None:
    assert edited(data, {}, place) == expected


@pytest.mark.parametrize(
    ("data", "added", "expected"),
    [
        ({"namespace": "a"}, {"namespace": "b"}, {"namespace": "b"}),
        ({"components": ["a"]}, {"components": ["b"]}, {"components": ["@a", "b"]}),
        ({}, {"patches": [{"patch": "b"}]}, {"patches": [{"patch": "b"}]}),
        (
            {"images": [{"name": "a", "newTag": "1"}, {"name": "c"}]},
            {"images": [{"name": "a", "newTag": "2"}]},
            {"images": [{"name": "a", "newTag": "2"}, {"name": "c"}]},
        ),
        (
            {"commonAnnotations": {"a": "1", "b": "1"}},
            {"commonAnnotations": {"b": "2"}},
            {"commonAnnotations": {"a": "1", "b": "2"}},
        ),
    ],
    ids=["replaced", "components", "new", "images", "annotations"],
)
def test_fields_are_added(data: dict[str, Any], added: dict[str, Any], expected: dict[str, Any]) -> None:
    assert edited(data, added, place) == expected


def test_failure_has_no_path_of_the_machine(tmp_path: Path) -> None:
    folder, program = tmp_path / "app", tmp_path / "kustomize"
    folder.mkdir()
    stderr = f"Error: trouble with '{tmp_path}/base/a.yaml' at /spec/replicas"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({stderr!r})\nsys.exit(1)\n")
    program.chmod(0o755)
    (built,) = kustomize.build(str(program), [kustomize.Root(str(folder))])
    assert built.failure == "trouble with '../base/a.yaml' at /spec/replicas"
