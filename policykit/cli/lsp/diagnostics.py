"""Findings for a text that is open in an editor, whether or not it has been saved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from policykit import api
from policykit.cli.policy import cluster_for
from policykit.errors import PolicyError, PolicykitError, UsageError
from policykit.linter.finding import Finding
from policykit.linter.workspace import Options
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.compiled_policies import compiled_policy
from policykit.workspace.disk import reset
from policykit.workspace.linting.request import Request, today
from policykit.workspace.linting.workspace import open_text
from policykit.workspace.policies import bases_of, nearest_policy


class TextDiagnostics(NamedTuple):
    """Findings and failures for one text."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[PolicykitError, ...] = ()
    """Errors in the policy or settings; one with a place belongs to that file."""
    policy: frozenset[str] = frozenset()
    """Absolute paths of the files of its policy."""


def lint(
    path: str, texts: Mapping[str, str], *, whole: bool = True, reference: str = "", cache: Cache = NO_CACHE
) -> TextDiagnostics:
    """The findings of a text, with their fixes.

    `path` is absolute. `texts` replace the files at their paths, policies included. `whole`:
    together with the scope of the file. `reference` is the policy, empty for the nearest; `cache`
    contains compiled policies.
    """
    reset({name: text.encode("utf-8", errors="surrogatepass") for name, text in texts.items()})
    policy_files = _policy_files(reference or nearest_policy(os.path.dirname(path)), cache)
    try:
        workspace, notes = open_text(
            path, Request(policies=(reference,) if reference else (), cache=cache), whole=whole
        )
        found = api.lint(workspace, Options(fixes=True, today=today(), workers=1))
    except UsageError as error:
        return TextDiagnostics((), (error,), policy_files)
    here = tuple(finding for finding in found.findings if finding.path == path)
    failures = (*_failures(path, reference, notes.failures, cache), *_errors(found.failures))
    return TextDiagnostics(here, failures, policy_files)


def _policy_files(reference: str, cache: Cache) -> frozenset[str]:
    """Files of a policy, even of an invalid one: an edit of any of them may correct it."""
    if not reference:
        return frozenset()
    try:
        files = compiled_policy(reference, cache).files
    except PolicykitError:
        files = (reference, *bases_of(reference))
    return frozenset(os.path.abspath(file) for file in files if not file.startswith("profile:"))


def _failures(
    path: str, reference: str, failures: tuple[str, ...], cache: Cache
) -> tuple[PolicykitError, ...]:
    """The errors of the policy, one by one; if it has none, the other failures."""
    if not failures:
        return ()
    try:
        cluster_for(os.path.dirname(path), reference or None, cache)
    except PolicyError as error:
        return error.problems
    except PolicykitError as error:
        return (error,)
    return _errors(failures)


def _errors(failures: Iterable[str]) -> tuple[PolicykitError, ...]:
    parts = (failure.partition("\n  help: ") for failure in failures)
    return tuple(PolicykitError(message, hint) for message, _, hint in parts)
