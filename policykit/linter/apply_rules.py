"""Applies the rules to the documents of one file, and reads the facts for rules about whole scopes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from policykit.kube import autoscaling
from policykit.kube import structure as structures
from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.gang_units import minimum_scope
from policykit.kube.podsets import Gang, gangs
from policykit.kube.podsets.podset import PodSet
from policykit.linter.configurations import CHART_VALUES, EmbeddedConfiguration
from policykit.linter.finding import Finding
from policykit.linter.location import LocatedObject
from policykit.linter.registry import COMPONENT, MANIFEST, PODS, READING, STRUCTURE, RuleSet
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.linter.scope import AnyFact, Fact, LocatedFact, UnreadableText
from policykit.linter.target import Target, Targets
from policykit.linter.violations import finding_of, locate
from policykit.manifests.document import Manifest, words, wrapped_objects
from policykit.manifests.parser import ParsedDocument
from policykit.manifests.path import Path, lookup
from policykit.model.gang import OwnGang
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review, review

if TYPE_CHECKING:
    from policykit.linter.text_fixes import Fixes

_WORD = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
"""A possible name of an object or queue."""
_MAX_WORDS = 5_000
_OF_LABELS = {"topologySpreadConstraints"}
"""What it does depends on the labels of the pods, which values of a chart do not state."""
_OF_CHARTS = frozenset({"Application", "ApplicationSet", "HelmRelease", "Kustomization"})
"""Kinds that state values of charts as a map."""
_GROUP_FIELDS: Mapping[str, Path] = {"name": ("metadata", "name"), "min_member": ("spec", "minMember")}


def facts_of(
    located: LocatedObject, pod_sets: Sequence[PodSet], targets: Targets, context: Context
) -> list[AnyFact]:
    """The facts of one manifest; the context has its file and default namespace."""
    manifest = located.manifest
    found = [] if manifest.read_as else [*_about_gangs(located, pod_sets, targets, context)]
    for read in targets.readers_of(manifest.kind, bool(pod_sets)):
        for fact in read(manifest, pod_sets, context):
            found.append(_locate(fact, located, context.path))
    return found


def unreadable(text: str) -> UnreadableText:
    """The words in a document that cannot be interpreted."""
    found = frozenset(re.findall(_WORD, text))
    return UnreadableText(found if len(found) <= _MAX_WORDS else None)


def _about_gangs(
    located: LocatedObject, pod_sets: Sequence[PodSet], known: Targets, context: Context
) -> Iterator[AnyFact]:
    manifest, namespace, targets = located.manifest, context.namespace, known.targets
    if (scaler := autoscaling.read(manifest, namespace)) is not None:
        yield _locate(Fact(scaler, autoscaling.places(manifest)), located, context.path)
    wrapped = wrapped_objects(manifest, "PodGroup") if known.may_have_groups else ()
    groups = (manifest,) if manifest.kind == "PodGroup" else wrapped
    labelled = [each for each in pod_sets if each.labels or each.annotations]
    for target in targets if groups else ():
        for each in groups if target.read_group else ():
            if target.read_group and (group := target.read_group(each, manifest.namespace or namespace)):
                about = located._replace(manifest=each)
                yield _locate(Fact(group, _GROUP_FIELDS), about, context.path)
    for pod_set in labelled:
        for target in targets:
            if target.read_membership and (joined := target.read_membership(manifest, pod_set, namespace)):
                places = {"group": joined.group, "min_member": joined.min_member}
                yield _locate(Fact(joined.membership, places), located, context.path)
    if pod_sets:
        for gang, place in _oversized_gangs(manifest, pod_sets, targets, namespace):
            yield _locate(Fact(gang, {"min_member": place}), located, context.path)
    elif wrapped or _joins_unseen(manifest, targets):
        yield UnreadableText(words(manifest.data).texts)


def _joins_unseen(manifest: Manifest, targets: Sequence[Target]) -> bool:
    """Whether an object of an unknown kind contains metadata of pods that join a gang."""
    if "." not in manifest.group or manifest.group.endswith("k8s.io") or manifest.kind == "PodGroup":
        return False
    keys = (key.key for target in targets for key in target.keys if key.purpose == "gang")
    return not words(manifest.data).keys.isdisjoint(keys)


def _locate(fact: Fact, located: LocatedObject, path: str) -> LocatedFact[Any]:
    inside = fact.inside
    fields = {name: located.place(place, inside=inside.get(name)) for name, place in fact.places.items()}
    about = (located.document, located.resource, fields, located.manifest.partial)
    return LocatedFact(fact.value, path, *about, fact.answers, fact.as_written)


def _oversized_gangs(
    manifest: Manifest, pod_sets: Sequence[PodSet], targets: Iterable[Target], namespace: str
) -> Iterator[tuple[OwnGang, Path]]:
    """Each minimum above the number of pods that can meet it, with its path. Unknown numbers are ignored."""
    scalable = manifest.kind in POD_PER_REPLICA
    if manifest.partial or (scalable and not _annotated(manifest, targets)):
        return
    in_namespace = manifest.namespace or namespace
    for gang in gangs(manifest.data):
        if gang.written and gang.enabled and gang.min_member is not None:
            pods = _before_it_starts(manifest, gang, pod_sets)
            if pods is not None and gang.min_member > pods and _is_read(gang, pod_sets, targets):
                yield (
                    OwnGang(
                        in_namespace,
                        f"the gang of this {manifest.kind}",
                        gang.min_member,
                        pods,
                        scalable,
                        order="" if pods == gang.pods else _launcher_last(),
                    ),
                    gang.path,
                )
        for minimum in gang.minima:
            found = minimum_scope(manifest, minimum, pod_sets)
            if minimum.value is not None and found.available is not None and minimum.value > found.available:
                yield (
                    OwnGang(in_namespace, found.name, minimum.value, found.available, counted=found.unit),
                    minimum.path,
                )


def _annotated(manifest: Manifest, targets: Iterable[Target]) -> bool:
    """Whether an annotation states a gang, the only way for controllers of long-running pods."""
    written = manifest.metadata.get("annotations")
    return isinstance(written, dict) and any(k.key in written for t in targets for k in t.keys if k.on_owner)


def _is_read(gang: Gang, pod_sets: Sequence[PodSet], targets: Iterable[Target]) -> bool:
    """Whether the pods' scheduler reads the size, which may be under a key of another scheduler."""
    key = gang.path[-1] if gang.path else ""
    readers = [t for t in targets if any(k.key == key for k in t.keys)]
    if not readers:
        return True
    return any(p.scheduler_name in t.schedulers for p in pod_sets if p.name in gang.members for t in readers)


