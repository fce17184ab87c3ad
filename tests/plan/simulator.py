"""A cluster that does what the steps of a plan say: nodes, templates, and which nodes accept which pods.

It knows nothing of `policykit.plan`: commands are read as kubectl would read them, and taints and node
affinity are matched here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.loaded import loaded_all

Spec = Mapping[str, Any]
"""A PodSpec."""


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


def specs_of(text: str) -> dict[str, Spec]:
    """The PodSpecs of a Deployment, Job or Volcano Job, by the object and the task."""
    one = next(loaded_all(text))
    name, spec = one["metadata"]["name"], one["spec"]
    if "tasks" in spec:
        return {f"{name}-{task['name']}": task["template"]["spec"] for task in spec["tasks"]}
    return {name: spec["template"]["spec"]}


Gang = Mapping[str, int]
"""Template to the number of its pods; all start together."""


def gang_of(text: str) -> Gang:
    """The pods of a Job or Volcano Job; none of a Deployment."""
    one = next(loaded_all(text))
    if one["kind"] == "Deployment":
        return {}
    name, spec = one["metadata"]["name"], one["spec"]
    if "tasks" in spec:
        return {f"{name}-{task['name']}": task["replicas"] for task in spec["tasks"]}
    return {name: spec["parallelism"]}


def fit(pods: Sequence[tuple[int, frozenset[str]]], free: Mapping[str, int]) -> bool:
    """Whether pods of some cards, each with the nodes that accept it, fit at once: tries every way."""
    if not pods:
        return True
    (cards, nodes), *rest = pods
    tried = set()
    for name in sorted(nodes):
        # Nodes with as many free cards that the other pods accept alike are one.
        alike = free[name], tuple(name in others for _, others in rest)
        if free[name] >= cards and alike not in tried:
            tried.add(alike)
            if fit(rest, {**free, name: free[name] - cards}):
                return True
    return False


def parts(free: Mapping[str, int], of: Mapping[str, str]) -> list[dict[str, int]]:
    """The nodes of each domain."""
    return [{name: free[name] for name in free if of[name] == each} for each in sorted(set(of.values()))]


def fit_in_one(pods: Sequence[tuple[int, frozenset[str]]], domains: Sequence[Mapping[str, int]]) -> bool:
    """Whether pods fit at once in one of some sets of nodes."""
    largest_first = sorted(pods, key=lambda pod: -pod[0])
    return any(
        fit([(cards, nodes & domain.keys()) for cards, nodes in largest_first], domain) for domain in domains
    )


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

    def least_during(self, commands: Sequence[Command]) -> dict[str, int]:
        """For each workload the fewest nodes that accept it in any state while the commands run.

        The commands for one node run in their order, those for several in any. A node accepts a pod by its
        own state alone, so that the fewest are those of every node at its worst: no state is left out.
        """
        return {
            name: min(len(self._accepting(spec, commands)) for spec in specs)
            for name, specs in self.templates.items()
        }

    def holds(self, gang: Gang, commands: Sequence[Command] = (), rack: str = "") -> bool:
        """Whether a gang fits at any time while the commands run, with each of its templates; `rack`: a label
        of which all its nodes must have one value."""
        (number,) = {len(self.templates[name]) for name in gang}
        free = {name: node.cards for name, node in self.nodes.items()}
        domains = parts(free, {name: node.labels.get(rack, "") for name, node in self.nodes.items()})
        for version in range(number):
            pods = []
            for name, times in gang.items():
                spec = self.templates[name][version]
                pods += [(cards_of(spec), self._accepting(spec, commands))] * times
            if not fit_in_one(pods, domains if rack else [free]):
                return False
        return True

    def _accepting(self, spec: Spec, commands: Sequence[Command]) -> frozenset[str]:
        """The nodes that accept a pod before, between and after their commands."""
        return frozenset(
            name
            for name, node in self.nodes.items()
            if all(
                state is not None and state.accepts(spec)
                for state in _states(node, [each for each in commands if each.node == name])
            )
        )


def _states(node: Node, commands: Sequence[Command]) -> Iterator[Node | None]:
    """A node before, between and after its commands; None: it is gone, or takes no more pods."""
    yield node
    for one in commands:
        if one.verb in ("delete", "drain"):
            yield None
            return
        node = node.copy()
        node.change(one.verb, one.arguments)
        yield node


def _selects(selector: str, labels: Mapping[str, str]) -> bool:
    """`key=value` or `key`, all of several."""
    pairs = (one.partition("=") for one in selector.split(","))
    return all(labels.get(key) == value if equals else key in labels for key, equals, value in pairs)


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
            stated = rest[rest.index("-l") + 1]
            changes = tuple(word for word in changes if word != stated)
            names = [name for name, node in nodes.items() if _selects(stated, node.labels)]
        else:
            names = [word for word in rest if word not in changes]
        assert names, text
        assert set(names) <= set(nodes), text
        found += [Command(name, verb, changes) for name in names]
    return found
