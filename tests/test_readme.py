"""The README shows what really happens: its commands are run, its policies compiled, its picture compared."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from policykit.policy.load import load
from policykit.rules import CATALOGUE
from policykit.workspace.files import read
from tests import documents
from tests.documents import Block
from tests.shared import ROOT
from tests.test_architecture import LAYERS

README = ROOT / "README.md"
CHINESE = ROOT / "README.zh.md"
_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[Block]:
    return documents.blocks(README, language)


def test_golden_sessions(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("generated"))
    shown = blocks("console")
    terminal = documents.Terminal(tmp_path)
    now = {block.start: terminal.session(block.text) for block in shown}
    if request.config.getoption("--update-golden"):
        documents.rewrite(README, now, shown)
        shown = blocks("console")
        now = dict(zip((block.start for block in shown), now.values(), strict=True))
    assert len(shown) > 3
    for block in shown:
        assert block.text == now[block.start]


def test_golden_files(request: pytest.FixtureRequest) -> None:
    shown = [block for block in blocks("yaml") if block.words[:1] and block.words[0].startswith("file=")]
    now = {
        block.start: (ROOT / block.words[0].removeprefix("file=")).read_text(encoding="utf-8")
        for block in shown
    }
    if request.config.getoption("--update-golden"):
        documents.rewrite(README, now, shown)
        shown = [block for block in blocks("yaml") if block.start in now]
    assert len(shown) == 1
    for block in shown:
        assert block.text == now[block.start]


def fragments() -> Iterator[str]:
    yield from (block.text for block in blocks("yaml") if block.words == ["policy"])


@pytest.mark.parametrize("fragment", list(fragments()), ids=lambda text: text.split(":")[0])
def test_a_fragment_of_a_policy_compiles(fragment: str, tmp_path: Path) -> None:
    path = tmp_path / "policykit.yaml"
    head = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends: [profile:hybrid-volcano]\n"
    path.write_text(head + fragment, encoding="utf-8")
    assert load(str(path), read).cluster.name == "maip"


def test_the_picture_of_the_layers() -> None:
    (picture,) = (block.text for block in blocks("text"))
    drawn = [tuple(line[:36].split()) for line in picture.splitlines()]
    layers = (tuple(name for name in layer if not name.startswith("_")) for layer in LAYERS)
    assert drawn == [layer for layer in layers if layer]


def test_rules_named_exist() -> None:
    codes = {entry.code for entry in CATALOGUE}
    named = set(re.findall(r"\bPK\d{3}\b", README.read_text(encoding="utf-8")))
    assert named
    assert named <= codes


def test_it_opens_with_what_it_is_and_the_two_commands_and_stays_readable() -> None:
    text = README.read_text(encoding="utf-8")
    opening, commands, _ = text.partition("```sh\nmake demo")
    assert commands
    assert opening.startswith("# policykit\n\n")
    assert opening.count("\n") <= 25
    assert "\nmake test" in text[len(opening) :][:200]
    assert text.count("\n") <= 350


def test_the_chinese_page_has_the_same_blocks_and_commands(request: pytest.FixtureRequest) -> None:
    english, chinese = (path.read_text(encoding="utf-8") for path in (README, CHINESE))
    if request.config.getoption("--update-golden"):
        blocks_now = iter(_BLOCK.findall(english))
        chinese = _BLOCK.sub(lambda _: next(blocks_now), chinese)
        CHINESE.write_text(chinese, encoding="utf-8")
    assert _BLOCK.findall(chinese) == _BLOCK.findall(english)
    heads = [re.findall(r"^#+ ", _BLOCK.sub("", text), re.MULTILINE) for text in (chinese, english)]
    assert heads[0] == heads[1]
    rows = [re.findall(r"^\| (`policykit.*?) \| ", text, re.MULTILINE) for text in (chinese, english)]
    assert [row.replace("、", ", ") for row in rows[0]] == rows[1]
