"""A policy counts as the editor holds it: other texts are looked at again as it changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from policykit.cli.lsp import diagnostics
from policykit.workspace.command_state import reset
from tests.cli.lsp.client import POLICY, QUOTA, Editor, spoken

PLAIN = POLICY.replace("lint: {ignore: [PK206]}\n", "")


def test_before_it_is_saved(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(PLAIN, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        await editor.open("quota.yaml", QUOTA)
        await editor.open("policykit.yaml", PLAIN)
        await editor.shows("quota.yaml", "PK206")
        editor.type("policykit.yaml", POLICY, 2)
        await editor.shows("quota.yaml")
        assert await editor.change("quota.yaml", QUOTA + "\n", 2) == []
        editor.type("policykit.yaml", PLAIN, 3)
        await editor.shows("quota.yaml", "PK206")

    spoken(tmp_path, talk)


def test_one_that_is_closed_counts_as_the_disk_has_it(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(PLAIN, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        await editor.open("policykit.yaml", POLICY)
        assert await editor.open("quota.yaml", QUOTA) == []
        editor.close("policykit.yaml")
        await editor.shows("quota.yaml", "PK206")

    spoken(tmp_path, talk)


def test_one_that_was_never_saved(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        await editor.open("quota.yaml", QUOTA)
        await editor.open("policykit.yaml", POLICY)
        await editor.shows("quota.yaml")
        editor.close("policykit.yaml")
        await editor.shows("quota.yaml", "PK206")

    spoken(tmp_path, talk)


@pytest.mark.parametrize("words", [(), ("--policy", "team.yaml")], ids=["the nearest", "a named one"])
def test_what_it_extends(tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy = tmp_path / (words[-1] if words else "policykit.yaml")
    policy.write_text(PLAIN + "extends: [base.yaml]\n", encoding="utf-8")
    (tmp_path / "base.yaml").write_text(PLAIN, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        await editor.open("quota.yaml", QUOTA)
        await editor.shows("quota.yaml", "PK206")
        await editor.open("base.yaml", PLAIN)
        editor.type("base.yaml", POLICY, 2)
        await editor.shows("quota.yaml")
        (mistake,) = await editor.change("base.yaml", POLICY.replace("lint:", "lnit:"), 3)
        assert mistake.range.start == types.Position(3, 0)
        editor.type("base.yaml", PLAIN, 4)
        await editor.shows("quota.yaml", "PK206")

    spoken(tmp_path, talk, *words)


def test_what_it_extends_elsewhere_counts_for_nothing(tmp_path: Path) -> None:
    """As on the command line, also where the editor holds that file."""
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    (repo / "policykit.yaml").write_text(PLAIN + "extends: [../outside.yaml]\n", encoding="utf-8")
    texts = {str(repo / "quota.yaml"): QUOTA, str(tmp_path / "outside.yaml"): POLICY}
    try:
        told = diagnostics.lint(str(repo / "quota.yaml"), texts)
    finally:
        reset()
    assert [finding.code for finding in told.findings] == ["PK206"]
    (failure,) = told.failures
    assert failure.message.startswith("../outside.yaml: cannot be read: it resolves to ")


def test_while_it_is_wrong_what_was_told_stays(tmp_path: Path) -> None:
    """All texts are looked at again, by their names; the last one has a policy of its own."""
    (tmp_path / "policykit.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "z").mkdir()
    (tmp_path / "z/policykit.yaml").write_text(PLAIN, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        assert await editor.open("quota.yaml", QUOTA) == []
        await editor.open("z/last.yaml", QUOTA)
        await editor.open("policykit.yaml", POLICY, waits_for="z/last.yaml")
        editor.versions.clear()
        await editor.change("policykit.yaml", POLICY + "pools: [", 2, waits_for="z/last.yaml")
        assert [name for name, _ in editor.versions] == ["policykit.yaml", "z/last.yaml"]
        assert editor.told["quota.yaml"] == []
        editor.type("policykit.yaml", PLAIN, 3)
        await editor.shows("quota.yaml", "PK206")

    spoken(tmp_path, talk)


def test_the_end_of_quick_changes_is_awaited(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(PLAIN, encoding="utf-8")

    async def talk(editor: Editor) -> None:
        await editor.open("policykit.yaml", PLAIN)
        for name in ("one.yaml", "two.yaml"):
            await editor.open(name, QUOTA)
        editor.versions.clear()
        for version in range(2, 6):
            editor.type("policykit.yaml", PLAIN + "\n" * version, version)
        editor.type("policykit.yaml", POLICY, 6)
        await editor.shows("two.yaml")
        assert [name for name, _ in editor.versions[-3:]] == ["policykit.yaml", "one.yaml", "two.yaml"]

    spoken(tmp_path, talk)
