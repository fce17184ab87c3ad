"""Which nodes a pool or node shape has: a number, a range, names or a selector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.models.nodes import NodeSet
from policykit.policy.node_names import expand


class Members(NamedTuple):
    """Which nodes a shape has."""

    minimum: int = 0
    maximum: int | None = None
    names: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}


def members(draft: Draft, path: Path, nodes: int | NodeSet | None) -> Members:
    """The nodes given by `nodes` of a pool or shape."""
    if nodes is None:
        return Members()
    if isinstance(nodes, int):
        return Members(nodes, nodes)
    ways = [
        *(["min and max"] if nodes.min is not None or nodes.max is not None else []),
        *(["names"] if nodes.names is not None else []),
        *(["selector"] if nodes.selector is not None else []),
    ]
    if len(ways) != 1:
        said = f"set: {', '.join(ways)}" if ways else "none is set"
        message = f"nodes need exactly one of min and max, names, and selector; {said}"
        draft.problems.error(path, message, "keep one of the three", key=True)
    if nodes.names is not None:
        names = _names(draft, (*path, "names"), nodes.names)
        return Members(len(names), len(names), names)
    if nodes.selector is not None:
        return Members(selector=dict(nodes.selector))
    low, high = nodes.min or 0, nodes.max
    if high is not None and low > high:
        message = f"min {low} is more than max {high}"
        draft.problems.error((*path, "min"), message, "lower min or raise max")
    return Members(low, high)


def _names(draft: Draft, path: Path, stated: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for number, name in enumerate(stated):
        expanded = expand(name)
        if expanded is None:
            message = f"range {name!r} is reversed or too long"
            draft.problems.error((*path, number), message, "put the smaller number first: gpu-[01-16]")
            continue
        problem = dns_subdomain_problem(expanded[0])
        hint = "globs do not work here: list the names, or use selector" if "*" in name else ""
        if problem:
            draft.problems.error((*path, number), f"node name {name!r} {problem}", hint)
            continue
        for each in expanded:
            if each in found:
                draft.problems.error((*path, number), f"node {each} is listed twice in this pool")
            found[each] = None
    return tuple(found)
