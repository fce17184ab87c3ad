"""The bundled schemas are what the scripts write from their sources."""

import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from policykit.kube.structure.schema import target
from scripts.schema_files import SCHEMAS, Schema, load
from scripts.schema_files import text as schema_text
from scripts.schema_kinds import TARGET, text, with_shapes


def assert_written(files: dict[str, dict[str, Schema]]) -> None:
    for name, definitions in files.items():
        assert (SCHEMAS / name).read_text(encoding="utf-8") == schema_text(definitions), name


def kubernetes_release() -> str:
    try:
        return version("kubernetes").partition(".")[0]
    except PackageNotFoundError:
        return ""


@pytest.mark.skipif(kubernetes_release() != "37", reason="the kubernetes package 37 is not installed")
def test_built_in_kinds() -> None:
    from scripts.export_kubernetes_schemas import exported

    assert_written(exported())


@pytest.mark.skipif(kubernetes_release() != "37", reason="the kubernetes package 37 is not installed")
def test_the_list_of_shapes() -> None:
    from scripts.export_kubernetes_schemas import shapes

    table = json.loads(TARGET.read_text(encoding="utf-8"))
    assert text(with_shapes(table, shapes(), {"kubernetes"})) == TARGET.read_text(encoding="utf-8")


def test_every_listed_shape_is_there() -> None:
    table = json.loads(TARGET.read_text(encoding="utf-8"))
    for kinds in table["shapes"].values():
        for kind, file in kinds.items():
            assert load(file)[kind]["properties"]["metadata"], (kind, file)
            assert schema_text(load(file)) == (SCHEMAS / file).read_text(encoding="utf-8")


def test_every_reference_leads_somewhere() -> None:
    for path in sorted(SCHEMAS.glob("*/*.json")):
        file = path.relative_to(SCHEMAS).as_posix()
        for reference in references(json.loads(path.read_text(encoding="utf-8"))):
            assert target(file, reference).schema, (file, reference)


def references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        schema = list(schema.values())
    for inner in schema if isinstance(schema, list) else ():
        yield from references(inner)
