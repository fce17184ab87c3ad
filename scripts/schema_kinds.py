"""schemas/kinds.json: which file has the schema of a kind, which kinds exist, which were removed."""

import json
from typing import Any

from scripts.schema_files import SCHEMAS

TARGET = SCHEMAS / "kinds.json"

Shapes = dict[str, dict[str, str]]
"""apiVersion to its kinds and the file of each."""


def text(table: dict[str, dict[str, Any]]) -> str:
    """The table with one apiVersion or group per line, sorted."""
    sections = []
    for section, entries in table.items():
        lines = (
            f"  {json.dumps(key)}: {json.dumps(entries[key], sort_keys=True)}" for key in sorted(entries)
        )
        sections.append(f" {json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def with_shapes(
    table: dict[str, dict[str, Any]], shapes: Shapes, folders: set[str]
) -> dict[str, dict[str, Any]]:
    """The table with these shapes, in place of those it has from the same folders below schemas/."""
    kept: Shapes = {}
    for api_version, kinds in table["shapes"].items():
        if others := {kind: file for kind, file in kinds.items() if file.partition("/")[0] not in folders}:
            kept[api_version] = others
    for api_version, kinds in shapes.items():
        kept[api_version] = kept.get(api_version, {}) | kinds
    return table | {"shapes": kept}


def list_shapes(shapes: Shapes) -> None:
    """Writes the shapes of an export into the table."""
    folders = {file.partition("/")[0] for kinds in shapes.values() for file in kinds.values()}
    table = with_shapes(json.loads(TARGET.read_text(encoding="utf-8")), shapes, folders)
    TARGET.write_text(text(table), encoding="utf-8")
