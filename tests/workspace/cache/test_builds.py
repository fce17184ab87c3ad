"""Builds of kustomizations: taken again only where they had come to something."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from policykit.linter.input_file import Kustomization
from policykit.workspace.cache.builds import BuildRequest, _key, builds, root_of
from policykit.workspace.cache.codec import encode
from policykit.workspace.cache.folder import Cache, name_of, pack
from policykit.workspace.kustomize import Build

DONE = Build(b"kind: Job\n\xff", "/tmp/build")


@pytest.fixture
def tree(tmp_path: Path) -> Kustomization:
    (tmp_path / "kustomization.yaml").write_text("{}")
    return Kustomization(str(tmp_path / "kustomization.yaml"))


@pytest.mark.parametrize(
    ("entry", "taken"),
    [
        (encode(Build, [DONE])[0], True),
        (encode(Build, [DONE._replace(failure="because")])[0], False),
        (b"", False),
        (b"[]", False),
        (b'["text","/tmp/build"]', False),
        (b'[["text"],"/tmp/build",""]', False),
    ],
    ids=["a build", "one that failed", "nothing", "no fields", "too few", "a list for bytes"],
)
def test_an_entry_is_taken_if_it_is_a_build(
    entry: bytes, taken: bool, tree: Kustomization, tmp_path: Path
) -> None:
    cache = Cache(str(tmp_path / "cache"))
    cache.store(name_of("builds"), pack({_key(sys.executable, BuildRequest(root_of(tree), tree)): entry}))
    (found,) = builds(sys.executable, [BuildRequest(root_of(tree), tree)], cache)
    assert (found == DONE) is taken
    assert bool(found.failure) is not taken, "Python builds nothing"


def test_a_damaged_file_is_as_good_as_none(tree: Kustomization, tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))
    cache.store(name_of("builds"), b"\xff" * 9)
    (found,) = builds(sys.executable, [BuildRequest(root_of(tree), tree)], cache)
    assert found.failure
