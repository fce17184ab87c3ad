"""The whole report of an earlier run, taken again while nothing that it was made of has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.cli.linting.gather import STDIN, Gathered
from policykit.cli.linting.remembered import worth
from policykit.errors import SourceError
from policykit.sources import cache

if TYPE_CHECKING:
    from policykit.linter.finding import Report


def report_of(
    gathered: Gathered, paths: Sequence[str], about: tuple[object, ...], lint: Callable[[], Report]
) -> Report:
    """What `lint` gives, or gave when every file and setting was as it is.

    `about`: what else it depends on. Where files beside those of the run have a say, it is always
    made anew.
    """
    if not (worth(gathered) and _alone(gathered, paths)):
        return lint()
    key = _key(gathered, about)
    if key is None:
        return lint()
    from policykit.linter.finding import Report
    from policykit.pickles import DAMAGED, frozen, thawed

    raw = cache.load(cache.name_of("report"))
    try:
        kept, report = thawed(raw) if raw else (b"", None)
    except DAMAGED:
        kept, report = b"", None
    if kept == key and isinstance(report, Report):
        return report
    report = lint()
    if not report.failures:
        cache.store(cache.name_of("report"), frozen((key, report)))
    return report


def _alone(gathered: Gathered, paths: Sequence[str]) -> bool:
    """Whether every file that could have a say is a file of the run."""
    if STDIN in paths or gathered.excludes or any(setting.mark is None for setting in gathered.settings):
        return False
    folders = [os.path.join(os.path.realpath(path), "") for path in paths if os.path.isdir(path)]
    scopes = {member.scope for member in gathered.members}
    return all(
        not scope or any(os.path.join(os.path.realpath(scope), "").startswith(folder) for folder in folders)
        for scope in scopes
    )


def _key(gathered: Gathered, about: tuple[object, ...]) -> bytes | None:
    """Of the bytes of all files and of everything else; None: a file cannot be read."""
    from hashlib import blake2b

    digest = blake2b(cache.tool(), digest_size=32)
    for part in _parts(gathered, about):
        digest.update(repr(part).encode("utf-8", errors="surrogatepass"))
    for member in gathered.members:
        try:
            raw = gathered.read(member.file)
        except SourceError:
            return None
        digest.update(f"{member!r} {len(raw)}\0".encode("utf-8", errors="surrogatepass"))
        digest.update(raw)
    return digest.digest()


def _parts(gathered: Gathered, about: tuple[object, ...]) -> Iterator[object]:
    yield about
    for setting in gathered.settings:
        chosen = setting.selection
        yield (setting.mark, setting.namespace, setting.plugins)
        yield (sorted(chosen.codes), chosen.errors_only, chosen.below)
        yield sorted(chosen.severities.items()), [(glob, sorted(codes)) for glob, codes in chosen.per_path]
