"""The user's own kinds from files and folders."""

from pathlib import Path

import pytest

from policykit.errors import SourceError
from policykit.workspace.crds import custom_kinds_of

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: KINDs.example.com}
spec:
  group: example.com
  names: {kind: KIND}
  versions:
  - name: v1
    served: true
    schema: {openAPIV3Schema: {type: object}}
"""
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def kinds(*paths: Path) -> list[tuple[str, str]]:
    return sorted(custom_kinds_of([str(path) for path in paths]))


def test_a_file_with_several_documents(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"{CRD.replace('KIND', 'A')}---\n{OTHER}---\n{CRD.replace('KIND', 'B')}")
    assert kinds(file) == [("example.com/v1", "A"), ("example.com/v1", "B")]


def test_a_list(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    crd = '{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": SPEC}'
    spec = '{"group": "example.com", "names": {"kind": "A"}, "versions": [{"name": "v1", "served": true}]}'
    file.write_text(f'{{"apiVersion": "v1", "kind": "List", "items": [{crd.replace("SPEC", spec)}]}}')
    assert kinds(file) == [("example.com/v1", "A")]


def test_a_folder_whatever_else_stands_there(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/a.yaml").write_text(CRD.replace("KIND", "A"))
    (tmp_path / "other.yaml").write_text(OTHER)
    (tmp_path / "chart.yaml").write_text("{{ not yaml\n")
    assert kinds(tmp_path) == [("example.com/v1", "A")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (OTHER, "contains no CustomResourceDefinition"),
        (CRD + "a: [\n", "is not YAML"),
    ],
    ids=["missing", "none in it", "broken"],
)
def test_nothing_to_read(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "a.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SourceError) as raised:
        kinds(file)
    assert (raised.value.message, raised.value.place) == (message, str(file))
