"""Fields and types of scheduler configurations: what is generated passes, what is changed is found."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.path import dotted
from policykit.rules.kubernetes.scheduler_fields import field_violations, misspelt
from policykit.targets.kubernetes.scheduler.fields import ARGS, CONFIGURATION, GROUP, VERSIONS, Spec

HEAD = {"apiVersion": f"{GROUP}/v1", "kind": "KubeSchedulerConfiguration"}


def of_spec(spec: Spec) -> st.SearchStrategy[Any]:
    """Values that a spec takes."""
    if isinstance(spec, dict):
        return st.fixed_dictionaries({}, optional={key: of_spec(each) for key, each in spec.items()})
    if isinstance(spec, list):
        return st.lists(of_spec(spec[0]), max_size=2)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.sampled_from(["a", "b c"]),
        int: st.integers(),
        bool: st.booleans(),
        object: st.one_of(st.integers(), st.text(), st.just({"any": [1]})),
    }
    return plain[spec]


OF_EARLIER_VERSIONS = ("healthzBindAddress", "metricsBindAddress")


def said(data: dict[str, Any], own: frozenset[str] = frozenset()) -> list[str]:
    return [f"{dotted(each.path)}: {each.message}" for each in field_violations({**HEAD, **data}, own)]


@given(
    of_spec(
        {
            key: spec
            for key, spec in CONFIGURATION.items()
            if key not in {*HEAD, "profiles", *OF_EARLIER_VERSIONS}
        }
    )
)
def test_what_the_fields_say_passes(data: dict[str, Any]) -> None:
    assert said(data) == []


@given(st.sampled_from(sorted(ARGS)).flatmap(lambda name: st.tuples(st.just(name), of_spec(ARGS[name]))))
def test_args_of_each_plugin_pass(config: tuple[str, dict[str, Any]]) -> None:
    assert said({"profiles": [{"pluginConfig": [{"name": config[0], "args": config[1]}]}]}) == []


@pytest.mark.parametrize("version", sorted(VERSIONS))
@pytest.mark.parametrize("field", sorted(CONFIGURATION))
def test_a_field_with_one_letter_more_is_found(field: str, version: str) -> None:
    data = {**HEAD, "apiVersion": f"{GROUP}/{version}", f"{field}x": None}
    (found,) = field_violations(data)
    assert (found.path, found.help) == ((f"{field}x",), f"did you mean {field}?")


@pytest.mark.parametrize(
    ("written", "messages"),
    [
        pytest.param(
            "profiles: {}",
            ["profiles: profiles must be a list, but is a mapping: the scheduler does not start"],
            id="a mapping for a list",
        ),
        pytest.param(
            "profiles: [text]",
            [
                "profiles[0]: profiles[0] must be a mapping, but is the string"
                ' "text": the scheduler does not start'
            ],
            id="a text for an item",
        ),
        pytest.param(
            "podMaxBackoffSeconds: 1.5",
            [
                "podMaxBackoffSeconds: podMaxBackoffSeconds must be a whole number, but is the number 1.5: "
                "the scheduler does not start"
            ],
            id="part of a second",
        ),
        pytest.param("podMaxBackoffSeconds: 10.0", [], id="a whole number with a point"),
        pytest.param("parallelism: <threads>", [], id="a placeholder"),
        pytest.param("extenders: [null]", [], id="nothing"),
        pytest.param("apiVersion: example.com/v1\nunknown: 1", [], id="of another group"),
        pytest.param(f"apiVersion: {GROUP}/v1alpha1\nunknown: 1", [], id="of a version with other fields"),
        pytest.param(
            "profiles: [{pluginConfig: [{name: Own, args: {any: 1}}, 3]}]",
            [
                "profiles[0].pluginConfig[1]: profiles[0].pluginConfig[1] must be a mapping, "
                "but is the number 3: the scheduler does not start"
            ],
            id="args of a plugin that is not kube-scheduler's",
        ),
    ],
)
def test_types(written: str, messages: list[str]) -> None:
    assert said(yaml.safe_load(written)) == messages


def test_a_plugin_that_the_scheduler_has_of_its_own_has_args_of_its_own() -> None:
    data = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"mine": 1}}]}]}
    assert len(said(data)) == 1
    assert said(data, frozenset({"NodeResourcesFit"})) == []


@pytest.mark.parametrize(
    ("data", "found"),
    [({"tpye": 1}, True), ({"type": 1, "tpye": 1}, False), ({"resources": 1}, False), ({}, False)],
)
def test_misspelt(data: dict[str, Any], found: bool) -> None:
    assert misspelt(data, "type") is found


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_shape(value: Any) -> None:
    for place in ({"profiles": value}, {"extenders": value}, {"profiles": [{"pluginConfig": value}]}):
        list(field_violations({**HEAD, **place}))
