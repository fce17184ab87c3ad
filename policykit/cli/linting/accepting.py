"""The baselines of a run: which one governs a file, what it accepts, what it accepts in vain."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext

from policykit.cli.linting.gather import STDIN, Gathered
from policykit.linter.baseline import Key, Locate, hide, stale
from policykit.linter.finding import Finding
from policykit.linter.member import Member
from policykit.linter.plan import Setting
from policykit.linter.registry import BASELINE
from policykit.linter.rule import Context
from policykit.sources.baselines import Source, load, shown_as
from policykit.sources.boundary import within

Left = dict[str, Counter[Key]]
"""What each baseline can still accept, by its path."""


class Accepting:
    """The baselines that speak in a run; made once its files are known."""

    def __init__(
        self, gathered: Gathered, paths: Sequence[str], governing: Mapping[str, str], *, named: bool = False
    ) -> None:
        """`governing`: the baselines of the run by the files, or names in folders, that they govern.

        One that cannot be read, or is none, is a failure of the run and accepts nothing; where the
        command line `named` it, SourceError is raised.
        """
        self._gathered = gathered
        self._paths = paths
        self._sources: dict[str, Source] = {}
        for path in sorted(set(governing.values())):
            with nullcontext() if named else gathered.failures.told(shown_as(path)):
                self._sources[path] = load(path)
        self._governing = {file: path for file, path in governing.items() if path in self._sources}

    def fresh(self) -> Left:
        """All that is accepted."""
        return {path: Counter(source.baseline.accepted) for path, source in self._sources.items()}

    def known(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those of which it is known whether they are accepted."""
        broken = {*self._governing.values()} - self._sources.keys()
        return [finding for finding in findings if self._governing.get(finding.path) not in broken]

    def kept(self, findings: Iterable[Finding], left: Left) -> list[Finding]:
        """The findings that are not accepted; takes what it uses from `left`."""
        kept: list[Finding] = []
        for finding in findings:
            path = self._governing.get(finding.path)
            locate = from_folder(os.path.dirname(path)) if path else None
            kept.extend(hide([finding], left[path], locate)[0] if path and locate else [finding])
        return kept

    def stale(self, left: Left) -> Iterator[Finding]:
        """What is accepted in vain, of the baselines whose every file the run has looked at."""
        for path, source in self._sources.items():
            if self._gathered.failures or uncovered(source, self._paths):
                continue
            members = [m for m in self._gathered.members if self._governing.get(m.path) == path]
            settings = settings_of(self._gathered, members)
            codes = spoken(settings)
            shown = shown_as(path)
            for entry in stale(source.baseline, left[path], codes, source.text):
                for rule in settings[0].rules.of(BASELINE):
                    for said in rule.check(entry, Context(path=shown)):
                        finding = Finding(
                            shown, entry.span, rule.code, rule.name, rule.severity, said.message, said.help
                        )
                        yield from settings[0].selection.apply([finding])


def from_folder(folder: str) -> Locate:
    """Reported paths as seen from the folder of a baseline."""
    return lambda path: os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")


def uncovered(source: Source, paths: Sequence[str]) -> list[str]:
    """What a baseline speaks of and none of the paths means; what is gone need not be looked at."""
    given = [os.path.abspath(path) for path in paths if path != STDIN]
    places = [os.path.normpath(os.path.join(source.folder, path)) for path in source.baseline.covers]
    return [
        place for place in places if os.path.lexists(place) and not any(within(place, path) for path in given)
    ]


def settings_of(gathered: Gathered, members: Sequence[Member]) -> list[Setting]:
    """What governs the files, at least one: without files, what holds where there is no policy."""
    return [gathered.settings[number] for number in sorted({member.setting for member in members}) or [0]]


def spoken(settings: Sequence[Setting]) -> frozenset[str]:
    """Codes of the rules that could speak of every file."""
    return frozenset.intersection(*(setting.selection.codes & setting.rules.codes() for setting in settings))
