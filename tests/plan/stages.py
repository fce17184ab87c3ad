"""The steps of a plan as somebody does them: what is merged, what is run, and on which nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policykit import api
from policykit.model.cluster import Cluster
from policykit.plan.plan import Plan, make_plan
from policykit.plan.transition import MERGE, NODES, Step
from tests.clusters import policy
from tests.loaded import loaded
from tests.plan.pairs import Data, Pair, patched
from tests.plan.simulator import Node, Spec, specs_of

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def nodes_of(cluster: Cluster) -> dict[str, Node]:
    """The nodes of the pools, and one of the control plane."""
    control = cluster.control_plane_taint
    return {
        "control": Node({CONTROL_PLANE: ""}, [tuple(control)] if control else [], 0),  # type: ignore[list-item]
        **{
            name: Node(
                {**pool.labels, **shape.labels},
                [tuple(each) for each in pool.taints],  # type: ignore[misc]
                shape.allocatable["nvidia.com/gpu"],
            )
            for pool in cluster.pools
            for shape in pool.shapes
            for name in shape.node_names
        },
    }


def planned(one: Pair) -> Plan:
    before, after = policy(one.before), policy(one.after)
    then = [("a.yaml", each) for text in one.old.values() for each in api.where(text.encode(), before)]
    now = [("a.yaml", each) for text in one.new.values() for each in api.where(text.encode(), after)]
    return make_plan(before, after, then, now)


def specs(texts: Mapping[str, str]) -> dict[str, Spec]:
    """By object and task."""
    return {name: spec for text in texts.values() for name, spec in specs_of(text).items()}


class Stage(NamedTuple):
    """One step, done."""

    step: Step
    manifests: Mapping[str, str] | None = None
    """All that are merged, by name; None: it is no merge."""
    policy: Data = {}
    """The policy that is merged with them."""
    joins: bool = False
    """The new nodes join."""
    commands: tuple[str, ...] = ()
    """What changes nodes."""


def stages(one: Pair, plan: Plan) -> Iterator[Stage]:
    """The steps in order. Objects other than nodes and manifests are left out."""
    for step in plan.steps:
        if step.when == MERGE:
            yield _merged(one, step)
            continue
        commands = tuple(
            text for text in step.commands if text.startswith(("kubectl label", "kubectl taint"))
        )
        if step.when == NODES:
            yield Stage(step, joins=not step.commands, commands=step.commands)
        elif commands:
            yield Stage(step, commands=commands)


def _merged(one: Pair, step: Step) -> Stage:
    """The policy that a step says to merge, and the manifests as it says to patch them."""
    former = re.search(r"with `formerly: (\{.*?\})`", step.text)
    data = {**one.after, "formerly": loaded(former[1])} if former else one.after
    on_nodes = data.get("formerly", {}).keys() & {"domain", "usages", "products"}
    if not on_nodes and "not with `--from`" not in step.text:
        return Stage(step, one.new, data)
    both = {name: patched(text, policy(data)) for name, text in one.old.items()}
    return Stage(step, both, data)
