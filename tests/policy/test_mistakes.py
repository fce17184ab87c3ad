"""Mistakes in a policy: the golden files hold each with every line it must give, exactly."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from policykit import __version__
from policykit.errors import PolicyError
from policykit.policy.load import load_text
from tests.policy.memory import HEAD, load_files
from tests.shared import ROOT

GOLDEN = ROOT / "tests" / "golden" / "policy"


class Case(NamedTuple):
    """A policy, and what is said of it."""

    name: str
    text: str
    said: str


def cases(file: str) -> list[Case]:
    """`=== name`, the policy, `--- says`, the lines; one after the other. VERSION is this version."""
    found = []
    for part in (GOLDEN / file).read_text(encoding="utf-8").split("=== ")[1:]:
        name, _, rest = part.partition("\n")
        text, _, said = rest.partition("--- says\n")
        found.append(Case(name, text, said.strip().replace("VERSION", __version__)))
    return found


BODIES = [*cases("mistakes.txt"), *cases("mistakes_of_the_vocabulary.txt")]
WHOLE = cases("mistakes_of_the_whole.txt")


def said_of(text: str) -> str:
    with pytest.raises(PolicyError) as raised:
        load_files({"policykit.yaml": text})
    return str(raised.value)


@pytest.mark.parametrize("case", BODIES, ids=[case.name for case in BODIES])
def test_mistakes_in_a_body(case: Case) -> None:
    assert said_of(HEAD + case.text) == case.said


@pytest.mark.parametrize("case", WHOLE, ids=[case.name for case in WHOLE])
def test_mistakes_of_the_whole(case: Case) -> None:
    assert said_of(case.text) == case.said


def test_no_words_of_the_validator_reach_people() -> None:
    foreign = ("Input should", "Extra inputs", "Field required", "pydantic", "validation")
    for case in (*BODIES, *WHOLE):
        assert not [word for word in foreign if word in case.said]


def test_all_mistakes_of_a_policy_are_told_in_one_run() -> None:
    """Every body of the table in one file would clash: those of different sections do not."""
    text = HEAD + (
        "coverage: full\n"
        "cards:\n  h20: {product: H20}\n"
        "pools:\n  a: {nodes: {min: 2, max: 1}}\n"
        "queues:\n  q: {parent: p}\n"
        "priorities:\n  high: {}\n"
        "lint: {ignore: [PK1x]}\n"
    )
    assert [line.split(": ")[0] for line in said_of(text).splitlines() if line.startswith("policykit")] == [
        "policykit.yaml:5:11",
        "policykit.yaml:7:18",
        "policykit.yaml:9:20",
        "policykit.yaml:11:15",
        "policykit.yaml:13:3",
        "policykit.yaml:14:17",
    ]


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(PolicyError) as raised:
        load_text(HEAD.encode() + b"coverage: \xff\n", "policykit.yaml", lambda path: b"")
    assert str(raised.value) == "policykit.yaml:5:1: the file is not UTF-8 text\n  help: save it as UTF-8"


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "aliases repeat more than 400000 nodes" in said_of(HEAD + "\n".join(lines) + "\n")
