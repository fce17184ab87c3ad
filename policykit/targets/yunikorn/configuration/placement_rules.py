"""`placementrules`, which choose the queue of an application: written and read, and those of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.values import flag, names, text, without_unset
from policykit.targets.yunikorn.names import ROOT

PROVIDED, USER, TAG, FIXED = "provided", "user", "tag", "fixed"
KNOWN = (PROVIDED, USER, TAG, FIXED)


class Filter(NamedTuple):
    """The users and groups that a rule applies to; empty: everybody."""

    type: str = ""
    """allow or deny, in lower case."""
    users: tuple[str, ...] = ()
    """A single entry with a metacharacter is a regular expression."""
    groups: tuple[str, ...] = ()


class Rule(NamedTuple):
    """A placement rule. The first rule that results in a leaf queue decides."""

    name: str
    value: str = ""
    """Queue of `fixed`, tag of `tag`."""
    create: bool = False
    filter: Filter = Filter()
    parent: Rule | None = None
    """The rule that chooses the parent of this rule's queue."""

    @property
    def chain(self) -> tuple[Rule, ...]:
        """This rule and its parent rules, in the order they are applied."""
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
        read(parent) if isinstance(parent, dict) else None,
    )


NAMESPACE_TAG = "namespace"
PARENT_QUEUE_TAG = "namespace.parentqueue"
"""Tag whose value is the queue in annotation `parentqueue` of the namespace."""

_OF_NAMESPACE = Rule(TAG, PARENT_QUEUE_TAG)
_BELOW_ANNOTATED = Rule(TAG, NAMESPACE_TAG, create=True, parent=_OF_NAMESPACE)
BY_POD_AND_NAMESPACE = (Rule(PROVIDED), _OF_NAMESPACE, _BELOW_ANNOTATED)
"""The leaf that the pod or its namespace names, or a queue for the namespace below the parent it names."""


def standard_rules(namespace_queues: str, fallback: str) -> tuple[Rule, ...]:
    """The rules that generation writes. Both arguments are full paths, or empty for none."""
    parent = Rule(FIXED, namespace_queues) if namespace_queues not in ("", ROOT) else None
    every = (Rule(TAG, NAMESPACE_TAG, create=True, parent=parent),) if namespace_queues else ()
    last = (Rule(FIXED, fallback),) if fallback else ()
    return (*BY_POD_AND_NAMESPACE, *every, *last)


def parse_standard_rules(listed: tuple[Rule, ...]) -> tuple[str, str] | None:
    """(namespace_queues, fallback) for which `standard_rules` returns these rules; None if there are none."""
    rest = listed[len(BY_POD_AND_NAMESPACE) :]
    fallback = rest[-1].value if rest and rest[-1].name == FIXED else ""
    every = next((rule for rule in rest if rule.name == TAG), None)
    below = "" if every is None else every.parent.value if every.parent else ROOT
    return (below, fallback) if standard_rules(below, fallback) == listed else None
