"""Volcano's scheduler configuration, imported: what a policy must state so that the same is written again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster
from policykit.model.queue import Preemption
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import queue_admission
from policykit.targets.volcano.scheduler.arguments import option_problems
from policykit.targets.volcano.scheduler.configuration import Configuration
from policykit.targets.volcano.scheduler.importing import other_options
from policykit.targets.volcano.scheduler.plan import plan
from policykit.targets.volcano.scheduler.plugins import FLAGS, PREEMPTABLE, RECLAIMABLE
from policykit.targets.volcano.scheduler.validator import PREEMPTING, RECLAIMING
from tests.importer.test_policy import imported, section
from tests.shared import SHARED
from tests.targets.volcano.clusters import INFERENCE, TRAINING, target
from tests.targets.volcano.scheduler.test_validator import NEAR, QUEUES, made, options
from tests.targets.volcano.stated import options as stating

TIERED = {*PREEMPTABLE, *RECLAIMABLE, "sla", "overcommit", "resourcequota"}
"""Plugins whose tier makes a difference; scores add up over all tiers."""


def configured(whole: Cluster) -> Configuration | None:
    """What `gen` writes; None: the options are refused."""
    version = versions.parse(target(whole).version)
    written, _ = queue_admission.admitted_queues(whole.queues, version, whole.pools)
    try:
        return plan(whole, target(whole), written, version).configuration
    except PolicykitError:
        return None


def again(whole: Cluster, there: Configuration) -> tuple[Configuration | None, list[str]]:
    """What `gen` writes from a policy that an import made of a configuration, and what it said."""
    preemption = Preemption(
        True if any(name in there.actions for name in PREEMPTING) else None,
        True if any(name in there.actions for name in RECLAIMING) else None,
    )
    bare = whole._replace(preemption=preemption)
    bare = bare._replace(targets={"volcano": target(whole)._replace(options=stating(scores(there)))})
    version = versions.parse(target(whole).version)
    written, _ = queue_admission.admitted_queues(whole.queues, version, whole.pools)
    said: list[str] = []
    found = other_options(bare, written, version, there, said.append)
    stated = target(bare)._replace(options=stating({**found, **scores(there)}))
    return configured(bare._replace(targets={"volcano": stated})), said


def scores(there: Configuration) -> dict[str, Any]:
    """The weights of binpack, which an import states in words of their own."""
    plugin = there.plugin("binpack")
    if plugin is None:
        return {"binpack": {"weight": 0}}
    named = [name for name in plugin.arguments if name.startswith("binpack.resources.")]
    resources = {name.removeprefix("binpack.resources."): plugin.arguments[name] for name in named}
    resources |= {name: plugin.arguments.get(f"binpack.{name}", 1) for name in ("cpu", "memory")}
    return {"binpack": {"weight": plugin.arguments.get("binpack.weight", 1), "resources": resources}}


def _facts(c: Configuration) -> Any:
    ordered = {"preempt": "enablePreemptable", "reclaim": "enableReclaimable"}
    idle = {flag for action, flag in ordered.items() if action not in c.actions}
    plugins = {
        plugin.name: (
            number if plugin.name in TIERED else 0,
            {flag: plugin.on(flag) for flag in FLAGS if flag not in idle},
            {} if plugin.name in ("nodeorder", "binpack") else dict(plugin.arguments),
        )
        for number, tier in enumerate(c.tiers)
        for plugin in tier
        if plugin.name != "binpack" or plugin.arguments.get("binpack.weight", 1)
    }
    return c.actions, c.metrics, c.configurations, plugins


@settings(deadline=None, max_examples=150)
@given(st.builds(Preemption, st.booleans(), st.booleans()), QUEUES, st.booleans(), options())
def test_what_gen_wrote_is_written_again(
    preemption: Preemption, queues: Any, near: bool, stated: dict[str, Any]
) -> None:
    kinds = (NEAR if near else TRAINING, INFERENCE)
    whole = made(preemption, kinds=kinds, queues=queues, options=stated)
    refused = next(option_problems(stated, versions.parse("")), None)
    there = None if refused else configured(whole)
    if there is None:
        return
    wrote, said = again(whole, there)
    assert wrote is not None
    assert not said
    assert _facts(wrote) == _facts(there)


GUIDE = """\
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins:
  - {name: drf, enablePreemptable: false}
  - {name: predicates}
  - {name: capacity}
  - {name: nodeorder}
  - {name: binpack}
