"""A kustomization as a controller edits it, for another folder: paths follow, and everything else stays."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.workspace.edited_kustomization import edited


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
            {"images": [{"name": "c"}, {"name": "a", "newTag": "2"}]},
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
