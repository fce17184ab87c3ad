"""Schemas of report formats as their owners publish them; `tests/tools.sh` fetches them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT

_FOLDER = ROOT / ".venv" / "tools" / "schemas"


def sarif_schema() -> dict[str, Any]:
    """OASIS' schema of SARIF 2.1.0, which a Go package carries as a constant."""
    _, _, rest = _there("sarif.go").read_text(encoding="utf-8").partition("`")
    return dict(json.loads(rest.rpartition("`")[0]))


def rdjson_schema() -> dict[str, Any]:
    """reviewdog's schema of a DiagnosticResult."""
    return dict(json.loads(_there("rdjson.json").read_text(encoding="utf-8")))


def _there(name: str) -> Path:
    path = _FOLDER / name
    if not path.is_file():
        pytest.skip(f"{name} is not there: `sh tests/tools.sh .venv/tools` fetches it")
    return path
