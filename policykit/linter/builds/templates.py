"""Finds the lines of chart templates that rendered objects come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from policykit.linter.input_file import Chart
from policykit.linter.reader import source_comments
from policykit.manifests.node import Span
from policykit.namedtuple import NamedTuple

_MOST = 200
"""Most lines of a template that are compared for one location."""


class TemplatePlace(NamedTuple):
    """A location in a template."""

    file: str
    """Absolute, links resolved."""
    span: Span
    literal: bool
    """Whether the template has the text itself; if not, it comes from values or functions."""


class Templates:
    """The templates that a stream of rendered objects comes from."""

    def __init__(self, rendered: str, charts: Iterable[Chart], text_of: Callable[[str], str]) -> None:
        self._lines = rendered.split("\n")
        self._comments = source_comments(rendered)
        self._charts = tuple(charts)
        self._text_of = text_of
        self._known: dict[str, _Template] = {}

    def place(self, span: Span) -> TemplatePlace | None:
        """The location of rendered text in its template; None: the template is unknown."""
        at = span.line - 1
        before = [(line, origin) for line, origin in self._comments if line <= at]
        file = self._file(before[-1][1]) if before else ""
        if not file:
            return None
        if file not in self._known:
            self._known[file] = _Template(self._text_of(file).split("\n"))
        first = before[-1][0] + 1
        found = self._known[file].find(self._lines, first, at)
        if found is None:
            found = self._known[file].start(self._lines, first)
            return TemplatePlace(file, self._known[file].whole(found), False)
        if not self._known[file].says(found, self._lines[at]):
            return TemplatePlace(file, self._known[file].whole(found), False)
        shift = _indent(self._known[file].lines[found]) - _indent(self._lines[at])
        start = max(1, span.column + shift)
        end = span.end_column + shift if span.end_line == span.line else 0
        whole = self._known[file].whole(found)
        return TemplatePlace(file, Span(found + 1, start, found + 1, end or whole.end_column), True)

    def _file(self, origin: str) -> str:
        """The file of `gateway/charts/common/templates/a.yaml`, which is in the chart named gateway."""
        name, _, path = origin.partition("/")
        return next(
            (chart.files[path] for chart in self._charts if chart.name == name and path in chart.files), ""
        )


class _Template:
    """The lines of a template, with indices to find them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._by_text: dict[str, list[int]] = {}
        self._by_key: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            self._by_text.setdefault(line.strip(), []).append(number)
            self._by_key.setdefault(_key(line), []).append(number)

    def says(self, number: int, rendered: str) -> bool:
        """Whether a line is rendered unchanged."""
        return self.lines[number].strip() == rendered.strip()

    def whole(self, number: int) -> Span:
        """The span of a line, without its indentation."""
        line = self.lines[number] if number < len(self.lines) else ""
        return Span(number + 1, _indent(line) + 1, number + 1, max(len(line.rstrip()), _indent(line)) + 1)

    def find(self, rendered: Sequence[str], first: int, at: int) -> int | None:
        """The line that a rendered line comes from: one with the same text, or the same key, or else that of
        the nearest line above it in the object that is found.
        """
        chain = _above(rendered, first, at)
        for number, line in enumerate((at, *chain)):
            text = rendered[line]
            found = self._best(self._by_text.get(text.strip(), ()), rendered, chain[number:])
            if found is None and _key(text):
                same = [each for each in self._by_key.get(_key(text), ()) if "{{" in self.lines[each]]
                found = self._best(same, rendered, chain[number:])
            if found is not None:
                return found
        return None

    def start(self, rendered: Sequence[str], first: int) -> int:
        """The line with an object's kind, or else the first one."""
        for line in rendered[first:]:
            if line.startswith("kind:"):
                return next(iter(self._by_text.get(line.strip(), ())), 0)
        return 0

    def _best(self, candidates: Sequence[int], rendered: Sequence[str], chain: Sequence[int]) -> int | None:
        """The candidate with the most parent keys in common."""
        wanted = [_key(rendered[line]) or rendered[line].strip() for line in chain]

        def alike(number: int) -> int:
            keys = [_key(self.lines[line]) for line in _above(self.lines, 0, number)]
            count = 0
            for key in wanted:
                if key in keys:
                    keys = keys[keys.index(key) + 1 :]
                    count += 1
            return count

        return max(candidates[:_MOST], key=alike, default=None) if candidates else None


def _above(lines: Sequence[str], first: int, at: int) -> list[int]:
    """The parent lines of a line, by indentation, nearest first."""
    found = []
    indent = _depth(lines[at])
    for number in range(at - 1, first - 1, -1):
        line = lines[number]
        if line.strip() and not line.lstrip().startswith(("{{", "#", "---")) and _depth(line) < indent:
            indent = _depth(line)
            found.append(number)
            if not indent:
                break
    return found


def _depth(line: str) -> int:
    """Indentation of a line; an item of a list is deeper than its key."""
    return _indent(line) * 2 + line.lstrip().startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _key(line: str) -> str:
    """The key in a line, with the dash of its list item; empty: none."""
    text = line.strip()
    key, colon, _ = text.partition(":")
    return key if colon and "{{" not in key and '"' not in key else ""
