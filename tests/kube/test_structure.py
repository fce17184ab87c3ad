"""Kinds of every family: a manifest that is right, and one fault in it each."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from policykit.kube.structure import check
from policykit.manifests.patch import Patch, patched
from tests.loaded import loaded

TABLE = loaded((Path(__file__).parent / "families.yaml").read_text(encoding="utf-8"))
RIGHT: dict[str, Any] = TABLE["right"]
FAULTS: list[dict[str, Any]] = TABLE["faults"]


def manifest(known: str) -> dict[str, Any]:
    api_version, _, kind = known.partition(" ")
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": deepcopy(RIGHT[known]),
    }


def said(data: dict[str, Any]) -> list[str]:
    return [problem.message for problem in check(data, data["apiVersion"], data["kind"])]


@pytest.mark.parametrize("known", RIGHT)
def test_right(known: str) -> None:
    assert said(manifest(known)) == []


@pytest.mark.parametrize("known", RIGHT)
def test_an_unknown_field(known: str) -> None:
    data = manifest(known)
    data["spec"]["zzqqxx"] = 1
    assert said(data) == ["unknown field spec.zzqqxx"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault['known']} {fault['path'][-1]}")
def test_one_fault(fault: dict[str, Any]) -> None:
    data = manifest(fault["known"])
    path = tuple(fault["path"])
    owner: Any = data
    for step in path[:-1]:
        owner = owner[step]
    there = isinstance(owner, list) or path[-1] in owner
    changed = patched(data, Patch("replace" if there else "add", path, fault["value"]))
    assert said(changed) == [fault["says"]]
