"""Runs each shape, and each rule about scopes, at n, 2n and 4n in this process and prints the steps as JSON:
`python -m tests.growth`.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import sys
from collections.abc import Callable
from functools import _lru_cache_wrapper, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from tests.growth import steps
from tests.growth.shapes import SHAPES, Shape

T = TypeVar("T")
_TIMES = (1, 2, 4)


def counted(shape: Shape) -> list[int]:
    """Steps at n, 2n and 4n, after a first run that imports what the command needs.

    Each is counted in a process of its own, with empty caches of functions: none profits from what another
    run, of this or of other shapes, left there, such as lines that were searched.
    """
    _in_folder(shape, shape.size, lambda work: work())
    return [_apart(partial(_in_folder, shape, shape.size * times, steps.count)) for times in _TIMES]


def _apart(work: Callable[[], int]) -> int:
    """The result of some work in a forked process. Raises RuntimeError if it fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            _clear_caches()
            os.write(writing, str(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as result:
        text = result.read()
    os.waitpid(child, 0)
    if not text:
        raise RuntimeError("a shape could not be counted")
    return int(text)


def _clear_caches() -> None:
    for each in gc.get_objects():
        if isinstance(each, _lru_cache_wrapper) and each.__module__.startswith("policykit."):
            each.cache_clear()


def _in_folder(shape: Shape, n: int, call: Callable[[Callable[[], object]], T]) -> T:
    from policykit.cli import run

    with TemporaryDirectory() as folder:
        for name, text in shape.files(n).items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            with (
                contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                return call(shape.work or (lambda: run(shape.words)))
        finally:
            os.chdir("/")


if __name__ == "__main__":
    steps.watch("policykit")
    from tests.growth import scope_rules

    found = {name: counted(shape) for name, shape in SHAPES.items()}
    found |= {rule.code: scope_rules.counted(rule) for rule in scope_rules.scope_rules()}
    json.dump(found, sys.stdout)
