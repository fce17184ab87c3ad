"""What `make upstream` finds in a clone of a system at its tags."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from policykit.model.release import Version
from scripts.upstream import clones

CODE = {
    "v1.15.1": """import "volcano.sh/apis/pkg"
const Mode = "volcano.sh/mode"
const Old = "predicate.OldEnable"
""",
    "v1.16.0-alpha.1": """const Mode = "volcano.sh/mode"
const New = "scheduling.volcano.sh/gate"
""",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a tag for each release."""

    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    for tag, code in CODE.items():
        (tmp_path / "a.go").write_text(code)
        (tmp_path / "a_test.go").write_text('const InTest = "volcano.sh/of-test"\n')
        git("add", "-A")
        git("commit", "-q", "-m", tag)
        git("tag", tag)
    return tmp_path


@pytest.mark.parametrize(
    ("known", "tag"),
    [
        (Version(1, 15, 1), "v1.16.0-alpha.1"),
        (Version(1, 14, 4), "v1.16.0-alpha.1"),
        (Version(1, 16, 0), ""),
    ],
)
def test_the_newest_tag_after_a_release(clone: Path, known: Version, tag: str) -> None:
    assert clones.newer_tag(clone, known) == tag


def test_keys_that_only_one_tag_names(clone: Path) -> None:
    found = clones.changed_keys(clone, Version(1, 15, 1), "v1.16.0-alpha.1")
    assert list(found) == ["scheduling.volcano.sh/gate is new", "predicate.OldEnable is gone"]


def test_files_to_read(clone: Path) -> None:
    """Those of CRDs, webhooks and the scheduler, without tests."""
    (clone / "pkg" / "webhooks").mkdir(parents=True)
    (clone / "pkg" / "webhooks" / "queue.go").write_text("package webhooks\n")
    (clone / "pkg" / "webhooks" / "queue_test.go").write_text("package webhooks\n")
    (clone / "a.go").write_text('const Mode = Prefix + "mode"\n')
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("add", "-A"), ("commit", "-q", "-m", "next"), ("tag", "v1.16.0")):
        subprocess.run(["git", *identity, *words], cwd=clone, check=True, capture_output=True)
    found = clones.changed_files(clone, Version(1, 15, 1), "v1.16.0")
    assert list(found) == ["pkg/webhooks/queue.go differs: 1 lines added, 0 removed"]
    keys = list(clones.changed_keys(clone, Version(1, 15, 1), "v1.16.0"))
    assert "volcano.sh/mode is gone" not in keys


def test_a_release_without_a_tag(clone: Path) -> None:
    assert clones.has_tag(clone, Version(1, 15, 1))
    assert not clones.has_tag(clone, Version(1, 16, 0))
