"""Texts as an editor holds them, linted where their files stand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from policykit import api
from policykit.cli import policy
from policykit.cli.linting.request import Request, today
from policykit.cli.linting.workspace import open_text
from policykit.errors import PolicyError, PolicykitError, UsageError
from policykit.linter.finding import Finding
from policykit.linter.workspace import Options
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.disk import reset
from policykit.workspace.policies import bases_of, nearest_policy


class TextDiagnostics(NamedTuple):
    """Findings and failures for one text."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[PolicykitError, ...] = ()
    """Why a policy or settings could not be used; one with a place is a mistake of that file."""
    policy: frozenset[str] = frozenset()
    """Absolute paths of the files of its policy."""


def lint(
    path: str, texts: Mapping[str, str], *, whole: bool = True, reference: str = "", cache: Cache = NO_CACHE
) -> TextDiagnostics:
    """The findings of a text, with their fixes.

    `path` is absolute and among `texts`: each counts instead of its file, also that of a policy.
    `whole`: together with the scope that the file stands in. `reference` is the policy, empty
    for the nearest, and `cache` has policies that were compiled before.
    """
    reset({name: text.encode("utf-8", errors="surrogatepass") for name, text in texts.items()})
    made_of = _made_of(reference or nearest_policy(os.path.dirname(path)), cache)
    try:
        workspace, notes = open_text(path, Request(policy=reference, cache=cache), whole=whole)
        found = api.lint(workspace, Options(fixes=True, today=today(), workers=1))
    except UsageError as error:
        return TextDiagnostics((), (error,), made_of)
    here = tuple(finding for finding in found.findings if finding.path == path)
    failures = (*_failures(path, reference, notes.failures, cache), *_errors(found.failures))
    return TextDiagnostics(here, failures, made_of)


def _made_of(reference: str, cache: Cache) -> frozenset[str]:
    """Files of a policy; also where it is wrong, since mending one of them may mend it."""
    if not reference:
        return frozenset()
    try:
        files = policy.files_of(reference, cache)
    except PolicykitError:
        files = (reference, *bases_of(reference))
    return frozenset(os.path.abspath(file) for file in files if not file.startswith("profile:"))


def _failures(
    path: str, reference: str, failures: tuple[str, ...], cache: Cache
) -> tuple[PolicykitError, ...]:
    """The mistakes of the policy, each by itself; whatever else stood in the way."""
    if not failures:
        return ()
    try:
        policy.cluster_for(os.path.dirname(path), reference or None, cache)
    except PolicyError as error:
        return error.problems
    except PolicykitError as error:
        return (error,)
    return _errors(failures)


def _errors(failures: Iterable[str]) -> tuple[PolicykitError, ...]:
    parts = (failure.partition("\n  help: ") for failure in failures)
    return tuple(PolicykitError(message, hint) for message, _, hint in parts)
