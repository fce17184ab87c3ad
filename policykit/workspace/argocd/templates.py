"""Values in templates of ApplicationSets: `{{path.basename}}`, with goTemplate `{{ .path.basename }}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policykit.workspace.argocd.repository import UnreadableError

Parameters = Mapping[str, Any]
"""Values from a generator, as a tree. Without goTemplate, names with dots are paths in it."""

_EXPRESSION = re.compile(r"\{\{(-?)([^{}]*?)(-?)\}\}")
_FIELDS = re.compile(r"(?:\.[A-Za-z_][A-Za-z0-9_]*)+")
_INDEX = re.compile(r'index\s+((?:\.[A-Za-z_][A-Za-z0-9_]*)+|\.)((?:\s+(?:"[^"\\]*"|\d{1,9}))+)')
_STEP = re.compile(r'"([^"\\]*)"|(\d+)')
_SEGMENT = re.compile(r"path\[(\d{1,9})\]")


def filled(template: Any, parameters: Parameters, *, go: bool) -> Any:
    """A template with the values of one set of parameters. Raises UnreadableError for an expression that is
    not just a value, and for an unknown value.
    """
    if isinstance(template, str):
        return _text(template, parameters, go=go)
    if isinstance(template, dict):
        return {
            filled(key, parameters, go=go): filled(value, parameters, go=go)
            for key, value in template.items()
        }
    if isinstance(template, list):
        return [filled(each, parameters, go=go) for each in template]
    return template


def merged(data: Any, patch: Any) -> Any:
    """Data with a merge patch: null removes a field, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    found = dict(data) if isinstance(data, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def _text(text: str, parameters: Parameters, *, go: bool) -> str:
    if "{{" not in text:
        return text
    found: list[str] = []
    done = 0
    for match in _EXPRESSION.finditer(text):
        before = text[done : match.start()]
        found.append(before.rstrip() if go and match[1] else before)
        value = _go(match[2].strip(), parameters) if go else value_at(match[2].strip(), parameters)
        if value is None or isinstance(value, (dict, list)):
            raise UnreadableError(f"its template has {match[0]}, whose value is unknown")
        found.append(_written(value))
        done = match.end()
        if go and match[3]:
            done += len(text[done:]) - len(text[done:].lstrip())
    rest = text[done:]
    if go and "{{" in rest:
        raise UnreadableError(f"its template has {rest[:60]}, which is not just a value")
    return "".join((*found, rest))


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def value_at(name: str, parameters: Parameters) -> Any:
    """The value of a name such as `metadata.labels.env`, whose last part may contain dots."""
    segment = _SEGMENT.fullmatch(name)
    if segment:
        return _step(_at(parameters, ["path", "segments"]), int(segment[1]))
    here: Any = parameters
    rest = name
    while isinstance(here, Mapping):
        if rest in here:
            here = here[rest]
            return here.get("path") if rest == name == "path" and isinstance(here, Mapping) else here
        key, dot, rest = rest.partition(".")
        here = here.get(key) if dot else None
    return None


def _go(expression: str, parameters: Parameters) -> Any:
    if _FIELDS.fullmatch(expression):
        return _at(parameters, expression[1:].split("."))
    match = _INDEX.fullmatch(expression)
    if match is None:
        return None
    here = _at(parameters, [part for part in match[1].split(".") if part])
    for text, number in _STEP.findall(match[2]):
        here = _step(here, int(number) if number else text)
    return here


def _at(data: Any, path: list[str]) -> Any:
    for key in path:
        data = _step(data, key)
    return data


def _step(data: Any, step: str | int) -> Any:
    if isinstance(data, Mapping):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return None
