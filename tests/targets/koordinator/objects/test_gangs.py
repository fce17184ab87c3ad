"""Gangs as PodGroups and as annotations."""

from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.targets.koordinator.objects import gangs
from policykit.targets.koordinator.objects.gangs import Gang, Gather
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.strategies import NAMES

PREFIX = "gang.scheduling.koordinator.sh/"
GATHERS = st.builds(Gather, NAMES, st.sampled_from(["MustGather", "PreferGather"]))
GANGS = st.builds(
    Gang,
    NAMES,
    st.just("") | NAMES,
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.sampled_from(["", "Strict", "NonStrict"]),
    st.none() | st.integers(0, 10**6),
    st.lists(GATHERS, max_size=2).map(tuple),
)


@needs_crds
@settings(deadline=None)
@given(GANGS)
def test_every_group_fits_the_crd(gang: Gang) -> None:
    assert problems(gangs.write(gang)) == []


def test_annotations_in_full() -> None:
    gang = Gang("g", "n", 4, 8, "NonStrict", 600, (Gather("rack"),))
    assert gangs.write_pods(gang) == {
        f"{PREFIX}name": "g",
        f"{PREFIX}min-available": "4",
        f"{PREFIX}waiting-time": "600s",
        f"{PREFIX}total-number": "8",
        f"{PREFIX}mode": "NonStrict",
        f"{PREFIX}network-topology-spec": ('{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}'),
    }


def test_a_group_in_full() -> None:
    gang = Gang("g", "n", 4, 8, "NonStrict", 600, (Gather("rack"),))
    assert gangs.write(gang) == {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {
            "name": "g",
            "namespace": "n",
            "annotations": {
                f"{PREFIX}total-number": "8",
                f"{PREFIX}mode": "NonStrict",
                f"{PREFIX}network-topology-spec": (
                    '{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}'
                ),
            },
        },
        "spec": {"minMember": 4, "scheduleTimeoutSeconds": 600},
    }
