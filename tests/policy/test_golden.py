"""One base, three clusters by overlay: what each compiles to, whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from policykit.manifests.writer import dump
from policykit.policy.load import load
from tests.shared import ROOT

FLEET = ROOT / "tests" / "golden" / "policy" / "fleet"


def data(value: Any) -> Any:
    """Plain data of the vocabulary's values; what is at its default is left out."""
    if hasattr(value, "_fields"):
        defaults = value._field_defaults
        stated = {name: getattr(value, name) for name in value._fields}
        return {n: data(v) for n, v in stated.items() if n not in defaults or v != defaults[n]}
    if isinstance(value, Mapping):
        return {str(key): data(entry) for key, entry in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [data(item) for item in value] if isinstance(value, tuple) else value


def compiled(name: str) -> str:
    loaded = load(f"{name}/policykit.yaml", lambda path: (FLEET / path).read_bytes())
    assert loaded.notices == ()
    return dump(data(loaded.cluster))


@pytest.mark.parametrize("name", ["north", "south", "edge"])
def test_the_fleet(name: str) -> None:
    assert compiled(name) == (FLEET / name / "compiled.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", ["1", "2"])
def test_whatever_the_hash_seed(seed: str) -> None:
    code = "from tests.policy.test_golden import compiled; print(compiled('edge'), end='')"
    environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert run.stdout.decode() == (FLEET / "edge" / "compiled.yaml").read_text(encoding="utf-8")
