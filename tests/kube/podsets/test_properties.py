"""What holds for any object: nothing raises, and paths lead to what the pod set holds."""

from __future__ import annotations

import copy
import timeit
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policykit.kube import podsets
from policykit.kube.podsets import queues
from policykit.kube.podsets.kind_entry import Wildcard, value
from policykit.manifests.path import lookup
from scripts import compile_kinds
from tests.kube.podsets.objects import read
from tests.kube.test_podsets import _CASES

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "2", "50%", "{{ n }}", "[*]", "{*}", "a"])
)
_NAMES = sorted(
    {
        step
        for entry in podsets.entries()
        for template in entry.templates
        for path in (
            template.path,
            *(p for p in template.fields.values() if p),
            *(p for _, p in template.devices),
        )
        for step in path
        if isinstance(step, str)
    }
    | {
        "replicas",
        "size",
        "minAvailable",
        "minReplicas",
        "name",
        "schedulerName",
        "[*]",
        "job",
        "cliqueNames",
    }
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=4),
    max_leaves=12,
)
_ENTRIES = st.sampled_from(podsets.entries())
_SERVED: dict[tuple[str, str], list[tuple[str, str]]] = {}
for _source in compile_kinds.sources():
    for _version in compile_kinds.api_versions(_source):
        _SERVED.setdefault((_source["group"], _source["kind"]), []).append((_version, _source["kind"]))


@st.composite
def _objects(draw: st.DrawFn) -> dict[str, Any]:
    """An object of a known kind whose paths partly exist, with anything below and beside them."""
    entry = draw(_ENTRIES)
    data: dict[str, Any] = {"metadata": draw(_VALUES), "spec": draw(_VALUES)}
    for template in entry.templates:
        if draw(st.booleans()):
            _plant(draw, data, (*template.path, *draw(st.sampled_from([(), ("spec",)]))))
    version, kind = draw(st.sampled_from(_SERVED[entry.group, entry.kind]))
    return {**data, "apiVersion": version, "kind": kind}


def _plant(draw: st.DrawFn, data: Any, path: tuple[Any, ...]) -> None:
    """Makes most of `path` exist and puts something at its end."""
    for position, step in enumerate(path):
        last = position == len(path) - 1
        key = 0 if step is Wildcard.ITEM else "Worker" if step is Wildcard.VALUE else step
        following = None if last else path[position + 1]
        below: Any = draw(_VALUES) if last else [] if following is Wildcard.ITEM else {}
        if isinstance(data, list):
            data.append(below)
        elif isinstance(data, dict):
            if last or type(data.get(key)) is not type(below):
                data[key] = below
            below = data[key]
        else:
            return
        data = below


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_objects())
def test_nothing_raises_and_nothing_is_changed(data: dict[str, Any]) -> None:
    before = copy.deepcopy(data)
    found = podsets.pod_sets(data)
    podsets.gangs(data)
    for one in found:
        assert one.replicas is None or one.replicas >= 0
        assert all(isinstance(text, str) for text in (*one.labels.values(), *one.annotations.values()))
        for scheduler in ("volcano", "kueue", "yunikorn", "koordinator", "kai"):
            selection = queues.read(data, one, scheduler)
            assert selection is None or lookup(data, selection.path) == selection.value
    assert len({one.name for one in found}) == len(found)
    assert data == before


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_objects())
def test_every_path_leads_to_what_the_pod_set_holds(data: dict[str, Any]) -> None:
    entry = podsets.entry(data["apiVersion"], data["kind"])
    assert entry is not None
    layered = {name for template in entry.templates for name in template.laid_on}
    for one in podsets.pod_sets(data):
        for device in one.devices:
            assert lookup(data, device.path) is not None or device.amount is None
        if one.owner or one.name.split("[")[0] in layered:
            continue
        for field, held in one.spec.items():
            # In `places` these two are the pod's metadata, which no PodSpec has.
            if field not in ("labels", "annotations") and one.place(field) != one.path:
                assert lookup(data, one.place(field)) == held
        written = None if one.scheduler_path is None else value(data, one.scheduler_path)
        assert not isinstance(written, str) or not written or one.scheduler_name == written


@given(st.dictionaries(st.sampled_from(["apiVersion", "kind", "spec"]), _VALUES))
def test_any_mapping_is_read(data: dict[str, Any]) -> None:
    assert podsets.pod_sets(data) == ()
    assert podsets.gangs(data) == ()


def test_deep_nesting_of_embedded_objects_is_followed() -> None:
    data: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod"}
    for _ in range(30):
        wrapper = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
        data = {**wrapper, "spec": {"components": [{"template": data}]}}
    (one,) = podsets.pod_sets(data)
    assert lookup(data, one.path) == {"apiVersion": "v1", "kind": "Pod"}


def test_the_data_is_shared_with_the_manifest() -> None:
    for text, _ in _CASES.values():
        data = read(text)
        entry = podsets.entry(data["apiVersion"], data["kind"])
        assert entry is not None
        for one in podsets.pod_sets(data):
            if len(entry.templates) == 1 and entry.templates[0].shape == "podTemplate" and one.spec:
                assert one.spec is lookup(data, one.default_place or ())


def test_a_deployment_takes_microseconds() -> None:
    data = read(
        "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {spec: {containers: []}}}}"
    )
    podsets.pod_sets(data)
    assert min(timeit.repeat(lambda: podsets.pod_sets(data), number=100, repeat=5)) / 100 < 200e-6


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([text for text, _ in _CASES.values()]), st.data())
def test_an_object_with_one_value_changed_is_read(text: str, draw: st.DataObject) -> None:
    data = read(text)
    parent: Any = data
    key: Any = draw.draw(st.sampled_from(["metadata", "spec"]))
    while isinstance(parent.get(key) if isinstance(parent, dict) else parent[key], dict | list):
        below = parent[key]
        keys = list(below) if isinstance(below, dict) else list(range(len(below)))
        if not keys or draw.draw(st.booleans()):
            break
        parent, key = below, draw.draw(st.sampled_from(keys))
    parent[key] = draw.draw(_VALUES)
    for one in podsets.pod_sets(data):
        assert one.replicas is None or one.replicas >= 0
    for gang in podsets.gangs(data):
        assert gang.pods is None or gang.pods >= 0
