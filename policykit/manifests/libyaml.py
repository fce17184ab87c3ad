"""The parser of libyaml as PyYAML wraps it, without importing the rest of PyYAML.

The rest is a second parser and an emitter, written in Python; importing it takes a fifth of the instructions
of a small lint. Until somebody asks `yaml` for more, it has only what the parser needs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace
from typing import Any


def _import_parser() -> None:
    """Imports `yaml._yaml` into a `yaml` that has only what that module reads when it is imported: the
    classes of its values, and those of its errors."""
    spec: Any = find_spec("yaml")
    package: Any = module_from_spec(spec)
    sys.modules["yaml"] = package
    for name in ("error", "tokens", "events", "nodes"):
        import_module(f"yaml.{name}")
    base, marked = package.error.YAMLError, package.error.MarkedYAMLError
    errors = {"reader": type("ReaderError", (base,), {"__init__": _set_reason})}
    for name in ("scanner", "parser", "composer", "constructor", "emitter", "serializer", "representer"):
        errors[name] = type(f"{name.capitalize()}Error", (marked,), {})
    for name, error in errors.items():
        setattr(package, name, SimpleNamespace(**{error.__name__: error}))
    import_module("yaml._yaml")
    for name in errors:
        delattr(package, name)

    def complete(name: str) -> Any:
        del package.__getattr__
        spec.loader.exec_module(package)
        return getattr(package, name)

    package.__getattr__ = complete


def _set_reason(error: Any, *values: object) -> None:
    error.name, error.position, error.character, error.encoding, error.reason = values


def _drop() -> None:
    for name in [name for name in sys.modules if name == "yaml" or name.startswith("yaml.")]:
        del sys.modules[name]


if "yaml" not in sys.modules:
    try:
        _import_parser()
    except AttributeError:
        # A release whose parser needs more: all of it is imported.
        _drop()

from yaml._yaml import CParser, ReaderError  # type: ignore[attr-defined]  # noqa: E402
from yaml.error import MarkedYAMLError  # noqa: E402
from yaml.events import (  # noqa: E402
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

__all__ = [
    "AliasEvent",
    "CParser",
    "DocumentStartEvent",
    "MappingEndEvent",
    "MappingStartEvent",
    "MarkedYAMLError",
    "ReaderError",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
]
