"""A HyperNode that Volcano refuses, or that breaks the topology of the whole cluster.

Members are chosen by one selector each, other HyperNodes only by their name. Where one HyperNode
stands in two others, or in itself, the topology is not ready, and no job that asks for one starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import dirname

from policykit.cycles import cycles
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule
from policykit.linter.scope import Located, Scope, ScopeViolation
from policykit.model.network import DeclaredHyperNode, DeclaredMember
from policykit.model.severity import Severity

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

_Declared = Located[DeclaredHyperNode]
_SELECTORS = "exactMatch, regexMatch or labelMatch"


def check(scope: Scope, context: Context) -> Iterator[ScopeViolation]:
    """Each by itself; those of one folder, which are of one cluster, together."""
    declared = scope.of(DeclaredHyperNode)
    for node in declared:
        if not node.value.members and not node.partial:
            yield ScopeViolation(
                node,
                "members",
                "the HyperNode has no members: Volcano refuses it",
                f"list what belongs to it, each with a type and {_SELECTORS}",
            )
        for number, member in enumerate(node.value.members):
            yield from _member(node, number, member)
    folders: dict[str, list[_Declared]] = {}
    for node in declared if scope.complete else ():
        if not node.partial and node.value.name and not is_placeholder(node.value.name):
            folders.setdefault(dirname(node.path), []).append(node)
    for folder in folders.values():
        yield from _two_parents(folder)
        yield from _circles(folder)
        yield from _tier_names(folder)


def _member(node: _Declared, number: int, member: DeclaredMember) -> Iterator[ScopeViolation]:
    """Source: CRD and `webhooks/admission/hypernodes/validate` (1.12 to 1.15)."""
    if len(member.selectors) > 1:
        yield ScopeViolation(
            node,
            str(number),
            f"the member has {' and '.join(member.selectors)}: it may have one",
            "make a member of each",
        )
    if problem := _pattern_problem(member.pattern):
        yield ScopeViolation(
            node, f"{number}.pattern", f"the pattern {member.pattern!r} {problem}", "correct it"
        )
    if member.kind == "HyperNode" and member.selectors and "exactMatch" not in member.selectors:
        yield ScopeViolation(
            node,
            str(number),
            f"a member of type HyperNode is chosen by {member.selectors[0]}, which is read for nodes "
            "only: it matches nothing",
            "name each HyperNode with exactMatch",
        )
    elif not member.chosen and member.kind in ("Node", "HyperNode") and not node.partial:
        yield ScopeViolation(
            node,
            str(number),
            f"a member of type {member.kind} has no selector: it matches nothing",
            f"choose it by {_SELECTORS}",
            Severity.WARNING,
        )


def _pattern_problem(pattern: str) -> str:
    if not pattern:
        return ""
    from policykit.targets.volcano.checks.hypernodes import pattern_problem

    return pattern_problem(pattern)


def _children(node: _Declared) -> dict[str, int]:
    """Name of each HyperNode below one to the number of its member."""
    found: dict[str, int] = {}
    for number, member in enumerate(node.value.members):
        if member.kind == "HyperNode" and member.name and not is_placeholder(member.name):
            found.setdefault(member.name, number)
    return found


def _two_parents(folder: Sequence[_Declared]) -> Iterator[ScopeViolation]:
    parents: dict[str, _Declared] = {}
    for node in folder:
        for child, number in _children(node).items():
            first = parents.setdefault(child, node)
            if first.value.name != node.value.name:
                yield ScopeViolation(
                    node,
                    f"{number}.name",
                    f"HyperNode {child} stands in {first.value.name} and in {node.value.name}: Volcano "
                    "starts no job with a topology then",
                    "take it out of one of them",
                )


def _circles(folder: Sequence[_Declared]) -> Iterator[ScopeViolation]:
    """Each once, at the first HyperNode of it."""
    named = {node.value.name: node for node in folder}
    for circle in cycles({name: tuple(_children(node)) for name, node in named.items()}):
        node = named[circle[0]]
        number = _children(node)[circle[1] if len(circle) > 1 else circle[0]]
        yield ScopeViolation(
            node,
            f"{number}.name",
            f"HyperNode {circle[0]} stands in itself: {' holds '.join((*circle, circle[0]))}. Volcano starts "
            "no job with a topology then",
            "take one of the members out",
        )


def _tier_names(folder: Sequence[_Declared]) -> Iterator[ScopeViolation]:
    tiers: dict[str, _Declared] = {}
    for node in folder:
        name, tier = node.value.tier_name, node.value.tier
        if not name or tier is None:
            continue
        first = tiers.setdefault(name, node)
        if first.value.tier != tier:
            yield ScopeViolation(
                node,
                "tier_name",
                f"tier {tier} of HyperNode {node.value.name} is called {name}, as is tier {first.value.tier} "
                f"of {first.value.name}",
                "give each tier a name of its own",
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
)
