"""Faults of writing YAML: what is read is not what was meant, or nothing at all."""

import re
from collections.abc import Callable, Iterator

from tests.mutation.clean import Subject
from tests.mutation.fault import Change, fault
from tests.mutation.places import has_schema

_KEY = re.compile(r"( +)([A-Za-z][\w.-]*): (\S.*)$")
_PLAIN = re.compile(r"[\w./:-]+$")


def _lines(subject: Subject) -> Iterator[tuple[int, str]]:
    """Lines of the object's own structure: `key: value` in block style, its neighbours alike."""
    manifest = subject.manifest
    if manifest.holder or manifest.base:
        return
    lines = subject.text.split("\n")
    quoted = _inside_scalars(lines)
    for number in range(manifest.node.start.line + 1, min(manifest.node.end.line, len(lines) - 1)):
        if number not in quoted and _KEY.match(lines[number]):
            yield number, lines[number]


def _inside_scalars(lines: list[str]) -> set[int]:
    """Lines of block scalars and of values that go on over several lines."""
    found: set[int] = set()
    column = -1
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if column >= 0 and (indent > column or not line.strip()):
            found.add(number)
            continue
        column = -1
        if re.search(r"[|>][+-]?\d?\s*$", line) or line.count('"') % 2 or line.count("'") % 2:
            column = indent
    return found


def _by_line(
    change: Callable[[list[str], int, re.Match[str]], list[str] | None],
) -> Callable[[Subject], Iterator[Change]]:
    """A fault in one line, or in it and its neighbours."""

    def inject(subject: Subject) -> Iterator[Change]:
        for number, line in _lines(subject):
            match = _KEY.match(line)
            lines = subject.text.split("\n")
            made = change(lines, number, match) if match else None
            if made is not None:
                yield Change(text="\n".join(made))

    return inject


def _with(lines: list[str], number: int, *new: str) -> list[str]:
    return [*lines[:number], *new, *lines[number + 1 :]]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _tab(lines: list[str], number: int, match: re.Match[str]) -> list[str]:
    return _with(lines, number, "\t" + lines[number].lstrip(" "))


def _bracket(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    return _with(lines, number, lines[number][:-1]) if re.search(r": \[[^]]+\]$", lines[number]) else None


def _opened(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    return _with(lines, number, f"{match[1]}{match[2]}: [{match[3]}") if _PLAIN.match(match[3]) else None


def _quote(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    return _with(lines, number, f'{match[1]}{match[2]}: "{match[3]}') if _PLAIN.match(match[3]) else None


def _no_colon(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    if not _PLAIN.match(match[3]) or _indent(lines[number - 1]) != len(match[1]):
        return None
    return _with(lines, number, f"{match[1]}{match[2]} {match[3]}")


def _no_space(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    if not _PLAIN.match(match[3]) or _indent(lines[number - 1]) != len(match[1]):
        return None
    return _with(lines, number, f"{match[1]}{match[2]}:{match[3]}")


def _deeper(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    above = _KEY.match(lines[number - 1])
    if not above or above[1] != match[1] or not _PLAIN.match(above[3]):
        return None
    return _with(lines, number, " " + lines[number])


def _shallower(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    below, above = lines[number + 1], lines[number - 1]
    if len(match[1]) < 4 or _indent(below) != len(match[1]) or _indent(above) != len(match[1]):
        return None
    return None if below.lstrip().startswith("- ") else _with(lines, number, lines[number][1:])


def _twice(lines: list[str], number: int, match: re.Match[str]) -> list[str] | None:
    return _with(lines, number, lines[number], lines[number]) if _PLAIN.match(match[3]) else None


def _dash(subject: Subject) -> Iterator[Change]:
    """The dash of an item that is not the first one is left out."""
    lines = subject.text.split("\n")
    quoted = _inside_scalars(lines)
    if subject.manifest.holder or subject.manifest.base:
        return
    for number in range(
        subject.manifest.node.start.line + 1, min(subject.manifest.node.end.line, len(lines))
    ):
        match = re.match(r"( *)- (\w+: .+)$", lines[number])
        first = re.match(r"( *)- (\w+):", lines[number - 1])
        if (
            match
            and first
            and number not in quoted
            and first[1] == match[1]
            and match[2].startswith(first[2] + ":")
        ):
            yield Change(text="\n".join(_with(lines, number, f"{match[1]}  {match[2]}")))


def _dedented(subject: Subject) -> Iterator[Change]:
    """The block of a key stands at the key's own level."""
    lines = subject.text.split("\n")
    quoted = _inside_scalars(lines)
    manifest = subject.manifest
    if manifest.holder or manifest.base or not has_schema(subject):
        return
    for number in range(manifest.node.start.line + 1, min(manifest.node.end.line, len(lines) - 1)):
        opened = re.match(
            r"( *)(?:- )?(template|resources|spec|limits|securityContext|affinity|policies):$", lines[number]
        )
        column = len(lines[number]) - len(lines[number].lstrip(" -"))
        if not opened or number in quoted or _indent(lines[number + 1]) <= column:
            continue
        if lines[number + 1].lstrip().startswith("- "):
            continue  # the items of a list may stand there
        end = number + 1
        while end < len(lines) and (_indent(lines[end]) > column or not lines[end].strip()):
            end += 1
        shift = _indent(lines[number + 1]) - column
        block = [line[shift:] if line.strip() else line for line in lines[number + 1 : end]]
        yield Change(text="\n".join([*lines[: number + 1], *block, *lines[end:]]))


_BROKEN = "PK001 PK002 PK003 PK004 PK005"

FAULTS = (
    fault("a tab indents a line", "PK001", _by_line(_tab)),
    fault("a list is not closed", "PK001", _by_line(_bracket)),
    fault("a bracket opens for nothing", "PK001", _by_line(_opened)),
    fault("a quote is not closed", "PK001", _by_line(_quote)),
    fault("a colon is missing", "PK001", _by_line(_no_colon)),
    fault("no space behind a colon", _BROKEN, _by_line(_no_space)),
    fault("a line stands one column deeper", "PK001", _by_line(_deeper)),
    fault("a line stands one column to the left", "PK001", _by_line(_shallower)),
    fault("a block stands at the level of its key", _BROKEN, _dedented),
    fault("a dash is missing", _BROKEN, _dash),
    fault("a key stands twice", "PK002", _by_line(_twice)),
)
