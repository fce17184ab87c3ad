"""Options held against Volcano's releases: what is wrong, where, and what may have been meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.problem import Problem
from policykit.targets.volcano.scheduler.arguments import option_problems
from policykit.targets.volcano.scheduler.plugins import FLAGS, PLUGINS, PREEMPTABLE, RECLAIMABLE

NEWEST = (1, 15, 1)


def found(options: dict[str, Any], have: tuple[int, ...] | None = NEWEST) -> list[Problem]:
    return list(option_problems(options, have))


def plugin(name: str, **stated: Any) -> dict[str, Any]:
    return {"plugins": {name: stated}}


def argued(name: str, key: str, value: object) -> dict[str, Any]:
    return plugin(name, arguments={key: value})


def test_every_plugin_of_the_newest_release() -> None:
    assert " ".join(sorted(PLUGINS)) == (
        "binpack capacity cdp conformance deviceshare drf extender gang network-topology-aware nodegroup "
        "nodeorder numa-aware overcommit pdb predicates priority proportion rescheduling "
        "resource-strategy-fit resourcequota sla task-topology tdm usage"
    )
    assert set(PREEMPTABLE) | set(RECLAIMABLE) <= set(PLUGINS)


@pytest.mark.parametrize(
    "options",
    [
        {"actions": ["allocate", "backfill", "reclaim", "preempt"]},
        plugin("gang", flags={"enablePreemptable": True, "enableJobStarving": True}),
        plugin("capacity", flags={"enableHierarchy": True}, arguments={"ancestorReclaimLevel": 1}),
        argued("binpack", "binpack.resources.nvidia.com/gpu", 10),
        argued("tdm", "tdm.revocable-zone.night", "22:00-06:00"),
        argued("usage", "thresholds", {"cpu": 80, "mem": 70}),
        argued("overcommit", "overcommit-factor", 2),
        argued("predicates", "volumebinding.weight", 2),
        argued(
            "resource-strategy-fit", "resources", {"nvidia.com/*": {"type": "MostAllocated", "weight": 2}}
        ),
        argued("deviceshare", "deviceshare.GPUExclusiveRules", [{"app": "a"}]),
        argued("extender", "extender.managedResources", ["example.com/dongle"]),
        argued(
            "rescheduling",
            "strategies",
            [{"name": "lowNodeUtilization", "params": {"thresholds": {"cpu": 20}}}],
        ),
        {"metrics": {"type": "prometheus", "address": "http://prometheus:9090", "interval": "30s"}},
        {"configurations": {"preempt": {"enableTopologyAwarePreemption": True}}},
    ],
    ids=str,
)
def test_what_volcano_takes(options: dict[str, Any]) -> None:
    assert found(options) == []


@pytest.mark.parametrize(
    ("options", "path", "message", "advice"),
    [
        (
            plugin("binpak"),
            ("plugins", "binpak"),
            "Volcano has no plugin 'binpak'",
            "did you mean binpack?",
        ),
        (
            plugin("gang", flags={"enabledPreemptable": False}),
            ("plugins", "gang", "flags", "enabledPreemptable"),
            "plugin gang has no flag enabledPreemptable",
            "did you mean enablePreemptable?",
        ),
        (
            plugin("gang", flags={"enableHierarchy": True}),
            ("plugins", "gang", "flags", "enableHierarchy"),
            "plugin gang does not read enableHierarchy",
            "drf, capacity, nodegroup do",
        ),
        (
            argued("binpack", "binpack.wieght", 3),
            ("plugins", "binpack", "arguments", "binpack.wieght"),
            "plugin binpack has no argument binpack.wieght",
            "did you mean binpack.weight?",
        ),
        (
            argued("binpack", "binpack.weight", "10"),
            ("plugins", "binpack", "arguments", "binpack.weight"),
            'binpack.weight of plugin binpack is the string "10", not a whole number',
            "",
        ),
        (
            argued("binpack", "binpack.weight", 10.0),
            ("plugins", "binpack", "arguments", "binpack.weight"),
            "binpack.weight of plugin binpack is 10.0, not a whole number",
            "",
        ),
        (
            argued("binpack", "binpack.cpu", -1),
            ("plugins", "binpack", "arguments", "binpack.cpu"),
            "binpack.cpu of plugin binpack is -1, below 0",
            "",
        ),
        (
            argued("nodegroup", "strict", "false"),
            ("plugins", "nodegroup", "arguments", "strict"),
            'strict of plugin nodegroup is the string "false", not true or false',
            "",
        ),
        (
            argued("tdm", "tdm.revocable-zone.zone-a", "0 8 * * *:0 18 * * *"),
            ("plugins", "tdm", "arguments", "tdm.revocable-zone.zone-a"),
            'tdm.revocable-zone.zone-a of plugin tdm is the string "0 8 * * *:0 18 * * *", not '
            "hours such as 20:00-08:00",
            "",
        ),
        (
            argued("deviceshare", "deviceshare.SchedulePolicy", "pack"),
            ("plugins", "deviceshare", "arguments", "deviceshare.SchedulePolicy"),
            "deviceshare.SchedulePolicy of plugin deviceshare is 'pack', not one of binpack, spread",
            "",
        ),
        (
            argued("usage", "thresholds", {"memory": 70}),
            ("plugins", "usage", "arguments", "thresholds", "memory"),
            "plugin usage has no key thresholds.memory",
            "did you mean mem?",
        ),
        (
            argued("resource-strategy-fit", "resources", {"cpu": {"type": "most", "weight": 0}}),
            ("plugins", "resource-strategy-fit", "arguments", "resources", "cpu", "type"),
            "resources.cpu.type of plugin resource-strategy-fit is 'most', not one of MostAllocated, "
            "LeastAllocated",
            "",
        ),
        (
            argued("predicates", "predicate.GPUSharingEnable", True),
            ("plugins", "predicates", "arguments", "predicate.GPUSharingEnable"),
            "plugin predicates does not read predicate.GPUSharingEnable since Volcano 1.9",
            "remove it",
        ),
        (
            plugin(
                "deviceshare",
                arguments={"deviceshare.VGPUEnable": True, "deviceshare.GPUSharingEnable": True},
            ),
            ("plugins", "deviceshare", "arguments", "deviceshare.GPUSharingEnable"),
            "deviceshare.VGPUEnable and deviceshare.GPUSharingEnable are both true: the scheduler exits",
            "keep the one that your device plugin supports",
        ),
        (
            {"actions": ["enqueue", "alocate", "allocate"]},
            ("actions", 1),
            "Volcano has no action 'alocate'",
            "did you mean allocate?",
        ),
        (
            {"actions": ["allocate", "allocate"]},
            ("actions", 1),
            "action allocate is listed twice",
            "list it once",
        ),
        (
            {"actions": ["backfill"]},
            ("actions",),
            ("the actions do not include allocate: pods that request resources are never placed"),
            "add allocate",
        ),
        (
            {"actions": ["enqueue", "allocate", "preempt"]},
            ("actions", 0),
            "action enqueue admits only jobs that fit, so preempt never makes any room",
            "remove enqueue: allocate then admits jobs itself",
        ),
        (
            {"actions": ["allocate", "preempt", "gangpreempt"]},
            ("actions", 2),
            "actions gangpreempt conflict with preempt: both evict, by different rules",
            "keep preempt and reclaim, or gangpreempt and gangreclaim",
        ),
        (
            {"metrics": {"type": "prom"}},
            ("metrics", "type"),
            "type of metrics is 'prom', not one of prometheus, prometheus_adaptor, elasticsearch",
            "",
        ),
        (
            {"metrics": {"adress": "x"}},
            ("metrics", "adress"),
            "metrics has no key adress",
            "did you mean address?",
        ),
        (
            {"configurations": {"enqueue": {"overcommit-factor": 1.5}}},
            ("configurations", "enqueue", "overcommit-factor"),
            "action enqueue has no argument overcommit-factor",
            "",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_what_is_wrong(
    options: dict[str, Any], path: tuple[str | int, ...], message: str, advice: str
) -> None:
    first = found(options)[0]
    assert (first.path, first.message, first.help) == (path, message, advice)


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (plugin("capacity"), (1, 9)),
        ({"vgpu": True}, (1, 9)),
        (plugin("network-topology-aware"), (1, 12)),
        (plugin("resource-strategy-fit"), (1, 13)),
        (argued("nodegroup", "strict", False), (1, 13)),
        (argued("nodegroup", "enablePreferredOrder", True), (1, 15)),
        (plugin("capacity", flags={"enableHierarchy": True}), (1, 11)),
        (plugin("nodegroup", flags={"enableHierarchy": True}), (1, 13)),
        (plugin("gang", flags={"enabledHyperNodeGradient": False}), (1, 14)),
        (argued("network-topology-aware", "hypernode.binpack.cpu", 2), (1, 14)),
        (argued("extender", "extender.managedResources", []), (1, 13)),
        ({"actions": ["allocate", "gangpreempt"]}, (1, 15)),
        ({"configurations": {"allocate": {"predicateErrorCacheEnable": True}}}, (1, 10)),
        ({"configurations": {"preempt": {"minCandidateNodesAbsolute": 3}}}, (1, 13)),
    ],
    ids=str,
)
def test_the_first_release_that_has_it(options: dict[str, Any], first: tuple[int, int]) -> None:
    major, minor = first
    assert found(options, (major, minor, 0)) == []
    assert found(options, None) == []
    before = found(options, (major, minor - 1, 9))
    assert before
    assert all(f"(added in {major}.{minor})" in each.message for each in before)


def test_a_plugin_switched_off_may_be_newer() -> None:
    assert found(plugin("capacity", enabled=False), (1, 8, 2)) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 200) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = sorted({key for each in PLUGINS.values() for key in each.arguments} | {"binpack.resources.a/b"})


@given(
    st.dictionaries(
        st.sampled_from(sorted(PLUGINS)) | st.text(max_size=8),
        st.fixed_dictionaries(
            {},
            optional={
                "flags": st.dictionaries(st.sampled_from(sorted(FLAGS)) | st.text(max_size=4), st.booleans()),
                "arguments": st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), JSON, max_size=4),
            },
        ),
        max_size=4,
    ),
    st.sampled_from([None, (1, 8, 2), (1, 13, 0), NEWEST]),
)
def test_any_value_is_judged(plugins: dict[str, Any], have: tuple[int, ...] | None) -> None:
    for problem in found({"plugins": plugins}, have):
        assert problem.message
        assert problem.path[0] == "plugins"
        assert problem.path[1] in plugins
