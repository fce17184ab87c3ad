"""Names in templates and scripts: what rules miss in manifests may be defined there."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.workspace import unread_files
from policykit.workspace.unread_files import words_below

QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: NAME, namespace: default}\n"


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("queue.yaml.tftpl", QUEUE, True),
        ("roles/kueue/templates/queue.yml.j2", QUEUE, True),
        ("apply.sh", f"kubectl apply -f - <<END\n{QUEUE}END\n", True),
        ("nodes.tf", 'labels = { "NAME" = "true" }\n', True),
        ("main.tf", 'name = "NAME"\n', False),
        ("queue.txt", QUEUE, False),
    ],
    ids=["Terraform", "Ansible", "a script", "labels of nodes", "no object", "another file"],
)
def test_words_of_what_contains_objects(tmp_path: Path, name: str, text: str, found: bool) -> None:
    _write(tmp_path, {name: text})
    assert words_below(str(tmp_path)).contains("NAME") is found


def test_too_many_files_may_contain_any_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread_files, "_MOST", 1)
    _write(tmp_path, {"a.sh": "", "b.sh": ""})
    assert words_below(str(tmp_path)).contains("anything")


def test_links_out_of_the_repository_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "repository/.git").mkdir(parents=True)
    _write(tmp_path, {"outside.sh": QUEUE})
    (tmp_path / "repository/a.sh").symlink_to(tmp_path / "outside.sh")
    assert not words_below(str(tmp_path / "repository")).contains("NAME")
