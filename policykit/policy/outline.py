"""What the schema allows at a path, so that messages agree with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.manifests.path import Path, Step

Schema = Mapping[str, Any]


def at(schema: Schema, path: Path) -> list[Schema]:
    """The alternatives for the value at a path, references resolved."""
    here = list(_alternatives(schema, schema))
    for step in path:
        here = [found for option in here for found in _below(schema, option, step)]
    return here


def keys(schema: Schema, path: Path) -> tuple[str, ...]:
    """The keys a map at a path may have."""
    return tuple(dict.fromkeys(key for option in at(schema, path) for key in option.get("properties", ())))


def choices(options: Sequence[Schema]) -> list[str]:
    """The allowed values, if the schema lists them."""
    words: list[str] = []
    for option in options:
        words.extend(str(w) for w in option.get("enum", ()))
        if "const" in option:
            words.append(str(option["const"]))
    return words


def homes(schema: Schema, key: str) -> list[str]:
    """The top level keys whose entries, one or two levels down, may have a key."""
    found = []
    for top in keys(schema, ()):
        if key in keys(schema, (top,)):
            found.append(top)
        elif key in keys(schema, (top, "*")) and not keys(schema, (top,)):
            found.append(f"{top}.<name>")
    return found


def _below(schema: Schema, option: Schema, step: Step) -> Iterator[Schema]:
    if isinstance(step, int):
        below = option.get("items")
    else:
        below = option.get("properties", {}).get(step) or option.get("additionalProperties")
    if isinstance(below, Mapping):
        yield from _alternatives(schema, below)


def _alternatives(schema: Schema, option: Schema) -> Iterator[Schema]:
    if "$ref" in option:
        name = option["$ref"].rpartition("/")[2]
        yield from _alternatives(schema, (schema.get("definitions") or schema["$defs"])[name])
        return
    for group in ("oneOf", "anyOf", "allOf"):
        if group in option:
            for alternative in option[group]:
                yield from _alternatives(schema, alternative)
            return
    if option.get("type") != "null":
        yield option