"""


def test_the_guide_to_capacity_is_put_right_and_told() -> None:
    made = imported(GUIDE)
    assert section(made, "preemption") == {"reclaim": True}
    assert section(made, "targets", "volcano", "plugins") == {
        "gang": {"flags": {"enableReclaimable": True, "enableJobStarving": True}},
        "capacity": {},
    }
    assert made.remarks == (
        "volcano: actions[0] is left out: action enqueue admits only jobs that fit, so reclaim never "
        "makes any room",
        "volcano: plugins conformance and capacity choose victims of reclaim in different tiers: the "
        "first tier that finds any decides alone; `policykit gen` writes something else",
        "volcano: actions are enqueue, allocate, backfill, reclaim; `policykit gen` writes allocate, "
        "backfill, "
        "reclaim",
    )


CHART = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins:
  - {name: overcommit}
  - {name: drf, enablePreemptable: false}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
"""


def test_the_charts_own_configuration_says_weights_alone() -> None:
    made = imported(CHART)
    assert list(section(made, "targets", "volcano")) == ["binpack"]
    assert section(made, "preemption") is None
    assert made.remarks == ()


def test_weights_of_nodeorder_are_left_out() -> None:
    arguments = "{leastrequested.weight: 7, nodeaffinity.weight: 2, imagelocality.weight: 1}"
    made = imported(CHART.replace("{name: nodeorder}", f"{{name: nodeorder, arguments: {arguments}}}"))
    assert list(section(made, "targets", "volcano")) == ["binpack"]
    assert made.remarks == (
        "0.yaml: arguments of nodeorder (leastrequested.weight: 7, nodeaffinity.weight: 2) are computed "
        "from the policy; left out",
    )


EVERYTHING = """\
actions: "allocate, backfill, shuffle"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}, {name: sla}]
- plugins:
  - {name: overcommit, arguments: {overcommit-factor: 1.5}}
  - {name: drf, enablePreemptable: false}
  - {name: predicates, arguments: {predicate.CacheEnable: true}}
  - {name: proportion}
  - {name: nodeorder}
  - {name: usage, enablePredicate: false, arguments: {usage.weight: 7}}
  - {name: reservation}
  - {name: tdm, arguments: {tdm.revocable-zone.zone-a: "8-18"}}
configurations:
- {name: allocate, arguments: {predicateErrorCacheEnable: false}}
metrics: {type: prometheus, address: "http://prometheus:9090"}
"""


def test_every_part_of_a_configuration() -> None:
    made = imported(EVERYTHING)
    assert section(made, "targets", "volcano") == {
        "binpack": {"weight": 0},
        "metrics": {"type": "prometheus", "address": "http://prometheus:9090"},
        "actions": ["allocate", "backfill", "shuffle"],
        "configurations": {"allocate": {"predicateErrorCacheEnable": False}},
        "plugins": {
            "sla": {},
            "overcommit": {"arguments": {"overcommit-factor": 1.5}},
            "predicates": {"arguments": {"predicate.CacheEnable": True}},
            "usage": {"flags": {"enablePredicate": False}, "arguments": {"usage.weight": 7}},
        },
    }
    assert made.remarks == (
        "volcano: plugins.tdm.arguments['tdm.revocable-zone.zone-a'] is left out: "
        'tdm.revocable-zone.zone-a of plugin tdm is the string "8-18", not hours such as '
        "20:00-08:00",
        "volcano: plugin reservation is in the configuration; `policykit gen` would leave it out",
    )


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_real_configurations_are_imported_whole() -> None:
    assert SHARED is not None
    for path in sorted((SHARED / "corpus/volcano").glob("*scheduler*conf*.yaml")):
        made = imported(path.read_text())
        assert "volcano" in made.cluster.targets, path
        configured(made.cluster)
