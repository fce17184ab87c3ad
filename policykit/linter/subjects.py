"""What rules look at beside manifests: the text as read, and the shape of an object."""

from __future__ import annotations

from typing import NamedTuple

from policykit.kube.structure import Problem
from policykit.linter.rule import MakeFix
from policykit.manifests.document import Manifest
from policykit.manifests.node import Span
from policykit.manifests.parser import Parsed


class Reading(NamedTuple):
    """One document as it was read, with the text of its whole file."""

    text: str
    parsed: Parsed


class TextViolation(NamedTuple):
    """What a rule about a Reading says: the place is in the file, not in an object."""

    span: Span
    message: str
    help: str = ""


class Structure(NamedTuple):
    """An object and the faults of its shape."""

    manifest: Manifest
    problems: tuple[Problem, ...]


class SuppressionViolation(NamedTuple):
    """What a rule about a Suppressed says: the place is the suppression itself."""

    message: str
    help: str = ""
    fix: MakeFix | None = None


class StaleEntry(NamedTuple):
    """An entry of a baseline that accepts more than a run has found."""

    finding: str
    """What it accepts, as people say it."""
    accepted: int
    found: int
    span: Span
    """Its place in the baseline."""
