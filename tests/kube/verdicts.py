"""What the code says of a vector case, in the case's own words: compare with its `expected`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policykit.kube import affinity, nodes, requests, tolerations
from policykit.kube.affinity import NodeAffinity
from policykit.model.pool import Amounts, Pool, Toleration
from tests.kube import kubelet, oracle, scoring
from tests.kube.scoring import Share, scoring_requests

Case = dict[str, Any]
_GATE = "TaintTolerationComparisonOperators"
_DEFAULT = {"cpu": 1, "memory": 1}


def filtered(case: Case) -> Case:
    """Of a Node and a PodSpec: schedulable, blocked_by (where anything blocks), api_valid."""
    comparison = case.get("feature_gates", {}).get(_GATE, False)
    node, pod = nodes.read(case["node"]), case["pod"]
    blocked = oracle.filters(node, _tolerations(pod), affinity.read(pod), comparison=comparison)
    refused = [
        *oracle.taint_problems(node.taints),
        *(problem for t in _tolerations(pod) for problem in tolerations.problems(t, comparison=comparison)),
        *oracle.affinity_problems(pod),
    ]
    said: Case = {"schedulable": not blocked, "api_valid": not refused}
    return {**said, "blocked_by": list(blocked)} if blocked else said


def scored(case: Case) -> Case:
    """Of one plugin on one node or several, or the total of all."""
    plugin = case["plugin"]
    if plugin == "NodeResourcesFit":
        return _fit(case)
    if plugin == "NodeResourcesBalancedAllocation":
        shares = _balanced_shares(case["node"], case["pod"], _weights(case))
        older = scoring.balanced_score(shares, up_to_1_35=True)
        return {"score": scoring.balanced_score(shares), "score_up_to_1_35": older}
    if plugin == "total":
        return {"by_node": _totals(case)}
    raw = _raw(plugin, case)
    return {"raw": raw, "normalised": _normalised(plugin, raw)}


def requested(pod: Case) -> dict[str, int]:
    return {"cpu_milli" if r == "cpu" else r: counted for r, counted in requests.effective(pod).items()}


def admitted(case: Case) -> Case:
    reason = kubelet.refusal(case["pod"], nodes.read(case["node"]))
    return {"kubelet_admits": False, "reason": reason} if reason else {"kubelet_admits": True}


def _tolerations(pod: Case) -> tuple[Toleration, ...]:
    return tolerations.read(pod.get("tolerations"))


def _weights(case: Case) -> dict[str, int]:
    return {entry["name"]: entry["weight"] for entry in case["resources"]}


def _sum(amounts: Sequence[Amounts]) -> Amounts:
    return {r: sum(a.get(r, 0) for a in amounts) for r in sorted({r for a in amounts for r in a})}


def _fit_shares(node: Case, pod: Case, weights: dict[str, int]) -> dict[str, Share]:
    used = _sum([scoring_requests(there, existing=True) for there in node.get("pods", [])])
    return scoring.shares(weights, nodes.read(node).shapes[0].allocatable, used, scoring_requests(pod))


def _balanced_shares(node: Case, pod: Case, weights: dict[str, int]) -> list[Share]:
    used = _sum([requests.effective(there) for there in node.get("pods", [])])
    allocatable = nodes.read(node).shapes[0].allocatable
    return list(scoring.shares(weights, allocatable, used, requests.effective(pod)).values())


def _fit(case: Case) -> Case:
    weights = _weights(case)
    shape = [(point["utilization"], point["score"]) for point in case.get("shape", [])]
    shares = _fit_shares(case["node"], case["pod"], weights)
    each: dict[str, Case | None] = dict.fromkeys(weights)
    for resource, share in shares.items():
        points = scoring.score(case["strategy"], share.requested, share.allocatable, shape)
        each[resource] = {
            "requested": share.requested,
            "allocatable": share.allocatable,
            "score": points,
        }
    return {"score": scoring.fit_score(case["strategy"], shares.values(), shape), "per_resource": each}


def _raw(plugin: str, case: Case) -> dict[str, int]:
    asked, tolerated = affinity.read(case["pod"]), _tolerations(case["pod"])
    return {
        node.name: _preference(asked, node)
        if plugin == "NodeAffinity"
        else oracle.untolerated_soft(node.taints, tolerated)
        for node in map(nodes.read, case["nodes"])
    }


def _preference(asked: NodeAffinity, node: Pool) -> int:
    return affinity.preference(asked, nodes.labels_of(node), node.name)


def _normalised(plugin: str, raw: dict[str, int]) -> dict[str, int]:
    scaled = scoring.normalised(list(raw.values()), reverse=plugin == "TaintToleration")
    return dict(zip(raw, scaled, strict=True))


def _totals(case: Case) -> Case:
    normal = {
        plugin: _normalised(plugin, _raw(plugin, case)) for plugin in ("TaintToleration", "NodeAffinity")
    }
    totals: Case = {}
    for node in case["nodes"]:
        name = node["metadata"]["name"]
        points = {
            "TaintToleration": normal["TaintToleration"][name],
            "NodeAffinity": normal["NodeAffinity"][name],
            "NodeResourcesFit": scoring.fit_score(
                case["strategy"], _fit_shares(node, case["pod"], _DEFAULT).values()
            ),
            "NodeResourcesBalancedAllocation": scoring.balanced_score(
                _balanced_shares(node, case["pod"], _DEFAULT)
            ),
        }
        weighted = {plugin: scoring.DEFAULT_WEIGHTS[plugin] * score for plugin, score in points.items()}
        totals[name] = {**weighted, "total": sum(weighted.values())}
    return totals
