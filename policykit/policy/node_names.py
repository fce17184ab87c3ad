"""Node names: ranges such as gpu-[01-16], and globs."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

_RANGE = re.compile(r"([^\[\]]*)\[([0-9]{1,18})-([0-9]{1,18})\]([^\[\]]*)\Z")
_GLOB = re.compile(r"[*?\[]")
LARGEST_RANGE = 100_000


def expand_range(name: str) -> tuple[str, ...] | None:
    """The names that a name or range stands for; None if the range is reversed or too long.

    The width of the first number is kept: gpu-[08-10] is gpu-08, gpu-09, gpu-10.
    """
    match = _RANGE.match(name)
    if not match:
        return (name,)
    before, first, last, after = match.groups()
    numbers = range(int(first), int(last) + 1)
    if not numbers or len(numbers) > LARGEST_RANGE:
        return None
    return tuple(f"{before}{number:0{len(first)}d}{after}" for number in numbers)


def matching_names(names: Collection[str], pattern: str) -> tuple[str, ...]:
    """The names that a name, range or glob matches. Only globs scan the whole mapping or set."""
    if _RANGE.match(pattern):
        return tuple(name for name in expand_range(pattern) or () if name in names)
    if _GLOB.search(pattern):
        return tuple(name for name in names if fnmatchcase(name, pattern))
    return (pattern,) if pattern in names else ()
