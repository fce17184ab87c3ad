"""Steps that each rule about scopes takes by itself, for copies of the good manifests of its cases.

Beside the work of reading so many objects, that of comparing each with each would not be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import yaml

from policykit import api, nearest
from policykit.linter.rule import AnyRule
from policykit.linter.scope import Scope
from policykit.rules import rules
from tests.clusters import cluster
from tests.growth import steps

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
    manifests = [*_manifests(rule)]
    found = []
    for times in (1, 2, 4):
        texts = {
            f"{number}-{copy}.yaml": _renamed(text, f"{number}x{copy}").encode()
            for number, text in enumerate(manifests)
            for copy in range(_COPIES * times)
        }
        work = partial(api.lint_texts, texts, policy, [rule.code])
        found.append(steps.count(work, within=rule.check.__code__))
    return found


def _manifests(rule: AnyRule) -> Iterator[str]:
    yield rule.good
    path = next(_CASES.glob(f"*/cases/{rule.name}.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))["good"]:
        if _is_yaml(case["manifest"]):
            yield case["manifest"]


def _is_yaml(text: str) -> bool:
    try:
        return bool(list(yaml.safe_load_all(text)))
    except yaml.YAMLError:
        return False


def _renamed(text: str, suffix: str) -> str:
    """A copy whose objects and namespaces have names of their own, wherever they are named."""
    names = {
        value
        for document in yaml.safe_load_all(text)
        if isinstance(document, dict) and isinstance(document.get("metadata"), dict)
        for field in ("name", "namespace")
        if isinstance(value := document["metadata"].get(field), str) and len(value) > 1
    }
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", f"{name}-{suffix}", text)
    return text
