"""Shell scripts with quoted arguments, and commands for batches of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from policykit.escape import one_line
from policykit.model.pool import Shape

BATCH = 50
"""Most nodes in one command, so that it stays readable."""


def script(comments: Iterable[str], commands: Iterable[str]) -> str:
    """A POSIX shell script that stops at the first error."""
    says = "".join(f"# {comment}\n" for comment in comments)
    return f"#!/bin/sh\n{says}set -eu\n\n" + "\n".join(commands)


def command(words: str, *groups: Iterable[str]) -> str:
    """A command: `words` unquoted, then each group of arguments, quoted, on a line of its own."""
    quoted = ([quote(one_line(argument)) for argument in group] for group in groups)
    lines = [words, *(" ".join(group) for group in quoted if group)]
    return " \\\n  ".join(lines) + "\n"


def node_arguments(shape: Shape) -> Iterator[list[str]]:
    """The nodes of a shape as arguments of kubectl: batches of names, or a selector; maybe neither."""
    names = sorted(shape.node_names)
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]
    if shape.selector and not names:
        yield ["-l", ",".join(f"{key}={value}" for key, value in sorted(shape.selector.items()))]


def is_reachable(shape: Shape) -> bool:
    """Whether kubectl can select these nodes by name or label."""
    return bool(shape.node_names or shape.selector)
