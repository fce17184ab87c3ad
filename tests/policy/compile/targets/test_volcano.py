"""Options of Volcano: compiled to typed values, and mistakes told where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicyError
from policykit.policy.load import load_profile
from policykit.targets.volcano.options import (
    JobOptions,
    PluginOption,
    TaskTopology,
    VolcanoOptions,
    volcano_options,
)
from tests.policy.memory import HEAD, load_body, mistakes

STATED = """\
targets:
  volcano:
    version: "1.15.1"
    binpack: {weight: 9}
    actions: [allocate, backfill, shuffle]
    plugins:
      sla: {arguments: {sla-waiting-time: 1h}}
      gang: {tier: 1, flags: {enablePreemptable: true}}
      drf: {enabled: false}
      usage: {}
    metrics: {type: prometheus, address: "http://prometheus:9090"}
    configurations: {allocate: {predicateErrorCacheEnable: false}}
    vgpu: true
"""


def test_what_is_stated() -> None:
    assert load_body(STATED).cluster.targets["volcano"].options == VolcanoOptions(
        9,
        actions=("allocate", "backfill", "shuffle"),
        plugins={
            "sla": PluginOption(arguments={"sla-waiting-time": "1h"}),
            "gang": PluginOption(1, flags={"enablePreemptable": True}),
            "drf": PluginOption(enabled=False),
            "usage": PluginOption(),
        },
        metrics={"type": "prometheus", "address": "http://prometheus:9090"},
        configurations={"allocate": {"predicateErrorCacheEnable": False}},
        vgpu=True,
    )


def test_nothing_stated() -> None:
    assert load_profile("hybrid-volcano").cluster.targets["volcano"].options == VolcanoOptions()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "plugins: {binpak: {}}",
            "policykit.yaml:6:23: Volcano has no plugin 'binpak'\n  help: did you mean binpack?",
        ),
        (
            "plugins: {gang: {flags: {enabledPreemptable: true}}}",
            "policykit.yaml:6:38: plugin gang has no flag enabledPreemptable\n  help: did you mean "
            "enablePreemptable?",
        ),
        (
            "binpack: {weight: 2147483648}",
            "policykit.yaml:6:31: weight is 2147483648, above 2147483647",
        ),
        (
            "binpack: {resources: {cpu: 2147483648}}",
            "policykit.yaml:6:40: weight of cpu is 2147483648, above 2147483647",
        ),
        (
            "plugins: {gang: {tier: 3}}",
            "policykit.yaml:6:36: targets.volcano.plugins.gang.tier must be 1 or 2, not the number 3",
        ),
        (
            'plugins: {overcommit: {arguments: {overcommit-factor: "2"}}}',
            'policykit.yaml:6:67: overcommit-factor of plugin overcommit is the string "2", not a number',
        ),
        (
            'version: "1.12", plugins: {resource-strategy-fit: {}}',
            "policykit.yaml:6:40: Volcano 1.12.0 has no plugin resource-strategy-fit (added in "
            "1.13)\n  help: remove it or upgrade Volcano",
        ),
        (
            "actions: [enqueue, allocate, reclaim]",
            "policykit.yaml:6:23: action enqueue admits only jobs that fit, so reclaim never makes "
            "any room\n  help: remove enqueue: allocate then admits jobs itself",
        ),
        (
            'version: "1.14", actions: [allocate, gangpreempt]',
            "policykit.yaml:6:50: Volcano 1.14.0 has no action gangpreempt (added in 1.15)\n  help: "
            "remove it or upgrade Volcano",
        ),
        (
            "actions: []",
            "policykit.yaml:6:13: the actions do not include allocate: pods that request resources "
            "are never placed\n  help: add allocate",
        ),
        (
            "metrics: {type: prom}",
            "policykit.yaml:6:29: type of metrics is 'prom', not one of prometheus, "
            "prometheus_adaptor, elasticsearch",
        ),
        (
            "configurations: {premept: {}}",
            "policykit.yaml:6:30: Volcano has no action 'premept'\n  help: did you mean preempt?",
        ),
        (
            'version: "1.8", delivery: manifest, vgpu: true',
            "policykit.yaml:6:49: Volcano 1.8.0 has no plugin deviceshare (added in 1.9)\n  help: "
            "remove it or upgrade Volcano",
        ),
    ],
    ids=lambda value: value if ":" in value and "policykit.yaml" not in value else "",
)
def test_mistakes_have_a_place(body: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        load_body(f"targets:\n  volcano: {{{body}}}\n")
    assert str(raised.value) == said


@pytest.mark.parametrize("key", ["actions", "plugins", "metrics", "configurations", "vgpu"])
@settings(deadline=None, max_examples=20)
@given(text=st.text("ab1:{}[], ", max_size=12))
def test_any_text_there_is_told_or_taken(key: str, text: str) -> None:
    said = mistakes({"policykit.yaml": f"{HEAD}targets:\n  volcano:\n    {key}: {text}\n"})
    assert all(line.startswith("policykit.yaml:") for line in said)


def test_lists_and_maps_of_arguments_stay_as_they_are() -> None:
    rules = "plugins: {deviceshare: {arguments: {deviceshare.GPUExclusiveRules: [{app: a}]}}}"
    options = volcano_options(load_body(f"targets:\n  volcano: {{{rules}}}\n").cluster.targets["volcano"])
    assert options.plugins["deviceshare"].arguments == {"deviceshare.GPUExclusiveRules": [{"app": "a"}]}


JOBS = """\
workloads: {training: {}}
targets:
  volcano:
    version: "1.12.4"
    delivery: helm-values
    jobs:
"""


def test_job_options() -> None:
    stated = """\
      training:
        plugins: {svc: [], pytorch: [--master=master]}
        taskTopology: {affinity: [[ps, worker]], antiAffinity: [[ps]], order: [ps, worker]}
"""
    assert load_body(JOBS + stated).cluster.targets["volcano"].options == VolcanoOptions(
        jobs={
            "training": JobOptions(
                {"svc": (), "pytorch": ("--master=master",)},
                TaskTopology((("ps", "worker"),), (("ps",),), ("ps", "worker")),
            )
        }
    )


def test_nothing_stated_of_a_kind() -> None:
    assert load_body(JOBS + "      training: {}\n").cluster.targets["volcano"].options == VolcanoOptions()


NO_LABEL = "must begin and end with a lower-case letter or digit, with only those and '-' between"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("trainin: {}", "11:7 there is no workload kind 'trainin'"),
        ("training: {plugins: {svcs: []}}", "11:28 Volcano has no job plugin svcs"),
        (
            "training: {plugins: {ray: []}}",
            "11:28 Volcano 1.12.4 has no job plugin ray (added in 1.13)",
        ),
        (
            "training: {plugins: {mpi: [--port=a]}}",
            "11:34 argument --port of job plugin mpi is 'a', not a whole number",
        ),
        ('training: {taskTopology: {affinity: [["a,b"]]}}', f"11:45 task 'a,b' {NO_LABEL}"),
        ('training: {taskTopology: {order: ["a;b"]}}', f"11:41 task 'a;b' {NO_LABEL}"),
    ],
    ids=["kind", "plugin", "release", "argument", "group", "order"],
)
def test_mistakes(body: str, said: str) -> None:
    assert mistakes({"policykit.yaml": f"{HEAD}{JOBS}      {body}\n"}) == (f"policykit.yaml:{said}",)
