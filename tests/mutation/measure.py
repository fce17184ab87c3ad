"""Puts faults into clean files, lints them, and counts what is found."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from policykit import api
from tests.mutation.clean import Clean, Subject
from tests.mutation.fault import Change, Fault, changed_lines, injected
from tests.mutation.policies import under


class Try(NamedTuple):
    """One fault in one file."""

    kind: str
    file: str
    policy: str
    place: str
    """Kind of the object, with the path or the line of the change."""
    found: bool
    exactly: bool
    """One of the findings points at a line that the fault changed."""
    said: tuple[str, ...]
    """Codes of all findings."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.kind, self.policy, self.file, self.place)


class _Site(NamedTuple):
    clean: Clean
    subject: Subject
    change: Change
    number: int

    @property
    def order(self) -> int:
        """The same in every run, and without regard to files that come and go."""
        words = f"{self.clean.name} {self.clean.policy} {self.subject.manifest.kind} {self.number}"
        return crc32(words.encode())


def tries(fault: Fault, files: Sequence[Clean], most: int | None = None) -> Iterator[Try]:
    """Every place where a kind of fault can stand, or `most` of them, always the same."""
    sites = sorted(_sites(fault, files), key=lambda site: site.order)
    yield from islice(_tried(fault, sites), most)


def _sites(fault: Fault, files: Sequence[Clean]) -> Iterator[_Site]:
    for clean in files:
        for subject in clean.subjects:
            for number, change in enumerate(fault.inject(subject)):
                yield _Site(clean, subject, change, number)


def _tried(fault: Fault, sites: Sequence[_Site]) -> Iterator[Try]:
    seen: set[tuple[str, str]] = set()
    for site in sites:
        text = injected(site.subject, site.change)
        if text is None or (site.clean.policy, text) in seen:
            continue
        seen.add((site.clean.policy, text))
        yield _judged(fault, site, text)


def _judged(fault: Fault, site: _Site, text: str) -> Try:
    findings = api.lint_texts({"manifest.yaml": text.encode()}, under(site.clean.policy)).findings
    first, last = changed_lines(site.clean.text, text)
    about = [
        one
        for one in findings
        if one.code in fault.codes and (fault.elsewhere or one.document == site.subject.outer)
    ]
    exactly = any(first - 1 <= one.span.line <= last + 1 for one in about)
    place = f"{site.subject.manifest.kind}:{first}"
    said = tuple(sorted({one.code for one in findings}))
    return Try(fault.kind, site.clean.name, site.clean.policy, place, bool(about), exactly, said)
