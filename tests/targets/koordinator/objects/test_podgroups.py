"""Gangs as PodGroups and as annotations, and the durations they are written with."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.catalogue.koordinator import durations
from policykit.manifests.writer import dump
from policykit.targets.koordinator.objects import podgroups
from policykit.targets.koordinator.objects.podgroups import Gang, Gather
from tests.shared import SHARED
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.strategies import NAMES

PREFIX = "gang.scheduling.koordinator.sh/"
GATHERS = st.builds(
    Gather, NAMES, st.sampled_from(["MustGather", "PreferGather"]), st.none() | st.integers(1, 99)
)
GANGS = st.builds(
    Gang,
    NAMES,
    st.just("") | NAMES,
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.sampled_from(["", "Strict", "NonStrict"]),
    st.none() | st.integers(0, 10**6),
    st.sampled_from(["", "once-satisfied", "only-waiting"]),
    st.lists(st.tuples(NAMES, NAMES).map("/".join), max_size=3).map(tuple),
    st.lists(GATHERS, max_size=2).map(tuple),
)


@given(GANGS)
def test_a_group_that_is_written_reads_back(gang: Gang) -> None:
    assert podgroups.read(yaml.safe_load(dump(podgroups.write(gang)))) == gang


@given(GANGS)
def test_annotations_that_are_written_read_back(gang: Gang) -> None:
    written = podgroups.write_pods(gang)
    assert all(isinstance(value, str) for value in written.values())
    metadata = {"name": gang.name, "namespace": gang.namespace, "annotations": written}
    spec = {"minMember": gang.minimum, "scheduleTimeoutSeconds": gang.timeout}
    assert podgroups.read({"metadata": metadata, "spec": spec}) == gang


@needs_crds
@settings(deadline=None)
@given(GANGS)
def test_every_group_fits_the_crd(gang: Gang) -> None:
    assert problems(podgroups.write(gang)) == []


def test_annotations_in_full() -> None:
    gang = Gang(
        "g", "n", 4, 8, "NonStrict", 600, "only-waiting", ("n/g", "n/h"), (Gather("rack", multiple=2),)
    )
    assert podgroups.write_pods(gang) == {
        f"{PREFIX}name": "g",
        f"{PREFIX}min-available": "4",
        f"{PREFIX}waiting-time": "600s",
        f"{PREFIX}total-number": "8",
        f"{PREFIX}mode": "NonStrict",
        f"{PREFIX}match-policy": "only-waiting",
        f"{PREFIX}groups": '["n/g","n/h"]',
        f"{PREFIX}network-topology-spec": (
            '{"gatherStrategy":[{"layer":"rack","strategy":"MustGather","podCountMultiple":2}]}'
        ),
    }


@pytest.mark.parametrize(
    ("annotations", "gang"),
    [
        ({f"{PREFIX}total-number": "8"}, Gang("g", total=8)),
        ({f"{PREFIX}total-number": "four"}, Gang("g")),
        ({f"{PREFIX}total-number": 8}, Gang("g")),
        ({f"{PREFIX}groups": "a, b"}, Gang("g")),
        ({f"{PREFIX}network-topology-spec": "[1]"}, Gang("g")),
        (["x"], Gang("g")),
    ],
    ids=["a number", "no number", "no text", "no JSON", "other JSON", "no map"],
)
def test_annotations_of_other_shapes(annotations: Any, gang: Gang) -> None:
    assert podgroups.read({"metadata": {"name": "g", "annotations": annotations}}) == gang


@pytest.mark.skipif(SHARED is None, reason="the corpus is not beside the checkout")
def test_a_group_people_wrote() -> None:
    assert SHARED is not None
    text = (SHARED / "corpus" / "koordinator" / "podgroup-gang-group.yaml").read_text(encoding="utf-8")
    groups = ("default/gang-example1", "default/gang-example2")
    assert podgroups.read(yaml.safe_load(text)) == Gang(
        "gang-example1", "default", 2, 3, "NonStrict", 100, groups=groups
    )


@given(st.integers(0, 10**9))
def test_durations_read_back(seconds: int) -> None:
    assert durations.seconds(durations.written(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("24h0m0s", 86400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("1500ms", 1),
        ("0", 0),
        ("600", None),
        ("-5s", None),
        ("", None),
        ("5 s", None),
    ],
)
def test_durations_of_go(text: str, seconds: int | None) -> None:
    assert durations.seconds(text) == seconds


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (90, "90s"), (600, "10m"), (86400, "24h")])
def test_durations_written(seconds: int, text: str) -> None:
    assert durations.written(seconds) == text
