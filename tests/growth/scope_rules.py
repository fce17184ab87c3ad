"""Steps that each rule about scopes takes by itself, for copies of the good manifests of its cases.

Beside the work of reading so many objects, that of comparing each with each would not be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import yaml

from policykit import api, nearest
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.scope import Scope
from policykit.model.cluster import Cluster
from policykit.rules import rule as load
from policykit.rules import rules
from tests.clusters import cluster
from tests.growth import steps
from tests.loaded import loaded, loaded_all

_CASES = Path(__file__).parents[1] / "rules"
_COPIES = 4
_NEAR_NAMES = 6
"""Instead of so many that with the few names of these copies each would be compared with all."""


def scope_rules() -> Iterator[AnyRule]:
    return (rule for rule in rules() if rule.subject is Scope)


def counted(rule: AnyRule) -> list[int]:
    """Steps within the rule's check."""
    nearest.MOST = _NEAR_NAMES
    policy = cluster("profile:hybrid-volcano")
    manifests = [(text, _names(text)) for text in _manifests(rule)]
    found = []
    for times in (1, 2, 4):
        texts = {
            f"{number}-{copy}.yaml": _renamed(text, names, f"{number}x{copy}").encode()
            for number, (text, names) in enumerate(manifests)
            for copy in range(_COPIES * times)
        }
        found.append(_in_check(rule, texts, policy))
    return found


def _in_check(rule: AnyRule, texts: dict[str, bytes], policy: Cluster | None) -> int:
    """Only the check is counted: reading so many objects takes most of the time, and longer when counted."""
    found: list[int] = []

    def check(scope: Scope, context: Context) -> Iterator[Violation]:
        return steps.counted(rule.check(scope, context), found)

    watched = {rule.code: rule._replace(check=check)}
    with patch.object(api, "rule", lambda entry: watched.get(entry.code) or load(entry)):
        api.lint_texts(texts, policy, [rule.code])
    return sum(found)


def _manifests(rule: AnyRule) -> Iterator[str]:
    yield rule.good
    path = next(_CASES.glob(f"*/cases/{rule.name}.yaml"))
    for case in loaded(path.read_text(encoding="utf-8"))["good"]:
        if _is_yaml(case["manifest"]):
            yield case["manifest"]


def _is_yaml(text: str) -> bool:
    try:
        return bool(list(loaded_all(text)))
    except yaml.YAMLError:
        return False


def _names(text: str) -> list[str]:
    """Of objects and their namespaces, the longest first."""
    names = {
        value
        for document in loaded_all(text)
        if isinstance(document, dict) and isinstance(document.get("metadata"), dict)
        for field in ("name", "namespace")
        if isinstance(value := document["metadata"].get(field), str) and len(value) > 1
    }
    return sorted(names, key=len, reverse=True)


def _renamed(text: str, names: Sequence[str], suffix: str) -> str:
    """A copy whose objects and namespaces have names of their own, wherever they are named."""
    for name in names:
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", f"{name}-{suffix}", text)
    return text
