"""The extension keeps nothing of what it has read."""

from __future__ import annotations

import contextlib
import gc
import sys
from pathlib import Path
from typing import Any

import pytest

from policykit.extension import compiled
from policykit.manifests.memoize import memoize_last_call
from policykit.manifests.parser import parse
from policykit.namedtuple import NamedTuple

pytestmark = pytest.mark.skipif(not compiled, reason="without the extension, or with POLICYKIT_EXTENSION=0")

TEXTS = (
    "a: &x {b: [1, yes, 'q']}\nc: *x\nd: {<<: *x, e: 1, e: 2}\n1: z\n---\nb: !!int 7\n---\n- |\n  a\n- 1.5\n",
    "a: [1\n",
    "a: *none\n",
    "&a [*a]",
    "b: {<<: 1, x: &y [1, {a: b}]}\n",
    "x: 1\n---\ny: \x01\n",
    "{? [a] : b}",
    "[" * 300,
    "a: !<%C0%80> [x]",
    "节点: {a: [é, '\U0001f600']}\n",
)
ROUNDS = 1500
ALLOWED = 200
"""Blocks of memory that Python itself may keep."""
ALLOWED_PAGES = 256


class Value(NamedTuple):
    """A value with a field of each kind."""

    text: str
    more: tuple[str, ...] = ()


@memoize_last_call
def joined(one: str, two: str) -> str:
    return one + two


def make_values(text: str) -> None:
    made: Any = Value
    assert made(text) == made(text=text, more=()) == made(text, ())
    for wrong in ({}, {"text": text, "other": text}):
        with contextlib.suppress(TypeError):
            made(**wrong)
    with contextlib.suppress(TypeError):
        made(text, text, text)
    assert joined(text, text) == joined(text, two=text)


def read_all() -> None:
    for text in TEXTS:
        list(parse(text))
        abandoned = parse(text)
        next(abandoned)
        compiled.words([text, {text: text}])
        compiled.absent(text, (text, "absent"))
        compiled.lookup({text: [text]}, (text, 0, text))
        make_values(text)


def pages() -> int:
    """Of the process, in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_nothing_is_kept() -> None:
    for _ in range(200):
        read_all()
    gc.collect()
    blocks, before = sys.getallocatedblocks(), pages() if sys.platform == "linux" else 0
    for _ in range(ROUNDS):
        read_all()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < ALLOWED
    if sys.platform == "linux":
        assert pages() - before < ALLOWED_PAGES
