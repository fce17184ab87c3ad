"""Volcano rejects a HyperNode, or the HyperNode breaks the topology of the whole cluster.

Each member has one selector, and other HyperNodes are selected by name only. If a HyperNode is a
member of two others, or of itself, the topology is not ready and no job that asks for one starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import dirname

from policykit.cycles import cycles
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.severity import Severity
from policykit.model.topology import DeclaredHyperNode, DeclaredMember

BAD = """\
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata:
  name: rack-1
spec:
  tier: 1
  members:
  - type: Node
    selector:
      regexMatch: {pattern: "node-(1|2"}
"""

GOOD = BAD.replace("node-(1|2", "node-(1|2)")

_Declared = LocatedFact[DeclaredHyperNode]
_PYTHON_ONLY = re.compile(r"\(\?(?:[=!>]|<[=!]|P=)|\\[1-9]|[*+?}]\+")
"""Lookaround, references back, atomic groups: RE2 has none of them."""
_RE2_ONLY = re.compile(r"\\[pPQCzE]|\[\[|--|&&|\|\||~~|\(\?[a-zA-Z-]*U|\(\?<[A-Za-z]|.\(\?[a-z]+\)|\\x\{")
_NOT_READY = "Volcano starts no job with a network topology"
_SELECTORS = "exactMatch, regexMatch or labelMatch"


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Each alone; those of one folder, which belong to one cluster, together."""
    declared = scope.of(DeclaredHyperNode)
    for node in declared:
        if not node.value.members and not node.partial:
            yield Violation(
                node.at("members"),
                "the HyperNode has no members: Volcano rejects it",
                f"list its members, each with a type and {_SELECTORS}",
            )
        for number, member in enumerate(node.value.members):
            yield from _member(node, number, member)
    folders: dict[str, list[_Declared]] = {}
    for node in declared if scope.complete else ():
        if not node.partial and node.value.name and not is_placeholder(node.value.name):
            folders.setdefault(dirname(node.path), []).append(node)
    for folder in folders.values():
        yield from _two_parents(folder)
        circles = [*_cycles(folder)]
        yield from circles
        yield from _tier_names(folder)
        if not circles:
            yield from _levels(folder)


def _member(node: _Declared, number: int, member: DeclaredMember) -> Iterator[Violation]:
    """Source: CRD and `webhooks/admission/hypernodes/validate` (1.12 to 1.15)."""
    if len(member.selectors) > 1:
        yield Violation(
            node.at(str(number)),
            f"the member has {' and '.join(member.selectors)}: only one is allowed",
            "write a member for each",
        )
    if problem := pattern_problem(member.pattern):
        yield Violation(
            node.at(f"{number}.pattern"), f"pattern {member.pattern!r} {problem}", "correct the pattern"
        )
    if member.kind == "HyperNode" and member.selectors and "exactMatch" not in member.selectors:
        yield Violation(
            node.at(str(number)),
            f"a member of type HyperNode uses {member.selectors[0]}, which only applies to nodes: it "
            "matches nothing",
            "name each HyperNode with exactMatch",
        )
    elif not member.chosen and member.kind in ("Node", "HyperNode") and not node.partial:
        yield Violation(
            node.at(str(number)),
            f"a member of type {member.kind} has no selector: it matches nothing",
            f"add {_SELECTORS}",
            Severity.WARNING,
        )
    elif field := _empty(member):
        yield Violation(
            node.at(str(number)),
            f"{member.selectors[0]} of the member has no {field}: it matches nothing",
            f"write the {field}",
            Severity.WARNING,
        )


def _empty(member: DeclaredMember) -> str:
    """The field that the only selector of a member lacks."""
    if member.selectors == ("exactMatch",) and not member.name:
        return "name"
    return "pattern" if member.selectors == ("regexMatch",) and not member.pattern else ""


def pattern_problem(pattern: str) -> str:
    """Why Go's `regexp` (RE2) rejects a pattern, as a predicate; empty: it takes it, as far as is known."""
    if not pattern or is_placeholder(pattern):
        return ""
    if found := _PYTHON_ONLY.search(re.sub(r"\\\\", "", pattern)):
        return f"has {found[0]!r}, which Go's regular expressions do not support"
    if _RE2_ONLY.search(pattern):
        return ""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    return ""


def _children(node: _Declared) -> dict[str, int]:
    """Name of each HyperNode below one to the number of its member."""
    found: dict[str, int] = {}
    for number, member in enumerate(node.value.members):
        if member.kind == "HyperNode" and member.name and not is_placeholder(member.name):
            found.setdefault(member.name, number)
    return found


def _two_parents(folder: Sequence[_Declared]) -> Iterator[Violation]:
    parents: dict[str, _Declared] = {}
    for node in folder:
        for child, number in _children(node).items():
            first = parents.setdefault(child, node)
            if first.value.name != node.value.name:
                yield Violation(
                    node.at(f"{number}.name"),
                    f"HyperNode {child} is a member of both {first.value.name} and {node.value.name}: "
                    f"{_NOT_READY}",
                    "remove it from one of them",
                )


def _cycles(folder: Sequence[_Declared]) -> Iterator[Violation]:
    """Each once, at the first HyperNode of it."""
    named = {node.value.name: node for node in folder}
    for cycle in cycles({name: list(_children(node)) for name, node in named.items()}):
        node = named[cycle[0]]
        number = _children(node)[cycle[1] if len(cycle) > 1 else cycle[0]]
        yield Violation(
            node.at(f"{number}.name"),
            f"HyperNode {cycle[0]} contains itself ({' > '.join((*cycle, cycle[0]))}): {_NOT_READY}",
            "remove one of the members",
        )


def _levels(folder: Sequence[_Declared]) -> Iterator[Violation]:
    """Members are on lower tiers, and are of the type that they are declared as."""
    named = {node.value.name: node.value for node in folder}
    for node in folder:
        own = node.value.tier
        for child, number in _children(node).items():
            tier = named[child].tier if child in named and child != node.value.name else None
            if own is not None and tier is not None and tier >= own:
                yield Violation(
                    node.at(f"{number}.name"),
                    f"HyperNode {child} is on tier {tier}, but it is a member of {node.value.name} on tier "
                    f"{own}: a job limited to tier {own} may get either",
                    "give each HyperNode a higher tier than its members",
                    Severity.WARNING,
                )
        for number, member in enumerate(node.value.members):
            if member.kind == "Node" and member.name in named:
                yield Violation(
                    node.at(f"{number}.name"),
                    f"{member.name} is a HyperNode here, but the type of the member is Node",
                    "write type: HyperNode",
                    Severity.WARNING,
                )


def _tier_names(folder: Sequence[_Declared]) -> Iterator[Violation]:
    tiers: dict[str, _Declared] = {}
    for node in folder:
        name, tier = node.value.tier_name, node.value.tier
        if not name or tier is None:
            continue
        first = tiers.setdefault(name, node)
        if first.value.tier != tier:
            yield Violation(
                node.at("tier_name"),
                f"tier {tier} of HyperNode {node.value.name} has the name {name}, as tier {first.value.tier} "
                f"of {first.value.name} has",
                "give each tier its own name",
                Severity.WARNING,
            )


RULE = Rule(
    code="PK513",
    name="invalid-hypernode",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredHyperNode,),
)
