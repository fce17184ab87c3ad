"""The chapters of docs/ show what really happens: every command is run in the chapter's repository."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from policykit.rules import CATALOGUE
from tests import documents, tools
from tests.live.api_server import api_server, kubeconfig
from tests.shared import ROOT

DOCS = ROOT / "docs"
CHAPTERS = sorted(DOCS.glob("*.md"))


@contextmanager
def terminal(chapter: Path, folder: Path) -> Iterator[documents.Terminal]:
    """A terminal in a copy of the chapter's repository, committed; `stand-ins/` answer for a cluster, or an
    API server has what is in `cluster.yaml`."""
    repository = folder / "repository"
    there = DOCS / chapter.stem
    shutil.copytree(there, repository, ignore=shutil.ignore_patterns("stand-ins", "cluster.yaml"))
    with ExitStack() as servers:
        environment = {}
        if (there / "cluster.yaml").is_file():
            server = servers.enter_context(api_server())
            server.add(*yaml.safe_load_all((there / "cluster.yaml").read_text(encoding="utf-8")))
            environment["KUBECONFIG"] = str(kubeconfig(folder, server.url, name="prod"))
        opened = documents.Terminal(repository, there / "stand-ins", environment)
        opened.session("$ git init -q -b main . && git add -A && git commit -qm 'As it was'")
        yield opened


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_golden_sessions(chapter: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    shown = documents.blocks(chapter, "console")
    left_out: list[str] = []
    now: dict[int, str] = {}
    with terminal(chapter, tmp_path) as opened:
        for block in shown:
            needed = [word.removeprefix("needs=") for word in block.words if word.startswith("needs=")]
            missing = [name for name in needed if not tools.found(name)]
            left_out += missing
            now[block.start] = block.text if missing else opened.session(block.text)
    if request.config.getoption("--update-golden"):
        documents.rewrite(chapter, now, shown)
        again = documents.blocks(chapter, "console")
        now = dict(zip((block.start for block in again), now.values(), strict=True))
        shown = again
    assert shown
    for block in shown:
        assert block.text == now[block.start]
    if left_out:
        pytest.skip(f"the rest is as shown; not installed here: {', '.join(sorted(set(left_out)))}")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_golden_files(chapter: Path, request: pytest.FixtureRequest) -> None:
    def named() -> list[documents.Block]:
        found = documents.blocks(chapter, "yaml")
        return [block for block in found if block.words[:1] and block.words[0].startswith("file=")]

    now = [(ROOT / b.words[0].removeprefix("file=")).read_text(encoding="utf-8") for b in named()]
    if request.config.getoption("--update-golden"):
        shown = named()
        documents.rewrite(chapter, dict(zip((b.start for b in shown), now, strict=True)), shown)
    for block, text in zip(named(), now, strict=True):
        assert block.text == text


def fragments() -> Iterator[Any]:
    for chapter in CHAPTERS:
        for number, block in enumerate(documents.blocks(chapter, "yaml")):
            yield pytest.param(block.text, id=f"{chapter.stem}-{number}")


@pytest.mark.parametrize("text", list(fragments()))
def test_what_is_shown_is_yaml(text: str) -> None:
    assert all(isinstance(document, (dict, list)) for document in yaml.safe_load_all(text))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_commands_stand_in_blocks_that_are_run(chapter: Path) -> None:
    """No shell block beside the console blocks, and no rule that does not exist."""
    assert not documents.blocks(chapter, "sh")
    text = chapter.read_text(encoding="utf-8")
    assert set(re.findall(r"\bPK\d{3}\b", text)) <= {entry.code for entry in CATALOGUE}
