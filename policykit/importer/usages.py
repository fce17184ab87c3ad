"""Usages of nodes: from the label or taint that states them, else guessed from names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from policykit.importer import node_labels
from policykit.importer.groups import Group
from policykit.model.inventory import Component
from policykit.namedtuple import NamedTuple

_WORDS = {
    "training": ("training", "train", "trainer", "pretrain", "finetune"),
    "inference": ("inference", "infer", "serving", "serve", "online"),
    "hybrid": ("hybrid", "mixed"),
}
_USAGES = {word: usage for usage, words in _WORDS.items() for word in words}
_AMBIGUOUS = frozenset({"mixed"})
"""Words that mean a usage only in a usage label: `mig-mixed` is not one."""
_ALSO = frozenset(
    {"shared", "batch", "dev", "development", "notebook", "test", "debug", "general", "system", "cpu"}
)
"""Other values that a usage label may have; alone they do not make one."""
_PART = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])")
_ENDING = "/node.usage"
"""End of the seed scheme's key."""


class UsageKey(NamedTuple):
    """The label or taint key that states usages."""

    key: str = ""
    labelled: bool = False
    guess: str = ""
    """Why the key is a guess; empty: generated files name it, or it has the seed scheme's form."""


def usage_key(groups: Iterable[Group], components: Iterable[Component], cards: frozenset[str]) -> UsageKey:
    """The key that states usages; empty: no label or taint does.

    Generated components name it. Otherwise its form is the seed scheme's, or all its values are words
    for usages; among several keys the one on most nodes wins.
    """
    groups = tuple(groups)
    named = [key for c in components for key, _ in c.required if key not in cards]
    named += [key for c in components for _, key, _ in c.preferred]
    carried = _values(groups)
    for key in dict.fromkeys(named):
        if key in carried:
            return UsageKey(key, _labelled(groups, key))
    likely = [key for key in carried if key not in cards and _states(key, carried[key])]
    likely.sort(key=lambda key: (not key.endswith(_ENDING), -len(carried[key]), key))
    if not likely:
        return UsageKey()
    first = likely[0]
    guess = "" if first.endswith(_ENDING) else f"guessed from its values: {_listed(carried[first])}"
    return UsageKey(first, _labelled(groups, first), guess)


def usage(group: Group, key: UsageKey) -> str:
    """The usage that a group's nodes state with a key; empty: none."""
    if key.labelled:
        return group.labels.get(key.key, "")
    return next((taint.value for taint in group.taints if key.key and taint.key == key.key), "")


def guessed_usage(group: Group) -> tuple[str, str]:
    """(usage, what it was guessed from), from words in the names of its node pool and nodes; empty: none."""
    sources = [
        (f"{key}={group.all_labels[key]}", group.all_labels[key])
        for key in node_labels.NODE_POOLS
        if key in group.all_labels
    ]
    sources += [(f"{key}={value}", value) for key, value in sorted(group.labels.items())]
    sources += [(f"the node name {name}", name) for name in group.names[:1]]
    for source, text in sources:
        for word in _PART.split(text.lower()):
            if word in _USAGES and word not in _AMBIGUOUS:
                return _USAGES[word], source
    return "", ""


def kind_of(usage: str) -> str:
    """training, inference or hybrid for a usage value; empty: something else."""
    return _USAGES.get(usage.lower(), "")


def _values(groups: Iterable[Group]) -> dict[str, list[str]]:
    """Label and taint keys to their values, one for each group."""
    found: dict[str, list[str]] = {}
    for group in groups:
        pairs = {**{taint.key: taint.value for taint in group.taints}, **group.labels}
        for key, value in pairs.items():
            found.setdefault(key, []).append(value)
    return found


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _labelled(groups: Iterable[Group], key: str) -> bool:
    return any(key in group.labels for group in groups)


def _states(key: str, values: list[str]) -> bool:
    if key in node_labels.NODE_POOLS:
        return False
    if key.endswith(_ENDING):
        return all(values)
    words = {value.lower() for value in values}
    return bool(words & _USAGES.keys()) and words <= _USAGES.keys() | _ALSO
