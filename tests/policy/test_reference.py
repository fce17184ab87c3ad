"""The policy reference: made from the models, complete, and its examples are policies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.policy.load import load
from policykit.policy.schema import file_schema
from policykit.targets import TARGETS
from policykit.workspace.files import read
from scripts.export_policy_reference import LANGUAGES, NOTES, Field, examples, fields_of, page
from tests.shared import ROOT

BASE = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: a}
domain: ai.example.com
cards: {h20: {product: NVIDIA-H20}}
placements: {dense: {strategy: binpack, scheduler: dense-scheduler}, packed: {strategy: binpack}}
priorities: {urgent: {value: 1000}}
tenants: {vision: {namespaces: [vision]}}
preemption: {reclaim: true}
pools:
  train: {usage: training, card: h20, nodes: 2}
  infer: {usage: inference, card: h20, nodes: 2}
  hybrid: {usage: hybrid, card: h20, nodes: 2}
  system: {nodes: 2}
scheme: {preset: seed, topology: {rack: example.com/rack}}
workloads: {training: {usages: [training]}}
queues: {vision: {}, research: {}}
"""
SCHEDULER = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: koord-scheduler-config, namespace: koordinator-system}
data:
  koord-scheduler-config: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles: [{schedulerName: koord-scheduler}]
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
    names = {"field", "all", *(target.name for target in TARGETS)}
    for each in NOTES["systems"]:
        assert set(each) <= names
        section, _, field = each["field"].partition(".")
        assert section in sections
        assert not field or any(field in fields for fields in known.values())


def test_every_field_is_described_in_chinese() -> None:
    assert set(NOTES["chinese"]["Policy"]) == models()["Policy"]
    fields = {(each.model, each.name) for each in all_fields()}
    described = {(model, name) for model, names in NOTES["chinese"].items() for name in names}
    assert sorted(fields - described) == []


def test_each_text_of_a_system_has_both_languages() -> None:
    for each in NOTES["systems"]:
        for name, text in each.items():
            if isinstance(text, list):
                english, chinese = text
                assert english.isascii(), each
                assert not chinese.isascii() or chinese == english, each
            elif name != "field":
                assert text.isascii(), each


EXAMPLES = [(name, text) for name in NOTES["examples"] for text in examples(name) if name != "extends"]


@pytest.mark.parametrize(("section", "text"), EXAMPLES)
def test_an_example_is_a_policy(section: str, text: str, tmp_path: Path) -> None:
    base, stated = yaml.safe_load(BASE), yaml.safe_load(text)[section]
    keeps = section in ("cards", "pools", "workloads", "queues", "priorities", "placements")
    data = {**base, section: {**base[section], **stated} if keeps else stated}
    (tmp_path / "policykit.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    (tmp_path / "koord-scheduler-config.yaml").write_text(SCHEDULER, encoding="utf-8")
    assert load(str(tmp_path / "policykit.yaml"), read).cluster.name == data["metadata"]["name"]


def test_every_field_has_an_example() -> None:
    there = [path for name in NOTES["examples"] for text in examples(name) for path in _paths(text)]
    fields = all_fields()
    shown = {(each.model, each.name) for each in fields if any(_is_at(path, each.path) for path in there)}
    assert sorted({(each.model, each.name) for each in fields} - shown) == []


def all_fields() -> list[Field]:
    schema = file_schema()
    sections = schema["properties"].items()
    return [each for section, data in sections for each in fields_of(schema, data, section, ())]


def _paths(example: str) -> Iterator[tuple[str, ...]]:
    yield from _below(yaml.safe_load(example), ())


def _below(value: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*above, key)
            yield from _below(inner, (*above, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _below(inner, (*above, "[]"))


def _is_at(path: tuple[str, ...], field: str) -> bool:
    steps = re.findall(r"[^.\[]+|\[\]", field)
    return len(path) == len(steps) and all(
        step in ("NAME", key) for key, step in zip(path, steps, strict=True)
    )
