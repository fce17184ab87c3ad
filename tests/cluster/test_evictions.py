"""Who gives way: orders of Volcano's plugins and actions, and guarantees of YuniKorn, with what lint says."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import yaml

from policykit import api
from policykit.targets.volcano.names import CONFIG_FILE
from tests.cluster.api_server import api_server
from tests.cluster.cluster import Cluster
from tests.cluster.fills import CARD, Draw, Fill, Object, Room, Step
from tests.cluster.kubelet import kubelet
from tests.cluster.scheduler import VOLCANO, YUNIKORN
from tests.cluster.test_fills import filled, run

ROOM = Room(nodes=2, cards=4, size=2)
"""Four pods fill it."""
_WAITS = 10
"""Seconds in which nobody gives way."""


class Order(NamedTuple):
    """A configuration of Volcano, and what becomes of pods that run when one more is submitted."""

    name: str
    actions: str
    tiers: tuple[str, ...]
    """Plugins by tier, with their flags."""
    gives_way: bool
    said: str = ""
    """By lint, of the configuration."""
    gang: str = "none"
    """Whether the pods that run are a gang."""
    urgent: bool = True
    """Whether the pod that is submitted has the higher priority."""

    @property
    def configuration(self) -> str:
        tiers = [{"plugins": [_plugin(each) for each in tier.split(", ")]} for tier in self.tiers]
        return yaml.safe_dump({"actions": self.actions, "tiers": tiers})


def _plugin(text: str) -> Object:
    name, *flags = text.split()
    pairs = (flag.split("=") for flag in flags)
    return {"name": name, **{key: value == "true" for key, value in pairs}}


PREEMPT = "allocate, preempt, backfill"
FREE = "gang enablePreemptable=false"
ORDERS = (
    Order("priority decides", PREEMPT, (f"priority, {FREE}, conformance", "predicates, nodeorder"), True),
    Order(
        "equal priority stays",
        PREEMPT,
        (f"priority, {FREE}, conformance", "predicates, nodeorder"),
        False,
        urgent=False,
    ),
    Order(
        "nobody has priority",
        PREEMPT,
        (f"{FREE}, conformance", "priority enablePreemptable=false, predicates, nodeorder"),
        True,
        "plugin conformance chooses the victims of preempt in a tier without priority: jobs of equal or "
        "higher priority are evicted",
        urgent=False,
    ),
    Order(
        "priority in a later tier",
        PREEMPT,
        (f"{FREE}, conformance", "priority, predicates, nodeorder"),
        True,
        "plugin conformance chooses the victims of preempt in a tier without priority: jobs of equal or "
        "higher priority are evicted",
        urgent=False,
    ),
    Order(
        "gang protects all in the last tier",
        PREEMPT,
        ("priority, gang, conformance", "predicates, nodeorder"),
        False,
        "plugin gang keeps action preempt from evicting any pod of a job that needs all its pods",
        gang="all",
    ),
    Order(
        "the tier below gang breaks it",
        PREEMPT,
        ("gang, conformance", "priority, predicates, nodeorder"),
        True,
        "where plugin gang protects every victim of preempt, the next tier (priority) decides alone and "
        "breaks gangs",
        gang="all",
    ),
    Order(
        "nobody sees who starves",
        PREEMPT,
        (
            f"priority enableJobStarving=false, {FREE} enableJobStarving=false, conformance",
            "predicates, nodeorder",
        ),
        False,
        "action preempt serves starving jobs, but no plugin detects them: it does nothing",
    ),
    Order(
        "enqueue before preempt",
        f"enqueue, {PREEMPT}",
        (f"priority, {FREE}, conformance", "overcommit, predicates, proportion, nodeorder"),
        False,
        "action enqueue admits only jobs that fit, so preempt never makes any room",
    ),
)


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_order_of_plugins(order: Order, cluster: Cluster, tmp_path: Path) -> None:
    VOLCANO.require()
    report = api.lint_texts({CONFIG_FILE: order.configuration.encode()}, select=["no-op-action"])
    assert [each.message for each in report.findings if each.severity != "info"] == (
        [order.said] if order.said else []
    )
    draw = Draw(Random(0), VOLCANO, ROOM)
    policy = draw.policy(
        kinds={
            "urgent": {"gang": "none", "priorityClass": "high"},
            "training": {"gang": order.gang, "priorityClass": "low"},
            "equal": {"gang": "none", "priorityClass": "low"},
        },
        priorities={"high": {"value": 1000}, "low": {"value": 10}},
    )
    running = Step((draw.job(policy, "one", "training", ROOM.pods),), ({"one": ROOM.pods},))
    then = draw.job(policy, "other", "urgent" if order.urgent else "equal", 1)
    after = {"one": ROOM.pods - order.gives_way, "other": int(order.gives_way)}
    steps = (running, Step((then,), (after,), waits=0 if order.gives_way else _WAITS))
    fill = Fill(order.name, policy, steps)
    with (
        api_server(cluster.plane) as server,
        kubelet(cluster.plane),
        filled(cluster, server, fill),
        VOLCANO.start(cluster.plane, tmp_path / "scheduler", {CONFIG_FILE: order.configuration}),
    ):
        assert run(server, fill) == ""


def queues(**research: Any) -> str:
    """Two queues of YuniKorn that share the cluster; `research`: the resources of one, which preempts."""
    listed = [
        {
            "name": "research",
            "submitacl": "*",
            "properties": {"preemption.delay": "1s"},
            "resources": {"max": {CARD: 8}, **research},
        },
        {"name": "product", "submitacl": "*", "resources": {"max": {CARD: 8}}},
    ]
    root = {"name": "root", "submitacl": "*", "queues": listed}
    return yaml.safe_dump({"partitions": [{"name": "default", "queues": [root]}]})


@pytest.mark.parametrize("guaranteed", [4, 0], ids=["guaranteed", "nothing guaranteed"])
def test_yunikorn_preempts_for_a_guarantee(guaranteed: int, cluster: Cluster, tmp_path: Path) -> None:
    YUNIKORN.require()
    text = queues(**({"guaranteed": {CARD: guaranteed}} if guaranteed else {}))
    report = api.lint_texts({"queues.yaml": text.encode()}, select=["preemption-without-guarantee"])
    assert len(report.findings) == (not guaranteed)
    draw = Draw(Random(0), YUNIKORN, ROOM)
    policy = draw.policy(kinds={"training": {"gang": "none"}})

    def job(name: str, queue: str, pods: int) -> Object:
        made = draw.job(policy, name, "training", pods)
        labels = {"yunikorn.apache.org/app-id": name, "yunikorn.apache.org/queue": f"root.{queue}"}
        made["spec"]["template"]["metadata"]["labels"].update(labels)
        return made

    running = Step((job("one", "product", ROOM.pods),), ({"one": ROOM.pods},))
    taken = guaranteed // ROOM.size
    after = {"one": ROOM.pods - taken, "other": taken}
    then = Step((job("other", "research", 2),), (after,), waits=0 if guaranteed else 2 * _WAITS)
    fill = Fill("guarantee", policy, (running, then))
    with (
        api_server(cluster.plane) as server,
        kubelet(cluster.plane),
        filled(cluster, server, fill),
        YUNIKORN.run(cluster.plane, tmp_path / "scheduler", {"queues.yaml": text}),
    ):
        assert run(server, fill) == ""
