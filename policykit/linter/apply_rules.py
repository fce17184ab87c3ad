"""Applies the rules to the documents of one file and returns located findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from policykit.kube import structure as structures
from policykit.kube.podsets.podset import PodSet
from policykit.linter.configurations import EmbeddedConfiguration
from policykit.linter.finding import Finding
from policykit.linter.locate import finding_of, locate
from policykit.linter.location import LocatedObject
from policykit.linter.registry import COMPONENT, MANIFEST, PODS, READING, STRUCTURE, RuleSet
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.manifests.parser import ParsedDocument
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review, review

if TYPE_CHECKING:
    from policykit.linter.text_fixes import Fixes


class FileRules:
    """The rules for one file, with their context."""

    def __init__(
        self,
        rules: RuleSet,
        context: Context,
        fixes: Fixes | None,
        components: frozenset[str] = frozenset(),
    ) -> None:
        """`fixes` computes fixes of the file; None: findings have no fixes. `components`: workload kinds with
        generated components that a kustomization applies to the file.
        """
        self._rules = rules
        self._context = context
        self._fixes = fixes
        self._components = components
        self.unrecognized: list[str] = []
        """Objects whose pods request a card and have no workload kind."""

    def reading(self, text: str, parsed: ParsedDocument, index: int) -> Iterator[Finding]:
        """Findings about the text of a document."""
        if not parsed.problem and not parsed.duplicates:
            return
        from policykit.linter.subjects import SourceDocument

        for rule in self._rules.of(READING):
            for violation in self._rules.check(rule, SourceDocument(text, parsed), self._context):
                yield finding_of(rule, violation, locate(violation, self._context.path, document=index))

    def embedded(self, inner: EmbeddedConfiguration) -> Iterator[Finding]:
        """Findings about a configuration in a string: its syntax and its contents."""
        located = LocatedObject(inner.manifest, inner.text, inner.relocate)
        for found in self.reading(inner.text, inner.parsed, located.document):
            place = located.place(())
            yield found._replace(
                span=inner.relocate(found.span),
                resource=located.resource,
                pointer=place.pointer,
                field=place.field,
            )
        if inner.parsed.root is not None and not inner.parsed.problem:
            yield from self._by_kind(located, self._inside(inner))

    def configuration(self, located: LocatedObject) -> Iterator[Finding]:
        """Findings about a configuration that is a document of its own."""
        return self._by_kind(located, self._fixes)

    def object(self, located: LocatedObject, pod_sets: tuple[PodSet, ...]) -> Iterator[Finding]:
        """Findings about an object: its structure, its kind, then its pods."""
        yield from self._structure(located)
        yield from self._by_kind(located, self._fixes)
        context = self._context
        if self._components:
            yield from self._component(located, pod_sets)
        for pod_set in pod_sets:
            reviewed = review(located.manifest, pod_set, context.cluster, context.namespace)
            if reviewed.lacks_workload_kind:
                self.unrecognized.append(str(located.resource))
            for cause in causes(self._violations(reviewed)):
                yield self._finding(located, cause.rule, cause.violation, self._fixes, reviewed)

    def _component(self, located: LocatedObject, pod_sets: tuple[PodSet, ...]) -> Iterator[Finding]:
        from policykit.linter.subjects import ComponentObject

        manifest, context = located.manifest, self._context
        if manifest.partial:
            return
        reviews = [review(manifest, pod_set, context.cluster, context.namespace) for pod_set in pod_sets]
        kinds = {each.workload.name for each in reviews if each.workload}
        if not kinds and any(each.lacks_workload_kind for each in reviews):
            kinds = set(self._components)  # whoever includes the component of one kind means that kind
        if len(kinds) == 1 and kinds <= self._components:
            subject = ComponentObject(manifest, *kinds)
            for rule in self._rules.of(COMPONENT):
                for violation in self._rules.check(rule, subject, context):
                    yield self._finding(located, rule, violation, self._fixes)

    def _structure(self, located: LocatedObject) -> Iterator[Finding]:
        manifest, rules = located.manifest, self._rules
        problems = structures.check(manifest.data, manifest.api_version, manifest.kind, self._context.served)
        if not problems:
            return
        from policykit.linter.subjects import Structure

        structure = Structure(manifest, problems)
        for rule in rules.of(STRUCTURE):
            for violation in rules.check(rule, structure, self._context):
                yield self._finding(located, rule, violation, self._fixes)

    def _by_kind(self, located: LocatedObject, fixes: Fixes | None) -> Iterator[Finding]:
        manifest, rules = located.manifest, self._rules
        for rule in rules.of(MANIFEST, manifest.kind):
            for violation in rules.check(rule, manifest, self._context):
                yield self._finding(located, rule, violation, fixes)

    def _violations(self, reviewed: Review) -> Iterator[RuleViolation]:
        for rule in self._rules.of(PODS):
            for violation in self._rules.check(rule, reviewed, self._context):
                yield RuleViolation(rule, violation)

    def _inside(self, inner: EmbeddedConfiguration) -> Fixes | None:
        """Computes fixes inside a string; None: a string within a string cannot be edited."""
        holder = inner.manifest.holder
        if self._fixes is None or holder is None or inner.nested:
            return None
        return self._fixes.inside(holder, inner.manifest.held_at)

    def _finding(
        self,
        located: LocatedObject,
        rule: AnyRule,
        violation: Violation,
        fixes: Fixes | None,
        reviewed: Review | None = None,
    ) -> Finding:
        """Locates a violation and computes its fix if wanted."""
        location = locate(violation, self._context.path, located)
        fix = None
        if fixes:
            span = location.place.span
            fix = fixes.of(rule.code, span, located.manifest, violation.fix, reviewed)
        return finding_of(rule, violation, location, fix)


class RuleViolation(NamedTuple):
    """A violation with the rule that found it."""

    rule: AnyRule
    violation: Violation

    @property
    def severity(self) -> Severity:
        return self.violation.severity or self.rule.severity


def causes(violations: Iterable[RuleViolation]) -> list[RuleViolation]:
    """The violations of one pod set without those that follow from another one.

    A rule silenced by another one still silences what follows from it. A violation may list further
    rules that it follows from.
    """
    everything = list(violations)
    if not everything:
        return everything
    silenced: set[str] = set()
    for each in everything:
        silenced |= each.rule.silences
        if each.severity is Severity.ERROR:
            silenced |= each.rule.silences_as_error
    codes = {each.rule.code for each in everything}
    remaining = [
        each for each in everything if each.rule.code not in silenced and not codes & each.violation.follows
    ]
    return [each for each in remaining if not (each.rule.only_alone and _explained(each, remaining))]


def _explained(each: RuleViolation, others: list[RuleViolation]) -> bool:
    """Whether another error of the same family explains a violation."""
    return any(
        other.rule.code != each.rule.code
        and other.rule.family == each.rule.family
        and other.severity is Severity.ERROR
        for other in others
    )
