"""Patterns of value files, with the examples of Argo CD's documentation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.gitops.argocd_source_options import added_fields, expanded, is_pattern
from policykit.workspace.gitops.sources import UnreadableError

FILES = ["envs/z.yaml", "envs/nested/c.yaml", "envs/a.yaml", "envs/b/deep/d.yaml", "values.yaml"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("envs/*.yaml", ["envs/a.yaml", "envs/z.yaml"]),
        (
            "envs/**/*.yaml",
            ["envs/a.yaml", "envs/z.yaml", "envs/b/deep/d.yaml", "envs/nested/c.yaml"],
        ),
        ("**", [FILES[4], "envs/a.yaml", "envs/z.yaml", "envs/b/deep/d.yaml", "envs/nested/c.yaml"]),
        ("envs/?.yaml", ["envs/a.yaml", "envs/z.yaml"]),
        ("envs/[a-c].yaml", ["envs/a.yaml"]),
        ("envs/../val*.yaml", ["values.yaml"]),
        ("*/c.yaml", []),
        ("../*.yaml", []),
    ],
)
def test_examples(pattern: str, expected: list[str]) -> None:
    found = expanded(pattern, FILES)
    assert sorted(found) == sorted(expected)
    assert found == expanded(pattern, reversed(FILES))
    if pattern != "**":
        assert found == expected


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=6), st.integers(0, 5))
def test_deep_stands_for_any_number_of_folders(names: list[str], at: int) -> None:
    path = "/".join(names)
    pattern = "/".join([*names[:at], "**", *names[at:][-1:]])
    assert expanded(pattern, [path]) == [path]


def test_many_stars_take_no_longer() -> None:
    assert expanded("/".join(["**", "a"] * 50 + ["b"]), ["/".join("a" * 200)]) == []


@pytest.mark.parametrize(
    ("path", "several"), [("a/*.yaml", True), ("a?", True), ("[a]", True), ("a.b", False)]
)
def test_what_is_a_pattern(path: str, several: bool) -> None:
    assert is_pattern(path) is several


@pytest.mark.parametrize(
    "fields",
    [{"images": ["app:$ARGOCD_APP_REVISION"]}, {"commonLabels": {"app": "${ARGOCD_APP_NAME}"}}],
    ids=["images", "labels"],
)
def test_variables_of_argo_cd_are_not_read(fields: dict[str, Any]) -> None:
    with pytest.raises(UnreadableError, match="its kustomize has a variable of Argo CD"):
        added_fields(fields, "/none", "/none")


def test_replicas_may_be_texts() -> None:
    stated = {"replicas": [{"name": "a", "count": "3"}, {"name": "b", "count": 2}]}
    expected = {"replicas": [{"name": "a", "count": 3}, {"name": "b", "count": 2}]}
    assert added_fields(stated, "/none", "/none") == expected
