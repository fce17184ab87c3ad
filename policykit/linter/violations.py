"""Converts a violation to a finding: its location, and the rule's code, name and severity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.linter.finding import Finding, Resource, TextFix
from policykit.linter.location import FieldLocation, LocatedObject
from policykit.linter.rule import AnyRule, Violation
from policykit.linter.scope import FactField
from policykit.manifests.node import Span
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.rule import DeclaredPolicy


class Location(NamedTuple):
    """The location at which a finding is reported."""

    path: str
    """The file, as reported."""
    place: FieldLocation
    document: int = 0
    """Index of the document in the file."""
    resource: Resource | None = None
    """None: the finding is not about an object."""


def locate(
    violation: Violation, path: str, subject: LocatedObject | DeclaredPolicy | None = None, document: int = 0
) -> Location:
    """The location of a violation that a rule found in the file `path`.

    `subject` resolves paths. Violations at a span or at a field of a fact do not need it.
    """
    at = violation.at
    if isinstance(at, FactField):
        return Location(at.fact.path, at.place, at.fact.document, at.fact.resource)
    if isinstance(at, Span):
        return Location(path, FieldLocation(at, ()), document)
    if isinstance(subject, LocatedObject):
        place = subject.place(at, key=violation.key, inside=violation.inside, part=violation.part)
        return Location(path, place, subject.document, subject.resource)
    if subject is None:
        raise TypeError(f"nothing resolves the path of the violation {violation.message!r}")
    declared_in, span = subject.at(at, violation.key)
    return Location(declared_in, FieldLocation(span, at))


def finding_of(
    rule: AnyRule, violation: Violation, location: Location, fix: TextFix | None = None
) -> Finding:
    """The finding that a violation of a rule is reported as."""
    return Finding(
        location.path,
        location.place.span,
        rule.code,
        rule.name,
        violation.severity or rule.severity,
        violation.message,
        violation.help,
        location.document,
        location.resource,
        location.place.pointer,
        fix,
        location.place.field,
    )