def _before_it_starts(manifest: Manifest, gang: Gang, pod_sets: Sequence[PodSet]) -> int | None:
    """Pods that exist before the gang is complete: an MPI launcher may wait for the workers."""
    waits = lookup(manifest.data, ("spec", "launcherCreationPolicy")) == "WaitForWorkersReady"
    if manifest.kind == "MPIJob" and waits and gang.pods is not None:
        return gang.pods - sum(p.replicas or 0 for p in pod_sets if p.name == "launcher")
    return gang.pods


def _launcher_last() -> str:
    from policykit.kube.start_order import LAUNCHER_LAST

    return LAUNCHER_LAST


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
        from policykit.linter.rule import SourceDocument

        for rule in self._rules.of(READING):
            for violation in rule.check(SourceDocument(text, parsed), self._context):
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
            if located.manifest.read_as == CHART_VALUES.name:
                yield from self._chart_values(located)

    def configuration(self, located: LocatedObject) -> Iterator[Finding]:
        """Findings about a configuration that is a document of its own."""
        found = self._by_kind(located, self._fixes)
        is_of_chart = located.manifest.read_as == CHART_VALUES.name
        return chain(found, self._chart_values(located)) if is_of_chart else found

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
        if located.manifest.kind in _OF_CHARTS:
            yield from self._chart_values(located)

    def _chart_values(self, located: LocatedObject) -> Iterator[Finding]:
        """Findings about what values of a chart say of pods: warnings, since the chart makes the pods."""
        from policykit.linter.chart_values import parts
        from policykit.linter.rule import Structure

        manifest, context = located.manifest, self._context
        located = located._replace(manifest=manifest._replace(partial=True))
        for pod_set, problems in parts(manifest):
            structure = Structure(located.manifest, problems)
            for rule in self._rules.of(STRUCTURE) if problems else ():
                for violation in rule.check(structure, context):
                    yield self._finding(located, rule, _at_most_warning(rule, violation), None)
            if pod_set.places.keys() == _OF_LABELS:
                continue
            reviewed = review(located.manifest, pod_set, context.cluster, context.namespace)
            if not reviewed.card_resources:  # a chart may install daemons of nodes
                reviewed = reviewed._replace(is_system_pod=True)
            told = {problem.path for problem in problems}
            for rule, violation in causes(self._violations(reviewed)):
                if violation.path not in told:
                    yield self._finding(located, rule, _at_most_warning(rule, violation), None)

    def _component(self, located: LocatedObject, pod_sets: tuple[PodSet, ...]) -> Iterator[Finding]:
        from policykit.linter.rule import ComponentObject

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
                for violation in rule.check(subject, context):
                    yield self._finding(located, rule, violation, self._fixes)

    def _structure(self, located: LocatedObject) -> Iterator[Finding]:
        manifest, rules = located.manifest, self._rules
        context = self._context
        problems = structures.check(
            manifest.data, manifest.api_version, manifest.kind, context.served, literal=context.literal
        )
        if not problems:
            return
        from policykit.linter.rule import Structure

        structure = Structure(manifest, problems)
        for rule in rules.of(STRUCTURE):
            for violation in rule.check(structure, context):
                yield self._finding(located, rule, violation, self._fixes)

    def _by_kind(self, located: LocatedObject, fixes: Fixes | None) -> Iterator[Finding]:
        manifest, rules = located.manifest, self._rules
        for rule in rules.of(MANIFEST, manifest.kind):
            for violation in rule.check(manifest, self._context):
                yield self._finding(located, rule, violation, fixes)

    def _violations(self, reviewed: Review) -> Iterator[RuleViolation]:
        for rule in self._rules.of(PODS):
            for violation in rule.check(reviewed, self._context):
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


def _at_most_warning(rule: AnyRule, violation: Violation) -> Violation:
    severity = violation.severity or rule.severity
    return violation._replace(severity=Severity.WARNING) if severity is Severity.ERROR else violation


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
