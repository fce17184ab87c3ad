import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.targets.volcano import config
from policykit.targets.volcano.config import Configuration, Plugin
from tests.shared import SHARED

NAMES = st.from_regex(r"[a-z][a-z-]{0,12}", fullmatch=True)
PLUGINS = st.builds(
    Plugin,
    NAMES,
    st.dictionaries(st.sampled_from(["enablePreemptable", "enableHierarchy"]), st.booleans()),
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}\.[a-z./]{1,9}", fullmatch=True), st.integers(0, 2**31) | NAMES
    ),
)
CONFIGURATIONS = st.builds(
    Configuration,
    st.lists(NAMES, min_size=1, max_size=4).map(tuple),
    st.lists(st.lists(PLUGINS, min_size=1, max_size=4).map(tuple), max_size=3).map(tuple),
)


@given(CONFIGURATIONS)
def test_what_is_written_reads_back(configuration: Configuration) -> None:
    assert config.read(yaml.safe_load(writer.dump(config.write(configuration)))) == configuration


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
                    {"name": "gang", "enablePreemptable": False, "stray": 3, "arguments": {"a.b": 1}},
                    {},
                ]
            }
        ],
    }
    read = config.read(data)
    assert read.actions == ("enqueue", "allocate", "")
    assert read.plugin("gang") == Plugin("gang", {"enablePreemptable": False}, {"a.b": 1})
    assert read.plugin("drf") is None
    assert read.tiers[0][1] == Plugin("")


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
