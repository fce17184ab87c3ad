"""Explanations of `why`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policykit.escape import dumps, one_line
from policykit.formats.findings import counted
from policykit.formats.where import heading, pod_set, pool_lines
from policykit.gates import ACCEPTED
from policykit.gates.explanation import Explanation, GangState, PoolRoom, QueueState, Refusal, Shortage
from policykit.gates.pod_gates import LIVE_GATES
from policykit.model.quantity import amount_text


def text(found: Iterable[Explanation]) -> str:
    """A block for each."""
    return "\n".join("".join(one_line(line) + "\n" for line in _lines(one)) for one in found)


def json_text(found: Iterable[Explanation]) -> str:
    """One JSON object with `explanations`."""
    return dumps({"explanations": [_json(one) for one in found]}) + "\n"


def _lines(one: Explanation) -> Iterator[str]:
    yield heading(one.name, one.answer.review)
    yield f"  {state(one)}"
    yield from (f"  held by its {held}" if "gate" in held else f"  it is {held}" for held in one.held_by)
    rooms = {room.pool: room for room in one.rooms or () if not one.runs}
    for line, landing in zip(pool_lines(one.answer.review), one.answer.review.landings, strict=True):
        yield line
        if landing.pool.name in rooms:
            yield from (f"      {part}" for part in _room(rooms[landing.pool.name]))
    if one.rooms is None and not one.runs:
        yield "  room: unknown, because the pods of all namespaces may not be read"
    yield from (
        f"  {gate.state} by the {gate.name}: {gate.detail}"
        for gate in one.answer.gates
        if gate.state != ACCEPTED and gate.name not in LIVE_GATES
    )
    yield from (f"  queue {queue.name}: {_queue(queue)}" for queue in one.queues)
    if one.gang:
        yield f"  gang {one.gang.name}: {_gang(one.gang)}"
    if not one.runs and one.phase:
        yield f"  {one.scheduler}: {one.message or 'has not tried it: check that it runs'}"
    for step in one.steps:
        yield f"  help: {step.note}"
        if step.command:
            yield f"        {step.command}"


def state(one: Explanation) -> str:
    """Whether it waits, or where it runs."""
    if not one.phase:
        return "has no pods"
    alike = f", and {counted(one.alike, 'more pod')} like it" if one.alike else ""
    if not one.runs:
        return f"waits for a node{alike}"
    pool = f"pool {one.pool}" if one.pool else "no pool of the policy"
    where = f"runs on {one.node}, in {pool}{alike}"
    if one.meant:
        return where
    pools = ", ".join(each.name for each in one.answer.review.eligible_pools or ()) or "none"
    return f"{where}; the policy means it for {pools}"


def _room(room: PoolRoom) -> Iterator[str]:
    if not room.nodes:
        yield "no nodes in the cluster"
    elif room.open_nodes:
        nodes, pods = counted(room.nodes, "node"), counted(room.pods, "pod")
        yield f"room now on {len(room.open_nodes)} of {nodes}, for {pods}"
    else:
        yield f"no room now on {counted(room.nodes, 'node')}"
    yield from map(_refusal, room.refusals)
    yield from map(_shortage, room.shortages)


def _refusal(refusal: Refusal) -> str:
    more = len(refusal.nodes) - 3
    names = ", ".join(refusal.nodes[:3]) + (f" and {more} more" if more > 0 else "")
    return f"{names}: {refusal.detail}"


def _shortage(short: Shortage) -> str:
    """What lacks: `3 x nvidia.com/gpu free in pieces of 1 and 2, 4 needed on one node`."""
    wanted = amount_text(short.resource, short.wanted)
    pieces = sorted({amount for amount in short.free if amount})
    nodes = counted(len(short.free), "node")
    if not pieces:
        return f"{nodes}: no {short.resource} free, {wanted} needed"
    total = amount_text(short.resource, sum(short.free))
    texts = [amount_text(short.resource, amount) for amount in pieces]
    shown = " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]
    if len(texts) > 4:
        shown = f"{texts[0]} to {texts[-1]}"
    return f"{nodes}: {total} {short.resource} free in pieces of {shown}, {wanted} needed on one"


def _queue(queue: QueueState) -> str:
    if queue.used is None:
        use = "what it uses is not known to the API server"
    else:
        use = f"uses {_amounts(queue.used) or 'nothing'}"
    return f"{use}; limit {_amounts(queue.limit) or 'none'}"


def _amounts(found: Any) -> str:
    return ", ".join(f"{amount_text(name, found[name])} {name}" for name in sorted(found))


def _gang(gang: GangState) -> str:
    size = "of unknown size" if gang.minimum is None else f"needs {counted(gang.minimum, 'pod')} at once"
    phase = f"; {gang.phase}" if gang.phase else ""
    message = f": {gang.message}" if gang.message else ""
    return f"{size}, {gang.pods} exist, {gang.bound} have a node{phase}{message}"


def _json(one: Explanation) -> dict[str, Any]:
    return {
        "name": one.name,
        "state": state(one),
        "phase": one.phase or None,
        "node": one.node or None,
        "pool": one.pool or None,
        "meant": one.meant,
        "alike": one.alike,
        "held_by": list(one.held_by),
        "answer": pod_set(one.answer),
        "rooms": None
        if one.rooms is None
        else [
            {
                **room._asdict(),
                "refusals": [each._asdict() for each in room.refusals],
                "shortages": [each._asdict() for each in room.shortages],
            }
            for room in one.rooms
        ],
        "queues": [queue._asdict() for queue in one.queues],
        "gang": one.gang._asdict() if one.gang else None,
        "scheduler": one.scheduler or None,
        "said": one.message or None,
        "steps": [step._asdict() for step in one.steps],
    }
