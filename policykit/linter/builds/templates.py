"""Where the templates of charts say what stands in a rendered object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from policykit.linter.builds.kustomization import Chart
from policykit.linter.reader import source_comments
from policykit.manifests.node import Span
from policykit.namedtuple import NamedTuple

_MOST = 200
"""Lines of a template that are compared for one place: with more, the first ones are as good."""


class TemplatePlace(NamedTuple):
    """A place in a template."""

    file: str
    """Absolute, links resolved."""
    span: Span
    literal: bool
    """The template states the text itself; else it comes from values or functions."""


class Templates:
    """The templates that a stream of rendered objects comes from."""

    def __init__(self, rendered: str, charts: Iterable[Chart], text_of: Callable[[str], str]) -> None:
        self._lines = rendered.split("\n")
        self._comments = source_comments(rendered)
        self._charts = tuple(charts)
        self._text_of = text_of
        self._known: dict[str, _Template] = {}

    def place(self, span: Span) -> TemplatePlace | None:
        """The place of rendered text; None: its template is not known."""
        at = span.line - 1
        before = [(line, said) for line, said in self._comments if line <= at]
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

    def _file(self, said: str) -> str:
        """`gateway/charts/common/templates/a.yaml` stands in the chart that calls itself gateway."""
        name, _, path = said.partition("/")
        return next(
            (chart.files[path] for chart in self._charts if chart.name == name and path in chart.files), ""
        )


class _Template:
    """The lines of a template, and where each stands."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._by_text: dict[str, list[int]] = {}
        self._by_key: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            self._by_text.setdefault(line.strip(), []).append(number)
            self._by_key.setdefault(_key(line), []).append(number)

    def says(self, number: int, rendered: str) -> bool:
        """Whether a line is written as it is rendered."""
        return self.lines[number].strip() == rendered.strip()

    def whole(self, number: int) -> Span:
        """All of a line but its indentation."""
        line = self.lines[number] if number < len(self.lines) else ""
        return Span(number + 1, _indent(line) + 1, number + 1, max(len(line.rstrip()), _indent(line)) + 1)

    def find(self, rendered: Sequence[str], first: int, at: int) -> int | None:
        """The line that a rendered line comes from: the same text, else the same key, else that of the
        nearest line above it in the object for which there is one.
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
        """The line of an object's kind, else the first one."""
        for line in rendered[first:]:
            if line.startswith("kind:"):
                return next(iter(self._by_text.get(line.strip(), ())), 0)
        return 0

    def _best(self, candidates: Sequence[int], rendered: Sequence[str], chain: Sequence[int]) -> int | None:
        """Of lines the one below the most of the same keys."""
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
    """The lines that a line stands below, by indentation, the nearest one first."""
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
    """Indentation; an item of a list stands deeper than the key it belongs to."""
    return _indent(line) * 2 + line.lstrip().startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _key(line: str) -> str:
    """The key that a line states, with the dash of its item; empty: none."""
    text = line.strip()
    key, colon, _ = text.partition(":")
    return key if colon and "{{" not in key and '"' not in key else ""
