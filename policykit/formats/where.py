"""Pools that pod sets can run in, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policykit.escape import dumps, one_line
from policykit.formats.findings import counted
from policykit.gates import ACCEPTED
from policykit.gates.pod_gates import Answer
from policykit.manifests.path import pointer
from policykit.placement.capacity import gang_problem
from policykit.placement.landing import Landing
from policykit.placement.owner import owner
from policykit.placement.recognition import HOW_TO_STATE, WORKLOAD_KEY, stated_kind
from policykit.placement.review import Review
from policykit.targets import preferences_ignored_by


def text(answers: Iterable[Answer], *, live: bool = False) -> str:
    """A block per pod set: its description, the clusters if there are several, a line per pool, then the
    gates that do not accept it.

    `live`: the paths are names of objects in a cluster.
    """
    every = [*answers]
    several = len({name for one in every for name in one.clusters}) > 1
    return "\n".join(_block(one, several=several, live=live) for one in every)


def json_text(answers: Iterable[Answer]) -> str:
    """One JSON object with `pod_sets`, each with its pools and gates."""
    return dumps({"pod_sets": [pod_set(answer) for answer in answers]}) + "\n"


def _block(answer: Answer, *, several: bool, live: bool) -> str:
    review = answer.review
    name = f"{review.manifest.kind} {review.manifest.name}".strip()
    place = answer.path if live else f"{answer.path}:{answer.first_line}  {name}"
    lines = [
        heading(place, review),
        *_for_whom(answer, several=several),
        f"  {_kind(review)}",
        *pool_lines(review),
    ]
    held = [gate for gate in answer.gates if gate.state != ACCEPTED]
    lines += [f"  {gate.state:<11}  by the {gate.name}: {gate.detail}" for gate in held]
    return "".join(one_line(line) + "\n" for line in lines)


def _for_whom(answer: Answer, *, several: bool) -> Iterator[str]:
    parts = []
    if several and answer.clusters:
        parts.append(f"cluster{'s' if len(answer.clusters) > 1 else ''} {', '.join(answer.clusters)}")
    if answer.builds:
        parts.append(f"built from {', '.join(answer.builds)}")
    if parts:
        yield f"  {', '.join(parts)}"


def heading(name: str, review: Review) -> str:
    """A pod set, its number of pods and what each requests."""
    pod_set = review.pod_set
    pods = "unknown number of pods" if pod_set.replicas is None else counted(pod_set.replicas, "pod")
    requests = ", ".join(f"{review.requests[r]} x {r}" for r in review.card_resources) or "no card"
    return f"{name}  {pod_set.name}  ({pods}, each requests {requests})"


def pool_lines(review: Review) -> list[str]:
    """A line for each pool: its verdict, and the reason."""
    width = max((len(landing.pool.name) for landing in review.landings), default=0)
    lines = []
    for landing in review.landings:
        verdict, reason = _verdict(landing, review), _reason(landing, review)
        lines.append(f"  {verdict:<11}  {landing.pool.name:<{width}}  {reason}".rstrip())
    return lines


def _kind(review: Review) -> str:
    if review.workload:
        return f"workload kind {review.workload.name}: {review.decided_by}"
    could = f": could be {' or '.join(review.candidates)}" if review.candidates else ""
    how = f"; {HOW_TO_STATE}" if review.lacks_workload_kind else ""
    known = ", ".join(review.cluster.workloads) if review.cluster else ""
    if known and (stated := stated_kind(owner(review.manifest, review.pod_set), review.pod_set)):
        how = f": {stated.field[:-1]} {WORKLOAD_KEY} is {stated.name!r}, but the policy has {known}"
    return f"no workload kind{could}{how}"


def _verdict(landing: Landing, review: Review) -> str:
    """A system that ignores preferences prefers no pool."""
    ignored = landing.accepts and preferences_ignored_by(review.pod_set, review.cluster)
    return "accepted" if ignored else landing.verdict


def _reason(landing: Landing, review: Review) -> str:
    if not landing.accepts:
        return f"{landing.reason}: {landing.detail}"
    if not landing.score:
        return ""
    target_name = preferences_ignored_by(review.pod_set, review.cluster)
    if target_name:
        return f"preference {landing.score}, which {target_name} ignores"
    return f"preference {landing.score}{_margin(landing, review)}"


def _margin(landing: Landing, review: Review) -> str:
    """The lead over the next pool, if it is so small that other scores may outweigh it.

    Source: NodeAffinity gives the best node 100 points and others their share, and weighs 2; each of
    NodeResourcesFit and BalancedAllocation gives up to 100 points (kube-scheduler 1.36).
    """
    if landing.verdict != "preferred":
        return ""
    others = [each for each in review.landings if each.verdict == "accepted" and each.score]
    after = max(others, key=lambda each: each.score, default=None)
    if after is None or (landing.score - after.score) * 2 >= landing.score:
        return ""
    margin = landing.score - after.score
    return f", {margin} above {after.pool.name}: other scores may outweigh it"


def pod_set(answer: Answer) -> dict[str, Any]:
    """A pod set as JSON."""
    review = answer.review
    manifest, pod_set = review.manifest, review.pod_set
    return {
        "path": answer.path,
        "line": answer.first_line,
        "clusters": list(answer.clusters),
        "built_from": list(answer.builds),
        "resource": {
            "api_version": manifest.api_version,
            "kind": manifest.kind,
            "namespace": manifest.namespace or None,
            "name": manifest.name,
        },
        "pointer": pointer((*manifest.base, *pod_set.path)),
        "name": pod_set.name,
        "replicas": pod_set.replicas,
        "workload": review.workload.name if review.workload else None,
        "decided_by": review.decided_by or None,
        "gang": gang_problem(review) or None,
        "state": answer.state,
        "gates": [
            {"gate": gate.name, "state": gate.state, "detail": gate.detail or None} for gate in answer.gates
        ],
        "pools": [
            {
                "pool": landing.pool.name,
                "verdict": _verdict(landing, review),
                "reason": landing.reason or None,
                "detail": landing.detail or None,
            }
            for landing in review.landings
        ],
    }
