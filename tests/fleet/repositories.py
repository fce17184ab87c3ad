"""Small repositories of several clusters."""

from __future__ import annotations

import json
import os

import pytest

from tests.tools import found, tool


def policy(name: str, **lint: object) -> str:
    return json.dumps(
        {
            "apiVersion": "policykit.io/v1alpha1",
            "kind": "Policy",
            "metadata": {"name": name},
            "extends": ["profile:hybrid-volcano"],
            "lint": lint,
        }
    )


def kustomization(**fields: object) -> str:
    return json.dumps({"kind": "Kustomization", **fields})


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.dirname(tool("kustomize") if found("kustomize") else tool("kubectl"))
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])
