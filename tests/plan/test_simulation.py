"""Doing what a plan says, no pod set ever has fewer accepting nodes than before or after, if it says so."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Mapping

import pytest
import yaml

from policykit import api
from policykit.model.cluster import Cluster
from policykit.plan.plan import Plan, make_plan
from policykit.plan.steps import MERGE, NODES, Step
from tests.clusters import policy
from tests.plan.pairs import Data, Pair, pair, patched
from tests.plan.simulator import Node, Spec, World, commands_of, spec_of

PAIRS = int(os.environ.get("POLICYKIT_PLAN_PAIRS", "200"))
"""`make plans` takes 2,000."""
AT_ONCE = 20


def nodes_of(cluster: Cluster) -> dict[str, Node]:
    return {
        name: Node({**pool.labels, **shape.labels}, [tuple(each) for each in pool.taints], 8)  # type: ignore[misc]
        for pool in cluster.pools
        for shape in pool.shapes
        for name in shape.node_names
    }


def planned(one: Pair) -> Plan:
    before, after = policy(one.before), policy(one.after)
    then = [("a.yaml", each) for text in one.old.values() for each in api.where(text.encode(), before)]
    now = [("a.yaml", each) for text in one.new.values() for each in api.where(text.encode(), after)]
    return make_plan(before, after, then, now)


def specs(texts: Mapping[str, str]) -> dict[str, Spec]:
    return {name: spec_of(text) for name, text in texts.items()}


def with_former_names(data: Data, step: Step) -> Data:
    """The policy that a step says to merge."""
    found = re.search(r"formerly: (\{.*\})`", step.text)
    assert found, step.text
    return {**data, "formerly": yaml.safe_load(found[1])}


def simulate(one: Pair, plan: Plan, seed: int) -> None:
    """Does every step; fails where a workload has too few nodes, or the end is not the new policy."""
    final = nodes_of(policy(one.after))
    start, end = World(nodes_of(policy(one.before)), {}), World(final, {})
    old, new = specs(one.old), specs(one.new)
    was, will = (world.with_templates(each).accepting() for world, each in ((start, old), (end, new)))
    least = {name: min(was[name], will[name]) for name in was}
    world, present = start.with_templates(old), old

    def check(reached: World, step: Step) -> None:
        found = reached.accepting()
        short = {name: (found[name], number) for name, number in least.items() if found[name] < number}
        assert not short, f"seed {seed}: {step.when}: {step.text}: {short}"

    for step in plan.steps:
        if step.when == MERGE:
            both = "with `formerly: " in step.text
            if both:
                middle = policy(with_former_names(one.after, step))
                following = specs({name: patched(text, middle) for name, text in one.old.items()})
            else:
                following = new
            check(world.with_templates(present, following), step)
            world, present = world.with_templates(following), following
            continue
        if step.when == NODES and not step.commands:
            joining = {name: node for name, node in final.items() if name not in world.nodes}
            world = World({**world.nodes, **joining}, world.templates)
        commands = [text for text in step.commands if text.startswith("kubectl")]
        if step.when == NODES or (commands and "get" not in commands[0]):
            made = commands_of(commands, world.nodes)
            for reached in world.during(made, seed):
                check(reached, step)
            world = world.changed(made)
        check(world, step)
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

    least = {name: min(nodes(name, 0, 0), nodes(name, 1, whole)) for name in phases[0]}
    seen, pending = {(0, 0)}, deque([(0, 0)])
    while pending:
        phase, moved = pending.popleft()
        if (phase, moved) == (1, whole):
            return True
        following = [(1, moved)] if phase == 0 else []
        following += [(phase, moved | 1 << number) for number in range(len(every))]
        for state in following:
            if state not in seen and all(nodes(name, *state) >= number for name, number in least.items()):
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
