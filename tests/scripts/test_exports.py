"""The bundled schemas are what the scripts write from their sources."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from scripts.schema_files import SCHEMAS, Schema, text
from tests.shared import SHARED


def assert_written(files: dict[str, dict[str, Schema]]) -> None:
    for name, definitions in files.items():
        assert (SCHEMAS / name).read_text(encoding="utf-8") == text(definitions), name


def kubernetes_release() -> str:
    try:
        return version("kubernetes").partition(".")[0]
    except PackageNotFoundError:
        return ""


@pytest.mark.skipif(kubernetes_release() != "37", reason="the kubernetes package 37 is not installed")
def test_built_in_kinds() -> None:
    from scripts.export_kubernetes_schemas import exported

    assert_written(exported())


@pytest.mark.skipif(SHARED is None, reason="no CRDs beside the checkout")
def test_custom_resources() -> None:
    from scripts.export_crd_schemas import exported

    assert_written(exported(Path(str(SHARED)) / "corpus/crds"))
