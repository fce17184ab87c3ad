"""The exported schema: as the models say, draft 7, and true of what ships."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import jsonschema
import pytest
import yaml

from policykit import bundled
from policykit.policy.models.policy import Policy
from policykit.policy.models.targets import Targets
from scripts.export_policy_schema import main, text
from tests.policy.memory import HEAD
from tests.shared import ROOT

SCHEMA: dict[str, Any] = json.loads((ROOT / "schemas" / "policy.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
POLICIES = [
    *(ROOT / "profiles" / f"{name}.yaml" for name in bundled.names("profiles", suffix=".yaml")),
    *sorted((ROOT / "tests" / "golden" / "policy" / "fleet").glob("*/policykit.yaml")),
]


def test_the_schema_on_disk_is_what_the_models_say() -> None:
    assert (ROOT / "schemas" / "policy.json").read_text(encoding="utf-8") == text()
    assert main(["--check"]) == 0


def test_it_is_draft_7() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert "$defs" not in json.dumps(SCHEMA)
    assert set(SCHEMA["properties"]) == {field.alias for field in Policy.model_fields.values()}


@pytest.mark.parametrize("path", POLICIES, ids=[f"{path.parent.name}/{path.name}" for path in POLICIES])
def test_policies_hold_to_it(path: Any) -> None:
    VALIDATOR.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("pools: {a: {usge: x}}\n", ["pools", "a"]),
        ("pools: {a: {nodes: -1}}\n", ["pools", "a", "nodes"]),
        ("workloads: {t: {prefer: {x: 101}}}\n", ["workloads", "t", "prefer", "x"]),
        ("workloads: {t: {gang: al}}\n", ["workloads", "t", "gang"]),
        ("pools: {a: {allocatable: {memory: 64GB}}}\n", ["pools", "a", "allocatable", "memory"]),
        ("kubernetes: 1.36\n", ["kubernetes"]),
    ],
)
def test_editors_are_told_the_same(body: str, path: list[str]) -> None:
    (error,) = VALIDATOR.iter_errors(yaml.safe_load(HEAD + body))
    assert list(error.absolute_path) == path


def test_every_key_is_described() -> None:
    def keys(schema: dict[str, Any], where: str) -> list[str]:
        return [
            f"{where}.{name}"
            for name, value in schema.get("properties", {}).items()
            if not value.get("description")
        ]

    missing = keys(SCHEMA, "policy")
    for name, definition in SCHEMA["definitions"].items():
        missing += keys(definition, name)
        assert definition.get("description") or "properties" not in definition, name
    assert missing == []


def test_null_stands_anywhere_in_a_map() -> None:
    VALIDATOR.validate(
        yaml.safe_load(HEAD + "pools: {a: null, b: {usage: null, labels: {x: null}}}\nqueues: null\n")
    )


def test_every_target_of_the_policy_is_compiled() -> None:
    # Kubernetes is generated for without being named: it is compiled by its own call.
    for name in Targets.model_fields.keys() - {"kubernetes"}:
        assert callable(import_module(f"policykit.policy.compile.targets.{name}").compile_options)
