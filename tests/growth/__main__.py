"""Runs each shape at n, 2n and 4n in this process and prints the steps as JSON: `python -m tests.growth`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.growth import steps
from tests.growth.shapes import SHAPES, Shape

_TIMES = (1, 2, 4)


def counted(shape: Shape) -> list[int]:
    """Steps at n, 2n and 4n, after a first run that imports what the command needs."""
    return [_steps(shape, shape.size * times) for times in (1, *_TIMES)][1:]


def _steps(shape: Shape, n: int) -> int:
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
                return steps.count(shape.work or (lambda: run(shape.words)))
        finally:
            os.chdir("/")


if __name__ == "__main__":
    steps.watch("policykit")
    json.dump({name: counted(shape) for name, shape in SHAPES.items()}, sys.stdout)
