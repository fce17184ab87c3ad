"""Doing what a plan says, no pod set ever has fewer accepting nodes than before or after, if it says so."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from policykit.plan.plan import Plan
from policykit.plan.transition import MERGE, NODES, Step
from tests.clusters import policy
from tests.plan.pairs import DEPLOYMENT, JOB, Pair, manifest, pair, patched
from tests.plan.simulator import Command, World, cards_of, commands_of, fit_in_one, gang_of, parts
from tests.plan.stages import nodes_of, planned, specs, stages

PAIRS = int(os.environ.get("POLICYKIT_PLAN_PAIRS", "200"))
"""`make plans` takes 2,000."""
AT_ONCE = 20


def simulate(one: Pair, plan: Plan, seed: int) -> None:
    """Does every step; fails where a workload has too few nodes, or the end is not the new policy."""
    final = nodes_of(policy(one.after))
    start, end = World(nodes_of(policy(one.before)), {}), World(final, {})
    old, new = specs(one.old), specs(one.new)
    was, will = (world.with_templates(each).accepting() for world, each in ((start, old), (end, new)))
    least = {name: min(was[name], will[name]) for name in was}
    gangs = [gang for text in one.old.values() if (gang := gang_of(text))]
    gangs = [
        gang
        for gang in gangs
        if start.with_templates(old).holds(gang, (), one.rack)
        and end.with_templates(new).holds(gang, (), one.rack)
    ]
    world, present = start.with_templates(old), old

    def check(reached: World, step: Step, commands: Sequence[Command] = ()) -> None:
        found = reached.least_during(commands)
        short = {name: (found[name], number) for name, number in least.items() if found[name] < number}
        assert not short, f"seed {seed}: {step.when}: {step.text}: {short}"
        torn = [gang for gang in gangs if not reached.holds(gang, commands, one.rack)]
        assert not torn, f"seed {seed}: {step.when}: {step.text}: no room for {torn}"

    for stage in stages(one, plan):
        if stage.manifests is not None:
            following = specs(stage.manifests)
            check(world.with_templates(present, following), stage.step)
            world, present = world.with_templates(following), following
            continue
        if stage.joins:
            joining = {name: node for name, node in final.items() if name not in world.nodes}
            world = World({**world.nodes, **joining}, world.templates)
        made = commands_of(stage.commands, world.nodes)
        check(world, stage.step, made)
        world = world.changed(made)
        check(world, stage.step)
    if any(step.when == MERGE for step in plan.steps):
        assert present == new, f"seed {seed}: the new manifests are never merged"
    for name, node in final.items():
        there = world.nodes[name]
        assert there.taints == node.taints, f"seed {seed}: {name}"
        assert node.labels.items() <= there.labels.items(), f"seed {seed}: {name}"
    assert set(world.nodes) == set(final), f"seed {seed}"


def has_order(one: Pair) -> bool:
    """Whether some order of one merge and single nodes keeps every workload at its least: tries all."""
    before, after = nodes_of(policy(one.before)), nodes_of(policy(one.after))
    every = sorted(before.keys() | after.keys())
    phases = [specs(one.old), specs(one.new)]
    counts = [
        {
            name: [
                [bool(nodes.get(each) and nodes[each].accepts(spec)) for each in every]
                for nodes in (before, after)
            ]
            for name, spec in phase.items()
        }
        for phase in phases
    ]
    whole = (1 << len(every)) - 1

    def nodes(name: str, phase: int, moved: int) -> int:
        return sum(counts[phase][name][moved >> number & 1][number] for number in range(len(every)))

    free = {name: max(each[name].cards for each in (before, after) if name in each) for name in every}

    racks = {name: nodes[name].labels.get(one.rack, "") for nodes in (before, after) for name in nodes}
    domains = parts(free, racks)

    @cache
    def holds(gang: tuple[tuple[str, int], ...], phase: int, moved: int) -> bool:
        pods = []
        for name, times in gang:
            accepting = {
                each for number, each in enumerate(every) if counts[phase][name][moved >> number & 1][number]
            }
            pods += [(cards_of(phases[phase][name]), frozenset(accepting))] * times
        return fit_in_one(pods, domains if one.rack else [free])

    every_gang = [tuple(gang.items()) for text in one.old.values() if (gang := gang_of(text))]
    gangs = [gang for gang in every_gang if holds(gang, 0, 0) and holds(gang, 1, whole)]
    least = {name: min(nodes(name, 0, 0), nodes(name, 1, whole)) for name in phases[0]}

    def allowed(phase: int, moved: int) -> bool:
        enough = all(nodes(name, phase, moved) >= number for name, number in least.items())
        return enough and all(holds(gang, phase, moved) for gang in gangs)

    seen, pending = {(0, 0)}, deque([(0, 0)])
    while pending:
        phase, moved = pending.popleft()
        if (phase, moved) == (1, whole):
            return True
        following = [(1, moved)] if phase == 0 else []
        following += [(phase, moved | 1 << number) for number in range(len(every))]
        for state in following:
            if state not in seen and allowed(*state):
                seen.add(state)
                pending.append(state)
    return False


@pytest.mark.parametrize("start", range(0, PAIRS, AT_ONCE))
def test_the_steps_keep_every_pod_set_placeable(start: int) -> None:
    for seed in range(start, start + AT_ONCE):
        one = pair(seed)
        plan = planned(one)
        if plan.is_safe:
            simulate(one, plan, seed)
        else:
            assert plan.exhaustive, f"seed {seed}"
            assert not has_order(one), f"seed {seed}: plan found no order, but there is one"


@pytest.mark.parametrize("seed", range(PAIRS, PAIRS + 20))
def test_larger_clusters(seed: int) -> None:
    one = pair(seed, pools=6, nodes=12, workloads=8)
    plan = planned(one)
    if plan.is_safe:
        simulate(one, plan, seed)


def test_most_pairs_have_an_order() -> None:
    """The simulation would prove nothing if plans gave up."""
    safe = sum(planned(pair(seed)).is_safe for seed in range(60))
    assert safe >= 48


def in_racks(train: dict[str, str], infer: dict[str, str], mode: str) -> dict[str, Any]:
    """A policy with nodes of two usages, each with its rack."""
    return {
        "domain": "a.example.com",
        "coverage": "complete",
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": {
            usage: {
                "usage": usage,
                "card": "h20",
                "nodes": [{"nodes": {"names": [*nodes]}}],
                "topology": [{"nodes": [name], "rack": rack} for name, rack in nodes.items()],
            }
            for usage, nodes in (("training", train), ("inference", infer))
        },
        "targets": {"volcano": {"version": "1.15.1"}},
        "workloads": {
            "training": {
                "usages": ["training"],
                "scheduler": "volcano",
                "gang": "all",
                "within": {"level": "rack", "mode": mode},
            },
            "inference": {"usages": ["inference"]},
        },
    }


@pytest.mark.parametrize(("mode", "first"), [("soft", "a2"), ("hard", "c1")])
def test_a_gang_keeps_its_room_within_one_rack(mode: str, first: str) -> None:
    """A node of rack a goes, and one of rack b comes, which first takes pods that need another node: counted
    together, there are enough nodes in either order."""
    before = in_racks({"a1": "a", "a2": "a", "b1": "b", "c1": "c"}, {"b2": "b"}, mode)
    after = in_racks({"a1": "a", "b1": "b", "b2": "b"}, {"a2": "a", "c1": "c"}, mode)
    gang = manifest(JOB, "gang", "training", pods=2, cards=8)
    chat = manifest(DEPLOYMENT, "chat", "inference", pods=1, cards=1)
    texts = {name: patched(text, policy(before)) for name, text in (("gang", gang), ("chat", chat))}
    new = {name: patched(text, policy(before), policy(after)) for name, text in texts.items()}
    one = Pair(before, after, texts, new, "a.example.com/rack" if mode == "hard" else "")
    plan = planned(one)
    assert plan.is_safe
    simulate(one, plan, 0)
    nodes = [step.commands[0].split(" \\\n  ")[1] for step in plan.steps if step.when == NODES]
    assert nodes[0] == first
