"""What would let a pod run, as commands where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from policykit.gates.explanation import SUSPENDED, Explanation, Step
from policykit.gates.gate import REFUSED
from policykit.model.cluster import Cluster
from policykit.model.quantity import amount_text

_CORDONED = "unschedulable"
_MOST = 3
"""Nodes that a command names."""


def steps(one: Explanation, cluster: Cluster) -> Iterator[Step]:
    """In the order in which they are worth trying."""
    yield from _held(one)
    yield from _gates(one)
    if not any(landing.accepts for landing in one.answer.review.landings):
        yield from _placement(one, cluster)
    for room in one.rooms or ():
        if room.open_nodes:
            continue
        for refusal in room.refusals:
            if refusal.reason == _CORDONED:
                names = " ".join(map(quote, refusal.nodes[:_MOST]))
                yield Step(f"pool {room.pool}: {refusal.detail}", f"kubectl uncordon {names}")
        for short in room.shortages:
            wanted = amount_text(short.resource, short.wanted)
            yield Step(f"pool {room.pool}: free {wanted} {short.resource} on one node, or add a node")


def _held(one: Explanation) -> Iterator[Step]:
    for held in one.held_by:
        if held != SUSPENDED:
            yield Step(f"{held}: whoever set it removes it")
        elif one.made_by:
            patch = '{"spec":{"suspend":false}}'
            command = f"kubectl patch {_object(one)} --type merge -p '{patch}'"
            yield Step("it is suspended: a queueing system resumes it, or else you", command)


def _object(one: Explanation) -> str:
    """The object that makes the pods, as words for kubectl."""
    namespace = one.answer.review.manifest.namespace or "default"
    return f"{quote(one.made_by)} -n {quote(namespace)}"


def _gates(one: Explanation) -> Iterator[Step]:
    for gate in one.answer.gates:
        if gate.state == REFUSED:
            yield Step(f"{gate.name}: {gate.detail}")


def _placement(one: Explanation, cluster: Cluster) -> Iterator[Step]:
    """No pool accepts the pod: patch would place it, if its workload kind is known."""
    review = one.answer.review
    if review.workload is not None and one.made_by and not cluster.observed:
        # The templates of other kinds than those of apps cannot be changed.
        write = "apply" if ".apps/" in one.made_by else "replace --force"
        yield Step(
            f"no pool accepts it: place it as workload kind {review.workload.name}",
            f"kubectl get {_object(one)} -o yaml | policykit patch - | kubectl {write} -f -",
        )
    elif review.workload is None and cluster.workloads:
        known = ", ".join(sorted(cluster.workloads))
        yield Step(f"no pool accepts it, and it has no workload kind: give it one of {known}")
    else:
        yield Step("no pool accepts it: change its selectors, tolerations or requests")
