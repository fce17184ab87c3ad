"""What AIBrix's gangs for Volcano demand of the roles of a StormService or RoleSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.severity import Severity
from policykit.nearest import nearest, some
from policykit.targets.volcano.names import TASK_SPEC

_SPECS: Mapping[str, Path] = {"StormService": ("spec", "template", "spec"), "RoleSet": ("spec",)}
_STRATEGY, _OF_VOLCANO = "schedulingStrategy", "volcanoSchedulingStrategy"


def check(manifest: Manifest) -> Iterator[Violation]:
    """Source: the webhook of AIBrix for StormServices (October 2026), `CheckTaskValid` of Volcano (1.15)."""
    at = _SPECS.get(manifest.kind) if manifest.group == "orchestration.aibrix.ai" else None
    if at is None or manifest.partial:
        return
    spec = mapping(lookup(manifest.data, at))
    roles = mappings(spec.get("roles"))
    whole_set = mapping(spec.get(_STRATEGY))
    if any(is_placeholder(name) for name in _names(roles)):
        return
    yield from _strategy((*at, _STRATEGY), whole_set, roles, of_all=True)
    for index, role in enumerate(roles):
        own, place = mapping(role.get(_STRATEGY)), (*at, "roles", index, _STRATEGY)
        yield from _strategy(place, own, [role], of_all=False)
        if whole_set and own:
            yield Violation(
                place,
                f"role {text(role.get('name'))} has a gang beside that of all roles: its pods are in one of "
                "them only, so the other may never be complete; newer releases of AIBrix refuse it",
                "keep one of them",
                Severity.WARNING,
                key=True,
            )


def _names(roles: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of the roles, and of the tasks that their templates state."""
    found = [text(role.get("name")) for role in roles]
    for role in roles:
        metadata = mapping(mapping(role.get("template")).get("metadata"))
        found += [text(mapping(metadata.get(field)).get(TASK_SPEC)) for field in ("labels", "annotations")]
    return [name for name in found if name]


def _strategy(
    place: Path, stated: Mapping[str, Any], roles: Sequence[Mapping[str, Any]], *, of_all: bool
) -> Iterator[Violation]:
    if len(stated) > 1:
        yield Violation(
            place,
            f"{_STRATEGY} has {' and '.join(stated)}: the API server refuses more than one",
            "keep that of the scheduler of the pods",
            key=True,
        )
        return
    if not isinstance(stated.get(_OF_VOLCANO), dict):
        return
    gang, below = stated[_OF_VOLCANO], (*place, _OF_VOLCANO)
    least, tasks = gang.get("minMember", 0), mapping(gang.get("minTaskMember"))
    numbers = {name: number for name, value in tasks.items() if (number := whole(value)) is not None}
    if whole(least) is not None and least <= 0:
        yield Violation(
            (*below, "minMember") if "minMember" in gang else below,
            f"minMember is {least if 'minMember' in gang else 'missing'}: the pods start one by one; newer "
            "releases of AIBrix refuse it",
            "write how many pods start together",
            Severity.WARNING,
        )
        return
    asked = sum(numbers.values())
    if whole(least) is not None and least < asked:
        yield Violation(
            (*below, "minMember"),
            f"minMember is {least}, and the sum of minTaskMember {asked}: Volcano ignores minTaskMember, and "
            "newer releases of AIBrix refuse it",
            f"write {asked}",
            Severity.WARNING,
        )
        return
    for name, number in numbers.items():
        yield from _task((*below, "minTaskMember", name), name, number, roles, of_all=of_all)


def _task(
    place: Path, name: str, number: int, roles: Sequence[Mapping[str, Any]], *, of_all: bool
) -> Iterator[Violation]:
    names = _names(roles)
    if is_placeholder(name) or not names:
        return
    if name not in names:
        near = nearest(name, tuple(names))
        yield Violation(
            place,
            f"minTaskMember has {name}, but no role here is called so: the gang is never complete",
            f"did you mean {near}?" if near else f"the pods are of {some(names)}",
            key=True,
        )
    elif number <= 0:
        yield Violation(
            place,
            f"minTaskMember of {name} is {number}: newer releases of AIBrix refuse it",
            "write how many of its pods start together, or delete it",
            Severity.WARNING,
        )
    elif of_all and (most := _pods(name, roles)) is not None and number > most:
        yield Violation(
            place,
            f"minTaskMember of {name} is {number}, but the role has {most} pods: the gang is never complete",
            f"write {most} or fewer",
        )


def _pods(name: str, roles: Sequence[Mapping[str, Any]]) -> int | None:
    """Of the role in each RoleSet; None: unknown, or tasks have names of their own."""
    found = [role for role in roles if role.get("name") == name]
    if len(found) != 1 or set(_names(roles)) != {text(role.get("name")) for role in roles}:
        return None
    replicas, each = whole(found[0].get("replicas")), whole(found[0].get("podGroupSize", 1))
    return None if replicas is None or each is None else replicas * max(each, 1)
