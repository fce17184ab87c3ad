"""What the shared vocabulary compiles to: placements, gangs, levels, tenants, quotas, autoscaling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.gang import GangRule
from policykit.model.queue import ContainerRange, PoolAffinity, Preemption, Reservation, Submitters, Tenant
from policykit.model.topology import Level, TopologyAffinity, TopologySpread
from policykit.model.workload import (
    Autoscaling,
    Metric,
    Placement,
    Point,
    ResourcePlacement,
    ScaleTarget,
    WorkloadKind,
)
from tests.policy.memory import load_body

H20 = "cards: {h20: {product: NVIDIA-H20}}\n"
GPU = "nvidia.com/gpu"


def kind(body: str, before: str = "") -> WorkloadKind:
    return load_body(f"{before}workloads: {{t: {body}}}\n").cluster.workloads["t"]


def test_a_placement() -> None:
    cluster = load_body(
        H20 + "placements:\n  dense:\n    strategy: binpack\n"
        "    resources: {h20: {strategy: spread, weight: 10}, cpu: 3, memory: {}}\n"
        "    shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]\n"
        "    avoid: [h20, nvidia.com/gpu]\n    scheduler: dense-scheduler\n"
    ).cluster
    assert cluster.placements == {
        "dense": Placement(
            "dense",
            "binpack",
            {
                GPU: ResourcePlacement("spread", 10),
                "cpu": ResourcePlacement("binpack", 3),
                "memory": ResourcePlacement("binpack", 1),
            },
            (Point(0, 0), Point(100, 10)),
            (GPU,),
            "dense-scheduler",
        )
    }
    assert "dense-scheduler" in cluster.schedulers


@pytest.mark.parametrize(
    ("named", "strategy", "name"),
    [("even", "spread", "even"), ("binpack", "spread", "binpack"), ("spread", "spread", ""), ("", "", "")],
    ids=["its own", "its own with a built-in name", "built in", "none"],
)
def test_placements_of_kinds(named: str, strategy: str, name: str) -> None:
    found = kind(
        f"{{placement: '{named}'}}", "placements: {even: {strategy: spread}, binpack: {strategy: spread}}\n"
    )
    assert (found.placement, found.placement_name) == (strategy, name)


@pytest.mark.parametrize(("stated", "wanted"), [("", "s"), ("scheduler: volcano, ", "volcano")])
def test_a_kind_has_the_scheduler_of_its_placement(stated: str, wanted: str) -> None:
    before = "placements: {even: {strategy: spread, scheduler: s}}\n"
    assert kind(f"{{{stated}placement: even}}", before).scheduler == wanted


@pytest.mark.parametrize(
    ("text", "gang", "rule"),
    [
        ("all", "all", None),
        ("none", "none", None),
        ("{}", "all", None),
        ("{size: 4}", "all", GangRule(4)),
        ("{timeout: 1h30m, onTimeout: fail}", "all", GangRule(None, 5400, "fail")),
    ],
)
def test_gangs(text: str, gang: str, rule: GangRule | None) -> None:
    found = kind(f"{{gang: {text}}}")
    assert (found.gang, found.gang_rule) == (gang, rule)


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400), st.integers(0, 400))
def test_durations_are_seconds(days: int, hours: int, minutes: int, seconds: int) -> None:
    wanted = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    units = zip((days, hours, minutes, seconds), "dhms", strict=True)
    text = "".join(f"{number}{unit}" for number, unit in units if number or not wanted)
    if wanted:
        assert kind(f"{{gang: {{timeout: {text}}}}}").gang_rule == GangRule(timeout=wanted)


def test_levels_are_those_spoken_of_widest_first() -> None:
    cluster = load_body(
        "scheme: {topology: {switch: example.com/leaf}}\n"
        "pools: {a: {nodes: {names: [a-1]}, topology: [{nodes: [a-1], rack: r, nvlink: v}]}}\n"
        "workloads: {t: {within: {level: domain, mode: hard}, across: {level: node, skew: 2}}}\n"
    ).cluster
    assert cluster.levels == (
        Level("domain", "d.example/network-domain"),
        Level("rack", "d.example/rack"),
        Level("switch", "example.com/leaf"),
        Level("nvlink", "d.example/nvlink-domain"),
    )
    assert cluster.workloads["t"].within == TopologyAffinity("domain", True)
    assert cluster.workloads["t"].across == TopologySpread("node", False, 2)
    assert cluster.pools[0].shapes[0].labels == {"d.example/rack": "r", "d.example/nvlink-domain": "v"}


def test_a_policy_that_speaks_of_no_place_has_no_levels() -> None:
    assert load_body("pools: {a: {nodes: 1}}\n").cluster.levels == ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{}", (None, None)),
        ("{submit: {}}", (Submitters(), None)),
        ("{submit: {users: ['*']}}", (Submitters(("*",)), None)),
        ("{pools: [a, b]}", (None, PoolAffinity(("a", "b")))),
        ("{pools: {preferred: [a], excluded: [b]}}", (None, PoolAffinity((), ("a",), ("b",)))),
    ],
)
def test_who_submits_and_where(text: str, wanted: tuple[Submitters | None, PoolAffinity | None]) -> None:
    (queue,) = load_body(
        f"pools: {{a: {{nodes: 1}}, b: {{nodes: 1}}}}\nqueues: {{q: {text}}}\n"
    ).cluster.queues
    assert (queue.submit, queue.pools) == wanted


def test_tenants_and_reservations() -> None:
    cluster = load_body(
        H20 + "pools: {a: {nodes: 1, card: h20}}\nqueues: {q: {}}\npreemption: {withinQueue: false}\n"
        "tenants: {team: {namespaces: [x, z], queue: q, users: [ann], groups: [dev]}}\n"
        "workloads: {t: {}}\n"
        "reservations: {r: {tenant: team, workload: t, pool: a, requests: {h20: 8, cpu: 90}, pods: 2,"
        " ttl: 24h}}\n"
    ).cluster
    assert cluster.tenants == (Tenant("team", ("x", "z"), "q", ("ann",), ("dev",)),)
    assert cluster.reservations == (Reservation("r", {GPU: 8, "cpu": 90000}, 2, "team", "t", "a", 86400),)
    assert cluster.preemption == Preemption(within_queue=False)


def test_containers_of_a_namespace() -> None:
    cluster = load_body(
        "priorities: {high: {value: 1}}\n"
        "quotas: {q: {priorities: [high], containers: {default: {cpu: 1}, defaultRequest: {cpu: 500m},"
        " min: {cpu: 100m}, max: {cpu: 2, memory: 1Gi}}}}\n"
    ).cluster
    assert cluster.quotas[0].priorities == ("high",)
    assert cluster.quotas[0].containers == ContainerRange(
        {"cpu": 1000}, {"cpu": 500}, {"cpu": 100}, {"cpu": 2000, "memory": 1024**3}
    )


def test_autoscaling() -> None:
    found = kind(
        "{autoscaling: {min: 2, max: 8, cooldown: 5m, metrics: [{resource: memory, average: 2Gi},"
        " {pods: waiting, average: 5}],"
        " targets: [{name: a}, {kind: M, apiVersion: e.com/v1, name: a, namespace: n1}]}}"
    )
    assert found.autoscaling == Autoscaling(
        8,
        2,
        (Metric("resource", "memory", None, "2Gi"), Metric("pods", "waiting", None, "5")),
        (ScaleTarget("Deployment", "a"), ScaleTarget("M", "a", "n1", "e.com/v1")),
        300,
    )
