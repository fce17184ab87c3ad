"""What a run takes from the cache, and leaves there: for runs that are large enough to be worth it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from policykit.cli.linting.gather import STDIN, Gathered
from policykit.cli.policy import files_of
from policykit.errors import SourceError
from policykit.sources.files import read

if TYPE_CHECKING:
    from policykit.cache.results import Results
    from policykit.linter.finding import Report

_WORTH = 100_000
"""Bytes of manifests below which looking things up takes longer than finding them."""


@contextmanager
def results_of(gathered: Gathered) -> Iterator[Results | None]:
    """What files gave in earlier runs, and what is new afterwards; None: it is not worth it."""
    if not _is_worth(gathered):
        yield None
        return
    from policykit.cache import results

    found = results.load(gathered.cache)
    yield found
    results.store(gathered.cache, found)


def unchanged(
    gathered: Gathered, paths: Sequence[str], about: tuple[object, ...], lint: Callable[[], Report]
) -> Report:
    """What `lint` gives, or gave when every file and setting was as it is.

    `about`: what else it depends on. Where files beside those of the run have a say, it is always
    made anew.
    """
    key = _key(gathered, about) if _is_worth(gathered) and _alone(gathered, paths) else None
    if key is None:
        return lint()
    from policykit.cache import reports

    found = reports.load(gathered.cache, key, frozenset(member.path for member in gathered.members))
    if found is None:
        found = lint()
        reports.store(gathered.cache, key, found)
    return found


def _is_worth(gathered: Gathered) -> bool:
    """Whether the run is large enough, and may be cached; its settings have fingerprints then."""
    if gathered.timed or not gathered.cache.folder or sum(gathered.sizes) < _WORTH:
        return False
    from policykit.cache.policies import fingerprint

    for number, (setting, source) in enumerate(zip(gathered.settings, gathered.sources, strict=True)):
        if setting.fingerprint == b"":
            found = fingerprint(files_of(source, gathered.cache), read) if setting.cluster else b"none"
            gathered.settings[number] = setting._replace(fingerprint=found)
    return True


def _alone(gathered: Gathered, paths: Sequence[str]) -> bool:
    """Whether every file that could have a say is a file of the run."""
    if (
        STDIN in paths
        or gathered.excludes
        or any(setting.fingerprint is None for setting in gathered.settings)
    ):
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

    from policykit.cache.reports import KEY

    digest = blake2b(digest_size=KEY)
    for part in _parts(gathered, about):
        digest.update(repr(part).encode("utf-8", errors="surrogatepass"))
    for member in gathered.members:
        try:
            raw = gathered.read(member.file)
        except SourceError:
            return None
        digest.update(f"{tuple(member)!r} {len(raw)}\0".encode("utf-8", errors="surrogatepass"))
        digest.update(raw)
    return digest.digest()


def _parts(gathered: Gathered, about: tuple[object, ...]) -> Iterator[object]:
    yield about
    for setting in gathered.settings:
        chosen = setting.selection
        yield (setting.fingerprint, setting.namespace, setting.plugins)
        yield (sorted(chosen.codes), chosen.errors_only, chosen.below)
        yield sorted(chosen.severities.items()), [(glob, sorted(codes)) for glob, codes in chosen.per_path]
