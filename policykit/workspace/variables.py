"""Variables for substitution in manifests, from ConfigMaps, Secrets and maps of names to values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.shape import mapping
from policykit.workspace.boundary import SMALL
from policykit.workspace.files import read
from policykit.workspace.sources import Variables


def joined(parts: Iterable[Variables]) -> Variables:
    """All variables together; later ones override earlier ones."""
    known: dict[str, str] = {}
    unknown: set[str] = set()
    complete = True
    for part in parts:
        if not part.complete:
            # It may define anything, and overrides earlier variables.
            unknown.update(known)
            known.clear()
            complete = False
        unknown.difference_update(part.known)
        known.update(part.known)
        unknown.update(part.unknown)
        for name in part.unknown:
            known.pop(name, None)
    return Variables(known, frozenset(unknown), complete)


def variables_of_file(path: str, by: str) -> Variables:
    """The variables of a file with ConfigMaps, or with a map of names to values. Raises SourceError.

    `by`: the file that names it. Values of Secrets are never read.
    """
    text = read(path, by, SMALL).decode("utf-8", errors="replace")
    found: list[Variables] = []
    for parsed in parse(text):
        if parsed.root is None or not isinstance(parsed.root.data, dict):
            continue
        objects = [*manifests(parsed.root, 0)]
        if "kind" in parsed.root.data and "apiVersion" in parsed.root.data:
            found += [variables_of_object(each.data) for each in objects if isinstance(each.data, dict)]
        else:
            found.append(Variables(texts(parsed.root.data)))
    return joined(found)


def variables_of_object(data: Mapping[str, Any]) -> Variables:
    """The variables of a ConfigMap; of a Secret only the names, encrypted or not."""
    kind = data.get("kind")
    if kind == "Secret":
        names = {name for field in ("data", "stringData") for name in mapping(data.get(field))}
        return Variables({}, frozenset(names))
    return Variables(texts(mapping(data.get("data")))) if kind == "ConfigMap" else Variables()


def texts(data: Mapping[Any, Any]) -> dict[str, str]:
    """Names to texts: scalars as they are written, without line breaks."""
    found = {}
    for name, value in data.items():
        if isinstance(name, str) and isinstance(value, str | int | float | bool):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found[name] = text.replace("\n", "")
    return found
