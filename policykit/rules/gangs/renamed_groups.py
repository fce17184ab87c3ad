"""PodGroups that a kustomization renames, while the annotations and labels of their pods keep the name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.gang import Membership, PodGroup
from policykit.model.references import NameAffix
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple

Name = tuple[str, str, str]
"""System, namespace, name of a gang."""
_LEVELS = 3
"""Kustomizations, each of which uses the next, that may rename an object."""
_Affixes = Mapping[tuple[str, str], Sequence[LocatedFact[NameAffix]]]
"""What is added before and after, and where."""


class Renamed(NamedTuple):
    """The gangs whose group is renamed: of the groups as they are now, and as the pods name them."""

    groups: frozenset[Name] = frozenset()
    members: frozenset[Name] = frozenset()
    violations: tuple[Violation, ...] = ()


def renamed(scope: Scope, joined: set[Name], there: set[Name]) -> Renamed:
    """Groups that no pod joins, and that pods join by the name before the kustomization.

    kustomize changes only the references that it knows. Source: `nameReference` of its default configuration.
    """
    affixes: dict[tuple[str, str], list[LocatedFact[NameAffix]]] = {}
    for affix in scope.of(NameAffix):
        affixes.setdefault((affix.value.prefix, affix.value.suffix), []).append(affix)
    missing: dict[Name, list[LocatedFact[Membership]]] = {}
    for member in scope.memberships if affixes else ():
        name = member.value[:3]
        if name not in there and not (member.value.by_pods or member.partial or is_placeholder(name[2])):
            missing.setdefault(name, []).append(member)
    groups: set[Name] = set()
    members: set[Name] = set()
    found: dict[tuple[str, int, str], Violation] = {}
    for group in scope.groups if missing else ():
        target_name, namespace, now = group.value[:3]
        for before, added in _before(now, affixes) if group.value[:3] not in joined else ():
            name = (target_name, namespace, before)
            if name in missing:
                groups.add(group.value[:3])
                members.add(name)
                for affix in affixes[added]:
                    place = (affix.path, affix.document, now)
                    found.setdefault(place, _violation(affix, group, before, missing[name]))
    return Renamed(frozenset(groups), frozenset(members), tuple(found.values()))


def _before(now: str, affixes: _Affixes) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names from which kustomizations may have made one, with what the outermost added."""
    pending: list[tuple[str, tuple[str, str] | None]] = [(now, None)]
    for _ in range(_LEVELS):
        shorter: list[tuple[str, tuple[str, str] | None]] = []
        for name, outermost in pending:
            for prefix, suffix in affixes:
                inner = name.removeprefix(prefix).removesuffix(suffix)
                if inner and len(inner) == len(name) - len(prefix) - len(suffix):
                    first = outermost or (prefix, suffix)
                    yield inner, first
                    shorter.append((inner, first))
        pending = shorter


def _violation(
    affix: LocatedFact[NameAffix],
    group: LocatedFact[PodGroup],
    before: str,
    members: Sequence[LocatedFact[Membership]],
) -> Violation:
    owners = dict.fromkeys(f"{each.resource.kind} {each.resource.name}" for each in members)
    first, more = next(iter(owners)), len(owners) - 1
    who = f"the pods of {first}" + (f" and {more} more" if more else "")
    field = "namePrefix" if affix.value.prefix else "nameSuffix"
    return Violation(
        affix.at("name"),
        f"{field} renames PodGroup {before} to {group.value.name}, but {who} name {before}: they never start",
        "\n".join(_way_out(group, members)),
        Severity.ERROR,
    )


def _way_out(group: LocatedFact[PodGroup], members: Iterable[LocatedFact[Membership]]) -> Iterator[str]:
    """What makes kustomize rename the reference, too, as YAML."""
    api_group = group.resource.api_version.partition("/")[0]
    fields = {
        (each.resource.kind, "/".join(_word(step) for step in each.place("group").path if type(step) is str))
        for each in members
    }
    listed = ", ".join(f"{{kind: {kind}, path: {path}}}" for kind, path in sorted(fields))
    yield "tell kustomize of the reference in a file that `configurations` lists:"
    yield f"nameReference: [{{kind: PodGroup, group: {api_group}, fieldSpecs: [{listed}]}}]"


def _word(step: str) -> str:
    return step.replace("/", "\\/")
