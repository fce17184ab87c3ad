"""Resource amounts: quantities to numbers, card names to resources."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.catalogue import resources
from policykit.catalogue.suggestions import resource_problem
from policykit.kube.names import is_extended, is_hugepages, label_key_problem
from policykit.manifests.path import Path, dotted
from policykit.model.quantity import amount, parse
from policykit.policy.compile.draft import Draft
from policykit.policy.problems import nearest

BASIC = ("cpu", "memory", "ephemeral-storage", "pods")


def amounts(draft: Draft, path: Path, stated: Mapping[str, str]) -> dict[str, int]:
    """Resource to amount, in the units of `model.pool.Amounts`; reports mistakes."""
    found: dict[str, int] = {}
    for name, text in stated.items():
        resource = resource_of(draft, (*path, name), name)
        quantity = parse(text)
        if not resource or quantity is None:
            continue
        if (is_extended(resource) or resource == "pods") and not quantity.whole:
            draft.problems.error((*path, name), f"{dotted((*path, name))} must be a whole number, not {text}")
            continue
        if resource in found:
            draft.problems.error((*path, name), f"{dotted(path)} lists {resource} twice", key=True)
            continue
        found[resource] = amount(resource, text) or 0
    return found


def resource_of(draft: Draft, path: Path, name: str) -> str:
    """The resource that a resource or card name stands for; empty if it is neither."""
    if name in draft.cards:
        return draft.cards[name].resource
    if name in BASIC or is_hugepages(name):
        return name
    if "/" in name:
        draft.check(path, f"resource {name!r}", label_key_problem(name), key=True)
        _check_spelling(draft, path, name)
        return "" if label_key_problem(name) else name
    if name not in draft.names("cards"):
        near = nearest(name, (*BASIC, *draft.names("cards")))
        hint = f"did you mean {near}?" if near else "use a resource (nvidia.com/gpu) or a card of this policy"
        draft.problems.error(
            path, f"{name!r} is neither a resource nor a card of this policy", hint, key=True
        )
    return ""


def _check_spelling(draft: Draft, path: Path, name: str) -> None:
    """Notices a name that no device plugin offers and that resembles one: probably a typing error."""
    if resources.resource(name) or any(card.resource == name for card in draft.cards.values()):
        return
    problem = resource_problem(name)
    if problem and problem[1]:
        hint = f"did you mean {' or '.join(problem[1])}?"
        draft.problems.notice(path, f"{name} {problem[0]}", hint, key=True)


def written_as(draft: Draft, path: Path, resource: str) -> str:
    """The key under which a resource appears at a path: its own name or a card name."""
    for key in draft.names(*map(str, path)):
        if key == resource or (key in draft.cards and draft.cards[key].resource == resource):
            return key
    return resource
