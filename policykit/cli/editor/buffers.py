"""Texts as an editor holds them, linted where their files stand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from policykit import api
from policykit.cli import policy
from policykit.cli.linting.gather import Gathered
from policykit.cli.linting.policies import policies_of
from policykit.cli.linting.today import today
from policykit.errors import PolicyError, PolicykitError, UsageError
from policykit.linter.finding import Finding
from policykit.sources import fresh


class Told(NamedTuple):
    """What there is to say of one text."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[PolicykitError, ...] = ()
    """Why a policy or settings could not be used; one with a place is a mistake of that file."""


def lint(path: str, texts: Mapping[str, str], *, whole: bool = True, reference: str = "") -> Told:
    """The findings of a text, with their fixes.

    `path` is absolute and among `texts`: each counts instead of its file. `whole`: together with the
    scope that the file stands in. `reference` is the policy, empty for the nearest.
    """
    policy.forget()
    fresh.forget()
    raw = {name: text.encode("utf-8", errors="surrogatepass") for name, text in texts.items()}
    try:
        gathered = Gathered(reference, texts=raw)
        gathered.gather_text(path, whole=whole)
        found = api.lint(
            gathered.members,
            gathered.settings,
            gathered.read,
            gathered.surroundings,
            workers=1,
            fixes=True,
            today=today(),
            policies=policies_of(gathered) if whole else (),
        )
    except UsageError as error:
        return Told((), (error,))
    here = tuple(finding for finding in found.findings if finding.path == path)
    return Told(here, _failures(path, reference, gathered))


def _failures(path: str, reference: str, gathered: Gathered) -> tuple[PolicykitError, ...]:
    """The mistakes of the policy, each by itself; whatever else stood in the way."""
    if not gathered.failures:
        return ()
    try:
        policy.cluster_for(os.path.dirname(path), reference or None)
    except PolicyError as error:
        return error.problems
    except PolicykitError as error:
        return (error,)
    return tuple(PolicykitError(failure) for failure in gathered.failures)
