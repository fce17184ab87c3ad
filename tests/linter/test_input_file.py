"""Input files: where the objects of a build come from."""

from __future__ import annotations

import pytest

from policykit.linter.input_file import origin_of


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        ("path: base/train.yaml\n", {"path": "base/train.yaml"}),
        ("path: 'a: b.yaml'\n", {"path": "a: b.yaml"}),
        ("configuredIn: kustomization.yaml\n", {"configuredIn": "kustomization.yaml"}),
        ("", {}),
        ("- path", {}),
        ("path: [", {}),
        (1, {}),
    ],
)
def test_origin_of_a_built_object(written: object, origin: dict[str, str]) -> None:
    assert origin_of({"metadata": {"annotations": {"config.kubernetes.io/origin": written}}}) == origin


@pytest.mark.parametrize("data", [{}, {"metadata": None}, [], None])
def test_other_data_has_no_origin(data: object) -> None:
    assert origin_of(data) == {}
