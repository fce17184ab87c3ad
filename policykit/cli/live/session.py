"""A look at a cluster from the command line: the connection, its progress, and what could not be read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from policykit.cli.output import print_escaped, print_message
from policykit.escape import one_line
from policykit.live.access import Access
from policykit.live.connection import connect
from policykit.live.reading import Reading


@contextmanager
def reading(access: Access) -> Iterator[Reading]:
    """A connection for a block. Raises ClusterError and UsageError."""
    progress = _Progress()
    client = connect(access)
    try:
        yield Reading(client, progress)
    finally:
        progress.end()
        client.close()


def tell(read: Reading, *, absent: bool = True) -> None:
    """Prints what was not read, and why; `absent`: also what is not installed."""
    for gap in read.gaps:
        print_message(f"policykit: {gap.resource} not read: {gap.reason}")
    if absent and read.absent:
        print_message(f"policykit: not installed, so not read: {', '.join(sorted(_absent(read)))}")


def _absent(read: Reading) -> set[str]:
    """API groups of which nothing is there, and of others the kinds that are not."""
    groups = {kind.group for kind in read.present}
    return {kind.group if kind.group and kind.group not in groups else kind.shown for kind in read.absent}


class _Progress:
    """A line on a terminal that says how far reading has come."""

    def __init__(self) -> None:
        self._shown = 0
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, what: str, number: int) -> None:
        if self._on:
            line = one_line(f"reading {what}: {number}")
            print_escaped(f"\r{line:<{self._shown}}\r", newline=False)
            self._shown = len(line)

    def end(self) -> None:
        """Clears the line."""
        if self._shown:
            print_escaped(f"\r{'':<{self._shown}}\r", newline=False)
            self._shown = 0
