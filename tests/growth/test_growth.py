"""No input of n bytes takes more than about linear work: steps are counted, so that no machine is judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import log2

import pytest

from tests.growth.scope_rules import scope_rules
from tests.growth.shapes import SHAPES
from tests.growth.steps import count
from tests.shared import ROOT

MOST = 1.15
"""Exponent of the growth of the work from 2n to 4n; 1 is linear."""
MOST_OF_A_RULE = 1.25
"""The same for the few steps of one rule."""


@pytest.fixture(scope="module")
def steps() -> dict[str, list[int]]:
    """Of each shape, and of each rule about scopes, the steps at n, 2n and 4n."""
    environment = {**os.environ, "POLICYKIT_CACHE_DIR": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.growth"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True)
    counted: dict[str, list[int]] = json.loads(done.stdout)
    return counted


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_input(shape: str, steps: dict[str, list[int]]) -> None:
    one, two, four = steps[shape]
    assert log2((four - two) / (two - one)) <= MOST, (one, two, four)


@pytest.mark.parametrize("code", [rule.code for rule in scope_rules()])
def test_rules_about_scopes_compare_no_pairs(code: str, steps: dict[str, list[int]]) -> None:
    one, two, four = steps[code]
    assert four <= two * 2**MOST_OF_A_RULE, (one, two, four)


def _pairs(n: int) -> int:
    return count(lambda: [len("") for _ in range(n) for _ in range(n)])


def test_work_that_grows_faster_is_seen() -> None:
    one, two, four = map(_pairs, (20, 40, 80))
    assert log2((four - two) / (two - one)) > 1.9
