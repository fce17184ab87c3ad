"""A kustomization with the fields that a controller writes into it, as a file of another folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

Place = Callable[[str], str]
"""A path of the kustomization's folder, as seen from the other folder."""

_PATHS = ("resources", "bases", "components", "patchesStrategicMerge")
_SETTINGS = ("crds", "configurations", "generators", "transformers", "validators")
_WITH_PATH = ("patches", "patchesJson6902", "replacements")
_GENERATORS = ("configMapGenerator", "secretGenerator")
_APPENDED = ("patches", "components", "labels", "replicas")
"""Lists that a controller adds to; it replaces all other fields."""


def edited(data: Mapping[str, Any], added: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """A kustomization with further fields, in the spelling of kustomize; their paths are seen from the other
    folder already.

    Flux and Argo CD edit the kustomization of the folder that they apply. One around it would be another
    thing: what a component adds would be out of reach of the patches there.
    """
    found = {field: _moved(field, value, place) for field, value in data.items()}
    if data.get("helmCharts"):
        own = data.get("helmGlobals")
        home = own.get("chartHome") if isinstance(own, dict) else None
        globals_ = own if isinstance(own, dict) else {}
        found["helmGlobals"] = {**globals_, "chartHome": place(home if isinstance(home, str) else "charts")}
    for field, value in added.items():
        if field in _APPENDED and isinstance(found.get(field), list):
            found[field] = [*found[field], *value]
        elif field == "images" and isinstance(found.get(field), list):
            found[field] = _images(found[field], value)
        elif field == "commonAnnotations" and isinstance(found.get(field), dict):
            found[field] = {**found[field], **value}
        else:
            found[field] = value
    return found


def _images(own: list[Any], added: list[Any]) -> list[Any]:
    """An image of the same name is replaced."""
    names = {each.get("name") for each in added if isinstance(each, dict)}
    return [each for each in own if not (isinstance(each, dict) and each.get("name") in names)] + added


def _moved(field: str, value: Any, place: Place) -> Any:
    if field in (*_PATHS, *_SETTINGS) and isinstance(value, list):
        return [_path(each, place) for each in value]
    if field in _WITH_PATH and isinstance(value, list):
        return [_with(each, ("path",), place) for each in value]
    if field == "openapi":
        return _with(value, ("path",), place)
    if field in _GENERATORS and isinstance(value, list):
        return [_generator(each, place) for each in value]
    if field == "helmCharts" and isinstance(value, list):
        return [_with(each, ("valuesFile", "additionalValuesFiles"), place) for each in value]
    return value


def _generator(entry: Any, place: Place) -> Any:
    if not isinstance(entry, dict):
        return entry
    entry = _with(entry, ("env", "envs"), place)
    files = entry.get("files")
    if isinstance(files, list):
        entry["files"] = [_file(each, place) for each in files]
    return entry


def _file(said: Any, place: Place) -> Any:
    """`key=path`, or a path whose last part is the key."""
    if not isinstance(said, str):
        return said
    key, equals, path = said.partition("=")
    return f"{key}={place(path)}" if equals else f"{os.path.basename(said)}={place(said)}"


def _with(entry: Any, fields: tuple[str, ...], place: Place) -> Any:
    if not isinstance(entry, dict):
        return entry
    found = dict(entry)
    for field in fields:
        value = found.get(field)
        if isinstance(value, list):
            found[field] = [_path(each, place) for each in value]
        elif value is not None:
            found[field] = _path(value, place)
    return found


def _path(said: Any, place: Place) -> Any:
    """An entry; one of several lines is a text, not a path."""
    return place(said) if isinstance(said, str) and "\n" not in said else said
