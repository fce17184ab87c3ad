"""Kustomizations with everything that they use."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.workspace import safe_paths
from policykit.workspace.kustomization_entries import NotHereError
from policykit.workspace.kustomizations import tree_of


def chain(folder: Path, length: int) -> list[str]:
    """Kustomizations of which each uses the next one, outermost first."""
    safe_paths.begin()
    (folder / ".git").mkdir()
    for number in range(length):
        (folder / str(number)).mkdir()
        below = [f"../{number + 1}"] if number + 1 < length else []
        (folder / str(number) / "kustomization.yaml").write_text(f"resources: {below}\n")
    return [str(folder / str(number)) for number in range(length)]


@pytest.mark.parametrize("known", [[], [1], [30], [50, 25, 1]], ids=str)
@pytest.mark.parametrize(("length", "fits"), [(51, True), (52, False)])
def test_the_depth_does_not_depend_on_what_was_read_before(
    tmp_path: Path, known: list[int], length: int, fits: bool
) -> None:
    folders = chain(tmp_path, length)
    for number in known:
        tree_of(folders[number])
    if fits:
        assert len([*tree_of(folders[0]).every()]) == length
    else:
        with pytest.raises(NotHereError, match="more than 50 kustomizations use one another"):
            tree_of(folders[0])


def test_a_base_is_read_once(tmp_path: Path) -> None:
    safe_paths.begin()
    (tmp_path / ".git").mkdir()
    for name, resources in (("base", "[a.yaml]"), ("a", "[../base]"), ("b", "[../base]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kustomization.yaml").write_text(f"resources: {resources}\n")
    (tmp_path / "base" / "a.yaml").write_text("a: 1\n")
    first, second = (tree_of(str(tmp_path / name)).bases[0].tree for name in ("a", "b"))
    assert first is second
