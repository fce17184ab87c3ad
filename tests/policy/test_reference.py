"""The policy reference: made from the models, complete, and its examples are policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.policy.load import load
from policykit.policy.schema import file_schema
from policykit.targets import TARGETS
from policykit.workspace.files import read
from scripts.export_policy_reference import LANGUAGES, NOTES, page
from tests.shared import ROOT

BASE = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: a}
domain: ai.example.com
cards: {h20: {product: NVIDIA-H20}}
pools:
  train: {usage: training, card: h20, nodes: 2}
  infer: {usage: inference, card: h20, nodes: 2}
  hybrid: {usage: hybrid, card: h20, nodes: 2}
  system: {nodes: 2}
scheme: {preset: seed, topology: {rack: example.com/rack}}
workloads: {training: {usages: [training]}}
queues: {vision: {}, research: {}}
"""


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.file)
def test_it_is_what_the_models_say(language: Any) -> None:
    there = (ROOT / "docs" / "reference" / language.file).read_text(encoding="utf-8")
    assert there == page(language), "run make compiled"


def models() -> dict[str, set[str]]:
    schema = file_schema()
    found = {name: set(each.get("properties", ())) for name, each in schema["definitions"].items()}
    return {**found, "Policy": set(schema["properties"])}


def test_notes_are_about_fields() -> None:
    known, sections = models(), set(file_schema()["properties"])
    for model, fields in NOTES["chinese"].items():
        assert set(fields) <= known[model], model
    assert set(NOTES["examples"]) <= sections
    names = {"field", "all", "zh", *(target.name for target in TARGETS)}
    for each in NOTES["systems"]:
        assert set(each) <= names
        section, _, field = each["field"].partition(".")
        assert section in sections
        assert not field or any(field in fields for fields in known.values())


def test_sections_are_described_in_chinese() -> None:
    assert set(NOTES["chinese"]["Policy"]) == models()["Policy"]
    for model in ("Workload", "Pool", "Card", "Queue", "Sharing", "Match", "Gang", "Scheme", "Quota"):
        assert set(NOTES["chinese"][model]) == models()[model], model


@pytest.mark.parametrize("section", [name for name in NOTES["examples"] if name != "extends"])
def test_an_example_is_a_policy(section: str, tmp_path: Path) -> None:
    base = yaml.safe_load(BASE)
    text = NOTES["examples"][section]
    data = {**base, **yaml.safe_load(text)}
    if section == "queues":
        data["tenants"] = {}
    if section == "cards":
        data["cards"]["h20"] = base["cards"]["h20"]
    if section == "pools":
        data["pools"]["rest"] = base["pools"]["hybrid"]
    (tmp_path / "policykit.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    assert load(str(tmp_path / "policykit.yaml"), read).cluster.name == "a"
