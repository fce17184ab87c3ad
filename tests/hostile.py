"""What a hostile repository would like a terminal or a CI system to obey, and how to see that none does."""

from __future__ import annotations

import re

from hypothesis import strategies as st

HOSTILE = (
    "x\x1b]0;pwn\x07\x9b1A\r\n::add-mask::pwn\u2028\u202e##[add-mask]pwn ##vso[task.complete]]]>"
    "<b>&%0A`$(pwn)`"
)
"""Goes into names and values: all but NUL and `/`, which no file name holds."""

ODD = st.text(
    st.sampled_from("\x00\t\n\r\x1b\x7f\x85\x9b\u200f\u2028\u202e\ufeff\udcff\U000e0001:#[] a节<>&\"'\\|`%")
    | st.characters(exclude_categories=[])
)
"""Any text, mostly of characters that mean something to somebody."""

_OWN_COMMAND = re.compile(r"::(error|warning|notice) (file|title)=")
_OWN_COLOUR = re.compile(r"\x1b\[(?:0|1|2|1;3[136])m")
COMMAND = re.compile(r"\A\s*::|##\w*\[")
"""What GitHub's runner, Azure's agent and TeamCity obey in a line of a log."""


def obeyed(text: str) -> list[str]:
    """Lines of what was printed that a terminal or a CI system would act on, our own commands apart."""
    lines = [_OWN_COLOUR.sub("", line) for line in text.split("\n")]
    return [
        line
        for line in lines
        if not line.isprintable() or COMMAND.search(_OWN_COMMAND.sub("", line, count=1))
    ]
