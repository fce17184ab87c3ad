"""Schemas of custom resources for schemas/, from the CRDs of their projects' releases.

Structure only: fields, types, required fields, in the same keywords as built-in kinds.
Each folder of CLONES is a git clone with the name of its project in crd_sources.yaml:

    python -m scripts.export_crd_schemas CLONES
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from policykit.kube.structure.crd import CustomKind, custom_kinds
from policykit.manifests.path import lookup
from scripts.schema_builtins import with_references
from scripts.schema_files import Schema, write
from scripts.schema_kinds import Shapes, list_shapes
from scripts.schema_releases import merged, undated
from scripts.schema_sharing import shared
from scripts.schema_values import with_values

SOURCES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "crd_sources.yaml").read_text(encoding="utf-8")
)
_STATED = ("volcano", "koordinator", "kueue")
"""Systems whose release a policy sets."""
_TRUSTED = {"x-linear-pattern": "pattern"}


class Gathered(NamedTuple):
    """One kind in all the releases that have it."""

    partial: bool
    api_versions: set[str]
    dated: list[tuple[str, Schema]]


def gathered(clones: Path) -> dict[tuple[str, str], Gathered]:
    """(file below schemas/, kind) to its definitions by release, oldest first."""
    found: dict[tuple[str, str], Gathered] = {}
    for project, source in SOURCES.items():
        for name, partial, release, kind in _kinds(clones / project, source):
            entry = found.setdefault((name, kind.kind), Gathered(partial, set(), []))
            entry.api_versions.add(kind.api_version)
            entry.dated.append((release, _of_any_type(_trusted(kind.schema), source.get("any", {}))))
    return found


def _trusted(schema: Any) -> Any:
    """The schema with plain patterns: those of the projects need no matching in linear time."""
    if isinstance(schema, Mapping):
        return {_TRUSTED.get(key, key): _trusted(value) for key, value in schema.items()}
    return [_trusted(value) for value in schema] if isinstance(schema, list) else schema


def _of_any_type(schema: Any, lists: Mapping[str, list[str]]) -> Any:
    """The schema without the types of these fields in the items of lists with these names."""
    if not lists or not isinstance(schema, Mapping):
        return [_of_any_type(value, lists) for value in schema] if isinstance(schema, list) else schema
    result = {key: _of_any_type(value, lists) for key, value in schema.items()}
    for name, fields in lists.items():
        items = lookup(result, ("properties", name, "items", "properties"))
        if isinstance(items, dict):
            items.update((field, {}) for field in fields if field in items)
    return result


def exported(found: dict[tuple[str, str], Gathered]) -> dict[str, dict[str, Schema]]:
    """File below schemas/ to its definitions."""
    result: dict[str, dict[str, Schema]] = {}
    for (name, kind), (partial, _, dated) in sorted(found.items()):
        schema = _opened(kind, _with_templates(kind, _filled_in(kind, merged(dated))))
        if name.partition("/")[0] not in _STATED:
            schema = undated(schema)
        result.setdefault(name, {}).update(_definitions(kind, schema, partial))
    return {name: shared(definitions) for name, definitions in result.items()}


def shapes(found: dict[tuple[str, str], Gathered]) -> Shapes:
    """apiVersion to its kinds and the file of each."""
    result: Shapes = {}
    for (name, kind), entry in found.items():
        for api_version in entry.api_versions:
            result.setdefault(api_version, {})[kind] = name
    return result


def file_of(group: str, api_version: str, files: dict[str, str]) -> str:
    """The file below schemas/ for a version of a group; empty if it is not exported."""
    return files.get(group, "").format(version=api_version.rpartition("/")[2])


def _kinds(clone: Path, source: dict[str, Any]) -> Iterator[tuple[str, bool, str, CustomKind]]:
    for revision in source["releases"]:
        release = (
            source.get("next", revision)
            if revision == "HEAD"
            else revision.removeprefix("release-")[1:].rpartition(".")[0]
        )
        seen: set[tuple[str, str]] = set()
        for document in _documents(clone, revision, source["folders"]):
            for kind in custom_kinds(document):
                group = kind.api_version.partition("/")[0]
                name = file_of(group, kind.api_version, source["files"])
                wanted = kind.kind in source.get("only", (kind.kind,)) and kind.kind not in source.get(
                    "without", ()
                )
                if name and wanted and kind[:2] not in seen:
                    seen.add(kind[:2])
                    partial = source.get("partial", False)
                    yield name, partial is True or (partial and group in partial), release, kind


def _documents(clone: Path, revision: str, folders: list[str]) -> Iterator[Any]:
    for folder in folders:
        for path in _git(clone, "ls-tree", "--name-only", revision, f"{folder}/").split():
            if path.endswith((".yaml", ".yml")) and not path.endswith("/kustomization.yaml"):
                yield from yaml.load_all(_git(clone, "show", f"{revision}:{path}"), _LOADER)


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True, text=True).stdout


_TEMPLATE = {"$ref": "../kubernetes/pod.json#/$defs/PodTemplateSpec", "x-partial": True}


def _with_templates(kind: str, schema: Schema) -> Schema:
    """The schema with pod templates that the controller reads but the CRD does not define."""
    for source in SOURCES.values():
        for path in source.get("templates", ()):
            owner, *steps = path.split(".")
            if owner == kind:
                schema = _with_template(schema, steps)
    return schema


def _with_template(schema: Schema, steps: list[str]) -> Schema:
    properties = schema["properties"]
    first, *rest = steps
    there = properties[first]
    dated = {key: there[key] for key in ("x-served",) if key in there}
    made = _with_template(there, rest) if rest else _TEMPLATE | dated
    return schema | {"properties": properties | {first: made}}


def _opened(kind: str, schema: Schema) -> Schema:
    """The schema without what the operator reads in a way of its own."""
    for source in SOURCES.values():
        for path in source.get("open", ()):
            owner, *steps = path.split(".")
            if owner == kind:
                schema = _with_open(schema, steps)
    return schema


def _with_open(schema: Schema, steps: list[str]) -> Schema:
    properties = schema["properties"]
    inner = _with_open(properties[steps[0]], steps[1:]) if len(steps) > 1 else {}
    return schema | {"properties": properties | {steps[0]: inner}}


def _filled_in(kind: str, schema: Schema) -> Schema:
    """The schema without requirements that are met before the API server validates."""
    for source in SOURCES.values():
        for path in source.get("defaulted", ()):
            owner, *steps = path.split(".")
            if owner == kind:
                schema = _without_demand(schema, steps)
    return schema


def _without_demand(schema: Schema, steps: list[str]) -> Schema:
    if "items" in schema:
        return schema | {"items": _without_demand(schema["items"], steps)}
    if len(steps) == 1:
        return schema | {"required": [name for name in schema.get("required", ()) if name != steps[0]]}
    properties = schema["properties"]
    inner = _without_demand(properties[steps[0]], steps[1:])
    return schema | {"properties": properties | {steps[0]: inner}}


def _definitions(kind: str, schema: Schema, partial: bool) -> dict[str, Schema]:
    """The object, and its spec as a separate definition."""
    schema = with_values(with_references("", schema, partial))
    properties = schema["properties"]
    properties["metadata"] = {"$ref": "../kubernetes/pod.json#/$defs/ObjectMeta"}
    if "properties" not in properties.get("spec", {}):
        return {kind: schema}
    named = {f"{kind}Spec": properties["spec"]}
    properties["spec"] = {"$ref": f"#/$defs/{kind}Spec"}
    return {kind: schema, **named}


if __name__ == "__main__":
    read = gathered(Path(sys.argv[1]))
    write(exported(read))
    list_shapes(shapes(read))
