"""`placementrules`: which queue an application goes to, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping
from policykit.targets.yunikorn.configuration.shape import flag, names, text, without_unset

PROVIDED, USER, TAG, FIXED = "provided", "user", "tag", "fixed"
KNOWN = (PROVIDED, USER, TAG, FIXED)


class Filter(NamedTuple):
    """Whom a rule is for; empty: everybody."""

    type: str = ""
    """allow or deny, in small letters."""
    users: tuple[str, ...] = ()
    """One entry with a character of regular expressions is a regular expression."""
    groups: tuple[str, ...] = ()


class Rule(NamedTuple):
    """The first rule that gives a leaf queue decides."""

    name: str
    value: str = ""
    """Queue of `fixed`, tag of `tag`."""
    create: bool = False
    filter: Filter = Filter()
    parent: Rule | None = None
    """Gives the parent of this rule's queue."""

    @property
    def chain(self) -> tuple[Rule, ...]:
        """This rule and the rules above it, in the order they are carried out."""
        return (*(self.parent.chain if self.parent else ()), self)


def write(rule: Rule) -> dict[str, Any]:
    chosen = {
        "type": rule.filter.type,
        "users": list(rule.filter.users),
        "groups": list(rule.filter.groups),
    }
    return {
        "name": rule.name,
        **without_unset({"value": rule.value, "create": rule.create, "filter": without_unset(chosen)}),
        **({"parent": write(rule.parent)} if rule.parent else {}),
    }


def read(data: Mapping[str, Any]) -> Rule:
    chosen = mapping(data.get("filter"))
    parent = data.get("parent")
    return Rule(
        text(data.get("name")),
        text(data.get("value")),
        flag(data.get("create")) is True,
        Filter(text(chosen.get("type")), names(chosen.get("users")), names(chosen.get("groups"))),
        read(parent) if isinstance(parent, Mapping) else None,
    )
