"""What another tool fills in is not a value: no rule of placement or resources judges it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.manifests.writer import dump
from policykit.rules import rules
from tests.clusters import cluster

FILLED_IN = ("${X}", "{{ .Values.x }}", "<x>", "{service_name}")
RULES = tuple(rule for rule in rules() if rule.code[:3] in ("PK1", "PK2"))
JUDGED = frozenset({"affinity", "nodeSelector", "resources", "schedulerName", "spec", "tolerations"})


def values(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of the values that are not collections."""
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from values(data[key], (*path, key))
    elif JUDGED & {*path}:
        yield path


def replaced(document: Any, path: tuple[Any, ...], value: str) -> Any:
    changed = copy.deepcopy(document)
    owner = changed
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    return changed


@pytest.mark.parametrize("value", FILLED_IN)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_placeholder_is_not_judged(rule: Any, value: str) -> None:
    policy = cluster("profile:hybrid-volcano")
    documents = [each for each in yaml.safe_load_all(rule.good) if isinstance(each, dict)]
    said = []
    for document in documents:
        for path in values(document):
            text = dump(replaced(document, path, value)).encode()
            for finding in api.lint_texts({"filled-in.yaml": text}, policy).findings:
                if finding.code[:3] in ("PK1", "PK2") and value in finding.message:
                    said.append((path, finding.code, finding.message))
    assert said == []
