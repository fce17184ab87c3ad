"""Findings for a text that is open in an editor, whether or not it has been saved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from policykit import api
from policykit.errors import PolicyError, PolicykitError, UsageError
from policykit.linter.finding import Finding, listed
from policykit.linter.workspace import Options
from policykit.namedtuple import NamedTuple
from policykit.workspace.cache.folder import NO_CACHE, Cache
from policykit.workspace.command_state import reset
from policykit.workspace.gitops.clusters import policies_of
from policykit.workspace.linting.loader import open_text
from policykit.workspace.linting.request import Request, today
from policykit.workspace.policies import bases_of, compiled_policy


class TextDiagnostics(NamedTuple):
    """Findings and failures for one text."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[PolicykitError, ...] = ()
    """Errors in the policy or settings; one with a place belongs to that file."""
    policy: frozenset[str] = frozenset()
    """Absolute paths of the files of its policies."""


def lint(
    path: str, texts: Mapping[str, str], *, whole: bool = True, reference: str = "", cache: Cache = NO_CACHE
) -> TextDiagnostics:
    """The findings of a text, with their fixes.

    `path` is absolute. `texts` replace the files at their paths, policies included. `whole`:
    together with the scope of the file, and as kustomize builds the saved files for each cluster that applies
    it; else it is judged as it is written. `reference` is the policy, empty for those of the repository;
    `cache` contains compiled policies.
    """
    reset({name: text.encode("utf-8", errors="surrogatepass") for name, text in texts.items()})
    policies = (reference,) if reference else policies_of(path)
    policy_files = frozenset(file for policy in policies for file in _policy_files(policy, cache))
    try:
        workspace, notes = open_text(
            path, Request((path,), (reference,) if reference else (), cache=cache), whole=whole
        )
        found = api.lint(workspace, Options(fixes=True, today=today(), workers=1))
    except UsageError as error:
        return TextDiagnostics((), (error,), policy_files)
    names = {each.cluster.name for each in workspace.settings if each.cluster}
    here = tuple(_for_whom(finding, names) for finding in found.findings if finding.path == path)
    failures = (*_failures(policies, notes.failures, cache), *_errors(found.failures))
    return TextDiagnostics(here, failures, policy_files)


def _for_whom(finding: Finding, names: set[str]) -> Finding:
    """With the clusters that it is for, if the file has others."""
    if not finding.clusters or names <= {*finding.clusters}:
        return finding
    noun = "cluster" if len(finding.clusters) == 1 else "clusters"
    return finding._replace(message=f"{finding.message} ({noun} {listed(finding.clusters)})")


def _policy_files(reference: str, cache: Cache) -> frozenset[str]:
    """Files of a policy, even of an invalid one: an edit of any of them may correct it."""
    try:
        files = compiled_policy(reference, cache).files
    except PolicykitError:
        files = (reference, *bases_of(reference))
    return frozenset(os.path.abspath(file) for file in files if not file.startswith("profile:"))


def _failures(policies: Sequence[str], failures: tuple[str, ...], cache: Cache) -> tuple[PolicykitError, ...]:
    """The errors of the policies, one by one; if there are none, the other failures."""
    found: dict[str, PolicykitError] = {}
    for policy in policies if failures else ():
        try:
            compiled_policy(policy, cache)
        except PolicyError as error:
            found |= {str(problem): problem for problem in error.problems}
        except PolicykitError as error:
            found[str(error)] = error
    return tuple(found.values()) or _errors(failures)


def _errors(failures: Iterable[str]) -> tuple[PolicykitError, ...]:
    parts = (failure.partition("\n  help: ") for failure in failures)
    return tuple(PolicykitError(message, hint) for message, _, hint in parts)
