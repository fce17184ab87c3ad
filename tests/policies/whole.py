"""Whole policies, part by part: each speaks only of what those before it have named."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.policy.load import load_text
from policykit.workspace.files import read
from tests.policies import nodes, shares, systems, work
from tests.policies.names import Draw, Names

_RESOURCES = {"h20": "nvidia.com/gpu", "h200": "nvidia.com/gpu"}


@st.composite
def policies(draw: Draw) -> dict[str, Any]:
    """A valid policy as data, head included."""
    scheme = nodes.scheme(draw)
    cards = nodes.cards(draw, scheme if isinstance(scheme, str) else scheme["preset"])
    names = Names(cards=_of_one_resource(cards))
    parts: dict[str, Any] = {"scheme": scheme, "cards": cards}
    parts["pools"], names = nodes.pools(draw, names, cards)
    parts["targets"], names = systems.targets(draw, names)
    parts["priorities"], names = shares.priorities(draw, names)
    parts["queues"], names = shares.queues(draw, names)
    parts["placements"], names = work.placements(draw, names)
    parts["workloads"], names = work.workloads(draw, names)
    parts["tenants"], names = shares.tenants(draw, names)
    parts["quotas"] = shares.quotas(draw, names)
    parts["reservations"] = shares.reservations(draw, names)
    preemption = {"withinQueue": st.booleans(), "reclaim": st.booleans()}
    parts["preemption"] = draw(st.fixed_dictionaries({}, optional=preemption))
    head = {
        "apiVersion": "policykit.io/v1alpha1",
        "kind": "Policy",
        "metadata": {"name": "random"},
        "domain": "ai.example.com",
    }
    return {**head, **systems.settings(draw), **{key: part for key, part in parts.items() if part}}


def clusters() -> st.SearchStrategy[Cluster]:
    """What random policies compile to."""
    return policies().map(_cluster)


def _cluster(data: dict[str, Any]) -> Cluster:
    return load_text(dump(data).encode(), "policykit.yaml", read).cluster


def _of_one_resource(cards: dict[str, Any]) -> tuple[str, ...]:
    """Cards that amounts may name side by side: one for each resource."""
    by_resource: dict[str, str] = {}
    for name in cards:
        by_resource.setdefault(_RESOURCES.get(name, name), name)
    return tuple(by_resource.values())
