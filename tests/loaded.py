"""YAML that tests state in files, read with libyaml where PyYAML has it: ten times as fast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def loaded(text: str | bytes) -> Any:
    """The only document of a text."""
    return yaml.load(text, _LOADER)


def loaded_all(text: str | bytes) -> Iterator[Any]:
    return yaml.load_all(text, _LOADER)
