import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.targets.volcano.scheduler import configuration as config
from policykit.targets.volcano.scheduler.configuration import Configuration, Plugin, in_policy
from policykit.targets.volcano.scheduler.plugins import FLAGS
from tests.shared import SHARED

NAMES = st.from_regex(r"[a-z][a-z-]{0,12}", fullmatch=True)
PLUGINS = st.builds(
    Plugin,
    NAMES,
    st.dictionaries(st.sampled_from(sorted(FLAGS)), st.booleans(), max_size=3),
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}\.[a-z./]{1,9}", fullmatch=True), st.integers(0, 2**31) | NAMES
    ),
)
ARGUMENTS = st.dictionaries(NAMES, st.booleans() | st.integers(0, 100), max_size=2)
CONFIGURATIONS = st.builds(
    Configuration,
    st.lists(NAMES, min_size=1, max_size=4).map(tuple),
    st.lists(st.lists(PLUGINS, min_size=1, max_size=4).map(tuple), max_size=3).map(tuple),
    st.dictionaries(NAMES, NAMES, max_size=2),
    st.dictionaries(NAMES, ARGUMENTS, max_size=2),
)


@given(CONFIGURATIONS)
def test_what_is_written_reads_back(configuration: Configuration) -> None:
    read = config.read(yaml.safe_load(writer.dump(config.write(configuration))))
    assert in_policy(read) == in_policy(configuration)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "actions",
        {"actions": 3, "tiers": "x"},
        {"tiers": [{"plugins": [3, None]}, 4, {"plugins": {}}]},
    ],
    ids=repr,
)
def test_other_shapes_are_left_out(data: object) -> None:
    read = config.read(data)
    assert read.actions == ()
    assert all(tier == () for tier in read.tiers)


def test_reads_flags_apart_from_arguments() -> None:
    data = {
        "actions": "enqueue,allocate, ",
        "tiers": [
            {
                "plugins": [
                    {
                        "name": "gang",
                        "enablePreemptable": False,
                        "EnablePreemptive": True,
                        "weight": 3,
                        "arguments": {"a.b": 1},
                    },
                    {},
                ]
            }
        ],
    }
    read = config.read(data)
    assert read.actions == ("enqueue", "allocate", "")
    assert read.plugin("gang") == Plugin(
        "gang", {"enablePreemptable": False}, {"a.b": 1}, ("tiers", 0, "plugins", 0)
    )
    assert read.plugin("drf") is None
    assert read.tiers[0][1] == Plugin("", path=("tiers", 0, "plugins", 1))


def test_reads_what_stands_beside_the_tiers() -> None:
    data = {
        "actions": "allocate",
        "metrics": {"type": "prometheus", "interval": 30, "tls.insecureSkipVerify": True, "address": None},
        "configurations": [
            {"name": "allocate", "arguments": {"predicateErrorCacheEnable": False}},
            {"name": "allocate", "arguments": {"predicateErrorCacheEnable": True}},
            {"name": "preempt"},
            "backfill",
        ],
    }
    read = config.read(data)
    assert read.metrics == {
        "type": "prometheus",
        "interval": "30",
        "tls.insecureSkipVerify": "true",
        "address": "",
    }
    assert read.configurations == {"allocate": {"predicateErrorCacheEnable": False}, "preempt": {}}


def test_flags_left_out_count_as_true_but_for_two() -> None:
    plugin = Plugin("capacity")
    assert plugin.on("enableReclaimable")
    assert not plugin.on("enableHierarchy")
    assert not plugin.on("EnabledClusterOrder")
    assert not plugin._replace(flags={"enableReclaimable": False}).on("enableReclaimable")


def test_where_plugins_stand() -> None:
    data = {"tiers": [{"plugins": [{"name": "gang"}, 3]}, "x", {"plugins": [{}, {"name": "drf"}]}]}
    read = config.read(data)
    assert [(each.name, each.path) for each in read.plugins] == [
        ("gang", ("tiers", 0, "plugins", 0)),
        ("drf", ("tiers", 2, "plugins", 1)),
    ]
    assert [each.path for each in in_policy(read).plugins] == [("plugins", "gang"), ("plugins", "drf")]
    assert (read.tier("gang"), read.tier("drf"), read.tier("binpack")) == (0, 1, None)


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_the_charts_own_configuration() -> None:
    assert SHARED is not None
    text = (SHARED / "corpus/volcano/helm-volcano-scheduler.conf.yaml").read_text()
    read = config.read(yaml.safe_load(text))
    assert read.actions == config.DEFAULT_ACTIONS
    assert [[plugin.name for plugin in tier] for tier in read.tiers] == [
        ["priority", "gang", "conformance"],
        ["overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"],
    ]
