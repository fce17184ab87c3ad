"""A cluster that does what the steps of a plan say: nodes, templates, and which nodes accept which pods.

It knows nothing of `policykit.plan`: commands are read as kubectl would read them, and taints and node
affinity are matched here.
"""

from __future__ import annotations

import itertools
import random
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

Spec = Mapping[str, Any]
"""A PodSpec."""
_SAMPLED = 60


class Node:
    """A node with its labels, taints and cards."""

    def __init__(self, labels: Mapping[str, str], taints: Sequence[tuple[str, str, str]], cards: int) -> None:
        self.labels = dict(labels)
        self.taints = {(key, effect): value for key, value, effect in taints}
        self.cards = cards

    def copy(self) -> Node:
        return Node(
            self.labels, [(key, value, effect) for (key, effect), value in self.taints.items()], self.cards
        )

    def accepts(self, spec: Spec) -> bool:
        hard = [
            (key, value, effect)
            for (key, effect), value in self.taints.items()
            if effect != "PreferNoSchedule"
        ]
        if not all(any(_tolerates(each, taint) for each in spec.get("tolerations") or ()) for taint in hard):
            return False
        if any(self.labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
            return False
        affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        )
        if affinity and not any(self._matches(term) for term in affinity["nodeSelectorTerms"]):
            return False
        return cards_of(spec) <= self.cards

    def _matches(self, term: Mapping[str, Any]) -> bool:
        for one in term["matchExpressions"]:
            assert one["operator"] == "In"
            if self.labels.get(one["key"]) not in one["values"]:
                return False
        return True

    def change(self, verb: str, arguments: Sequence[str]) -> None:
        """`kubectl label` or `kubectl taint`: all arguments in one request."""
        for argument in arguments:
            if verb == "label" and argument.endswith("-"):
                self.labels.pop(argument[:-1], None)
            elif verb == "label":
                key, _, value = argument.partition("=")
                self.labels[key] = value
            elif argument.endswith("-"):
                key, _, effect = argument[:-1].partition(":")
                del self.taints[key, effect]
            else:
                pair, _, effect = argument.rpartition(":")
                key, _, value = pair.partition("=")
                self.taints[key, effect] = value


def _tolerates(toleration: Mapping[str, str], taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    if toleration.get("effect", effect) != effect or toleration.get("key", key) != key:
        return False
    return toleration.get("operator", "Equal") == "Exists" or toleration.get("value", "") == value


def cards_of(spec: Spec) -> int:
    return sum(
        int(((each.get("resources") or {}).get("limits") or {}).get("nvidia.com/gpu", 0))
        for each in spec["containers"]
    )


def spec_of(text: str) -> Spec:
    """The PodSpec of a Deployment or Job."""
    spec: Spec = next(yaml.safe_load_all(text))["spec"]["template"]["spec"]
    return spec


class Command(NamedTuple):
    """One change of one node; verb join or delete: the node itself."""

    node: str
    verb: str
    arguments: tuple[str, ...] = ()


class World(NamedTuple):
    """The nodes, and the templates that pods may be made from at the moment."""

    nodes: Mapping[str, Node]
    templates: Mapping[str, Sequence[Spec]]

    def accepting(self) -> dict[str, int]:
        """For each workload the nodes that accept it, by the template that fewest accept."""
        return {
            name: min(sum(node.accepts(spec) for node in self.nodes.values()) for spec in specs)
            for name, specs in self.templates.items()
        }

    def changed(self, commands: Sequence[Command]) -> World:
        nodes = {name: node.copy() for name, node in self.nodes.items()}
        for one in commands:
            if one.verb == "delete":
                del nodes[one.node]
            elif one.verb != "drain":
                nodes[one.node].change(one.verb, one.arguments)
        return World(nodes, self.templates)

    def with_templates(self, *templates: Mapping[str, Spec]) -> World:
        return World(self.nodes, {name: [each[name] for each in templates] for name in templates[0]})

    def during(self, commands: Sequence[Command], seed: int) -> Iterator[World]:
        """Every state while the commands run: of one node in their order, of several in any."""
        by_node: dict[str, list[Command]] = {}
        for one in commands:
            by_node.setdefault(one.node, []).append(one)
        ways = [range(len(some) + 1) for some in by_node.values()]
        chance = random.Random(seed)
        some = (
            itertools.product(*ways)
            if len(ways) <= 3
            else [tuple(chance.choice(way) for way in ways) for _ in range(_SAMPLED)]
        )
        for done in some:
            prefix = [
                one for part, number in zip(by_node.values(), done, strict=True) for one in part[:number]
            ]
            yield self.changed(prefix)


def commands_of(texts: Sequence[str], nodes: Mapping[str, Node]) -> list[Command]:
    """The lines of a script, one command for each node they mean. Fails for commands that are not known."""
    found = []
    for text in texts:
        words = shlex.split(text.replace("\\\n", " "))
        assert words[0] == "kubectl", text
        verb, rest = (
            words[1],
            [word for word in words[2:] if not word.startswith("--") and word not in ("nodes", "node")],
        )
        if verb in ("drain", "delete"):
            found += [Command(name, verb) for name in rest]
            continue
        assert verb in ("label", "taint"), text
        changes = tuple(word for word in rest if "=" in word or ":" in word or word.endswith("-"))
        if "-l" in rest:
            selector = dict(pair.split("=") for pair in rest[rest.index("-l") + 1].split(","))
            changes = tuple(word for word in changes if word != rest[rest.index("-l") + 1])
            names = [name for name, node in nodes.items() if selector.items() <= node.labels.items()]
        else:
            names = [word for word in rest if word not in changes]
        assert names, text
        assert set(names) <= set(nodes), text
        found += [Command(name, verb, changes) for name in names]
    return found
