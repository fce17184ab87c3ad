"""Koordinator's CustomResourceDefinitions (1.8), where the shared corpus stands beside the checkout."""

from functools import lru_cache
from typing import Any

import jsonschema
import pytest

from tests.loaded import loaded
from tests.shared import SHARED

_FOLDER = SHARED / "corpus" / "crds" / "koordinator" if SHARED else None

needs_crds = pytest.mark.skipif(
    _FOLDER is None or not _FOLDER.is_dir(), reason="the corpus of CRDs is not beside the checkout"
)


def problems(data: Any) -> list[str]:
    """What the CRD of an object's kind refuses in it, fields that it does not know included."""
    validator = _validator(data["apiVersion"], data["kind"])
    return [error.message for error in validator.iter_errors(data)]


@lru_cache
def _validator(api_version: str, kind: str) -> Any:
    group, _, version = api_version.partition("/")
    assert _FOLDER is not None
    for path in sorted(_FOLDER.glob("*.yaml")):
        spec = loaded(path.read_text(encoding="utf-8"))["spec"]
        if (spec["group"], spec["names"]["kind"]) == (group, kind):
            found = next(each for each in spec["versions"] if each["name"] == version)
            return jsonschema.Draft202012Validator(_closed(found["schema"]["openAPIV3Schema"]))
    raise AssertionError(f"no CRD of {api_version} {kind}")


def _closed(schema: Any) -> Any:
    """The schema with unknown fields refused: an API server drops them, which is as bad."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {
        key: {name: _closed(each) for name, each in value.items()} if key == "properties" else _closed(value)
        for key, value in schema.items()
    }
    open_ended = "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields")
    if "properties" in schema and not open_ended:
        closed["additionalProperties"] = False
    return closed
