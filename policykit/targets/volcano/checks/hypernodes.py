"""HyperNodes as facts for the rule about them, and what is wrong with each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context
from policykit.linter.scope import Stated
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, whole
from policykit.model.network import DeclaredHyperNode, DeclaredMember

_GROUP = "topology.volcano.sh"
_SELECTORS = ("exactMatch", "regexMatch", "labelMatch")
_PYTHON_ONLY = re.compile(r"\(\?(?:[=!>]|<[=!]|P=)|\\[1-9]|[*+?}]\+")
"""Lookaround, references back, atomic groups: RE2 has none of them."""
_RE2_ONLY = re.compile(r"\\[pPQCzE]|\[\[|--|&&|\|\||~~|\(\?[a-zA-Z-]*U|\(\?<[A-Za-z]|.\(\?[a-z]+\)|\\x\{")


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Stated]:
    """Of a HyperNode."""
    if manifest.group != _GROUP or manifest.kind != "HyperNode":
        return
    spec = mapping(manifest.data.get("spec"))
    if not isinstance(spec.get("members"), list | None):
        return  # a placeholder for all of them, say: nothing is known
    places: dict[str, Path] = {"name": ("metadata", "name"), "members": ("spec", "members")}
    if "tierName" in spec:
        places["tier_name"] = ("spec", "tierName")
    members = []
    listed = spec.get("members")
    for number, item in enumerate(listed if isinstance(listed, list) else ()):
        selector = mapping(item).get("selector")
        path: Path = ("spec", "members", number)
        places[str(number)] = path
        members.append(_member(mapping(item)))
        for field, way in (("name", ("exactMatch", "name")), ("pattern", ("regexMatch", "pattern"))):
            if lookup(selector, way) is not None:
                places[f"{number}.{field}"] = (*path, "selector", *way)
    tier = whole(spec.get("tier"))
    yield Stated(DeclaredHyperNode(manifest.name, tier, text(spec.get("tierName")), tuple(members)), places)


def _member(item: Mapping[str, object]) -> DeclaredMember:
    selector = mapping(item.get("selector"))
    return DeclaredMember(
        text(item.get("type")),
        tuple(name for name in _SELECTORS if selector.get(name) is not None),
        text(mapping(selector.get("exactMatch")).get("name")),
        text(mapping(selector.get("regexMatch")).get("pattern")),
        bool(item.get("selector")),
    )


def pattern_problem(pattern: str) -> str:
    """What Go's `regexp` (RE2) says against a pattern, as a predicate; empty: nothing, as far as is known."""
    if not pattern or is_placeholder(pattern):
        return ""
    if found := _PYTHON_ONLY.search(re.sub(r"\\\\", "", pattern)):
        return f"has {found[0]!r}, which Go's regular expressions do not know"
    if _RE2_ONLY.search(pattern):
        return ""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    return ""
