"""Schema files: JSON with one definition's property per line, so that diffs are readable."""

import json
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def text(definitions: dict[str, Schema]) -> str:
    """A schema file with these definitions, sorted by name."""
    blocks = [f"  {json.dumps(name)}: {_definition(definitions[name])}" for name in sorted(definitions)]
    body = ",\n".join(blocks)
    return f'{{\n "$schema": {json.dumps(DIALECT)},\n "$defs": {{\n{body}\n }}\n}}\n'


def _definition(schema: Schema) -> str:
    rest = {key: value for key, value in schema.items() if key != "properties"}
    properties = schema.get("properties")
    if not properties:
        return _compact(schema)
    lines = ",\n".join(f"    {json.dumps(key)}: {_compact(properties[key])}" for key in sorted(properties))
    return f'{{{_compact(rest)[1:-1]}, "properties": {{\n{lines}\n  }}}}'


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(name: str) -> dict[str, Schema]:
    """The definitions of a file below schemas/."""
    definitions: dict[str, Schema] = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))["$defs"]
    return definitions


def write(files: dict[str, dict[str, Schema]]) -> None:
    """File below schemas/ to its definitions."""
    for name, definitions in files.items():
        target = SCHEMAS / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text(definitions), encoding="utf-8")
