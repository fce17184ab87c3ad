"""Argo Workflows: variables in the texts of templates, and the loops that give a step its items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.checks import Data, refused, texts
from policykit.kube.structure.problem import UNKNOWN_FIELD
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity

_VARIABLE = re.compile(r"\{\{ *(input|output|workflows)\.((?:parameters|artifacts)\.[A-Za-z0-9_-]+)")
_MEANT: Mapping[str, str] = {"input": "inputs", "output": "outputs", "workflows": "workflow"}
_ITEM = re.compile(r"\{\{ *item(?=[ .}])")
_LOOPS = ("withItems", "withParam", "withSequence")
_GIVEN = ("artifacts", "parameters")
"""Fields of arguments."""
_OF_STEPS = frozenset({*_LOOPS, "continueOn", "hooks", "onExit", "template", "templateRef", "when"})


def misnamed(template: Data, base: Path) -> Iterator[Problem]:
    """Words that are nearly those with which variables begin.

    Source: `checkValidWorkflowVariablePrefix` (v3.7): a variable of another name stays as it is written.
    """
    for path, text in texts(template, base):
        found = _VARIABLE.search(text) if "{{" in text else None
        if found:
            word, rest = found.groups()
            what = f"has the variable {word}.{rest}, which Argo Workflows does not fill in"
            yield refused(path, what, f"did you mean {_MEANT[word]}.{rest}?", Severity.WARNING)


def of_step(step: Data, base: Path) -> Iterator[Problem]:
    """Source: `resolveAllVariables` and `addItemsToScope` of `workflow/validate` (v3.7)."""
    given = step.get("arguments")
    if not isinstance(given, dict):
        return
    for field in given:
        if field not in _GIVEN and field in _OF_STEPS:
            what = f"is a field of the step, and arguments have only {' and '.join(_GIVEN)}"
            advice = "move it out of arguments: it is not read there"
            where: Path = (*base, "arguments", field)
            yield refused(where, what, advice, Severity.WARNING, key=True, kind=UNKNOWN_FIELD)
    if any(step.get(field) is not None for field in _LOOPS):
        return
    for path, text in texts(given.get("parameters"), (*base, "arguments", "parameters")):
        if "{{" in text and _ITEM.search(text):
            what = "uses the item of a loop, but the step has none of withItems, withParam and withSequence"
            yield refused(path, what, "add one of them to the step: the workflow fails before its first step")
            return
