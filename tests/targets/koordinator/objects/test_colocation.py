"""ClusterColocationProfiles: written, read, and made from the policy's option."""

from itertools import combinations
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.queue import Priority, Queue, Tenant
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.objects import colocation
from policykit.targets.koordinator.objects import files as objects
from policykit.targets.koordinator.objects.colocation import Profile
from tests.shared import SHARED
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.options import koordinator_options
from tests.targets.koordinator.strategies import NAMES

NEWEST = Version(1, 8, 0)
PROFILES = st.builds(
    Profile,
    NAMES,
    st.dictionaries(NAMES, NAMES, max_size=2),
    st.lists(NAMES, max_size=3).map(tuple),
    st.sampled_from(["", *colocation.QOS_CLASSES]),
    st.sampled_from(["", "koord-prod", "mine"]),
    st.none() | st.integers(0, 2**31 - 1),
    st.sampled_from(["", "koord-scheduler"]),
    st.just(()),
)


@given(PROFILES)
def test_what_is_written_reads_back(profile: Profile) -> None:
    assert colocation.read(yaml.safe_load(dump(colocation.write(profile)))) == profile


@needs_crds
@settings(deadline=None)
@given(PROFILES)
def test_every_profile_fits_the_crd(profile: Profile) -> None:
    assert problems(colocation.write(profile)) == []


def cluster(kinds: tuple[WorkloadKind, ...], stated: dict[str, Any], **more: Any) -> Cluster:
    options = koordinator_options(classes=stated, priority_classes=more.pop("own", False))
    return Cluster(
        "c",
        (),
        workloads={kind.name: kind for kind in kinds},
        targets={"koordinator": TargetSettings("koordinator", options=options)},
        **more,
    )


KIND_NAMES = st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?", fullmatch=True)
STATED = st.sampled_from(
    [
        ("prod", "LSE"),
        ("prod", "LSR"),
        ("prod", "LS"),
        ("mid", "LS"),
        ("mid", "BE"),
        ("batch", "BE"),
        ("free", "BE"),
    ]
).map(lambda pair: {"priority": pair[0], "qos": pair[1]})


@given(st.dictionaries(KIND_NAMES, STATED, max_size=4))
def test_profiles_never_meet_and_are_called_differently(stated: dict[str, Any]) -> None:
    made = colocation.profiles(cluster(tuple(map(WorkloadKind, stated)), stated), "koord-scheduler")
    assert len(made) == len(stated)
    assert len({profile.name for profile in made}) == len(made)
    assert not any(dns_subdomain_problem(profile.name) for profile in made)
    for one, other in combinations(made, 2):
        assert one.labels.keys() == other.labels.keys()
        assert one.labels != other.labels


def test_written_in_full() -> None:
    kinds = (WorkloadKind("web"), WorkloadKind("Batch_Jobs", scheduler="koord-scheduler"))
    made = cluster(
        kinds,
        {
            "Batch_Jobs": {
                "priority": "batch",
                "qos": "BE",
                "order": 100,
                "tenants": ["a"],
                "namespaces": ["extra"],
            }
        },
        tenants=(Tenant("a", ("a-dev", "a-prod")),),
    )
    artifacts, said = objects.generate(made, NEWEST, "koordinator-system")
    assert [artifact.path for artifact in artifacts] == ["koordinator/colocation.yaml"]
    assert said == ()
    assert (
        artifacts[0].text
        == """\
---
apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata:
  name: batch-jobs
spec:
  namespaceSelector:
    matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: In
        values:
          - a-dev
          - a-prod
          - extra
  selector:
    matchLabels:
      policykit.io/workload: Batch_Jobs
  qosClass: BE
  priorityClassName: koord-batch
  koordinatorPriority: 100
  schedulerName: koord-scheduler
"""
    )


def test_tenants_without_namespaces_have_no_profile() -> None:
    made = cluster(
        (WorkloadKind("web"),),
        {"web": {"priority": "prod", "qos": "LS", "tenants": ["a"]}},
        tenants=(Tenant("a"),),
    )
    assert colocation.profiles(made, "koord-scheduler") == ()


def test_priority_classes_are_written_when_asked_for() -> None:
    made = cluster((), {}, own=True, priorities=(Priority("koord-prod", 9500),))
    ((written,), _) = objects.generate(made, NEWEST, "x")
    assert written.path == "koordinator/priorities.yaml"
    found = [(each["metadata"]["name"], each["value"]) for each in yaml.safe_load_all(written.text)]
    assert found == [("koord-mid", 7000), ("koord-batch", 5000), ("koord-free", 3000)]


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (9000, "prod"),
        (9999, "prod"),
        (10000, None),
        (7500, "mid"),
        (5000, "batch"),
        (3999, "free"),
        (0, None),
    ],
)
def test_bands(value: int, band: str | None) -> None:
    found = colocation.band_of(value)
    assert (found.name if found else None) == band


def test_what_follows_from_a_class_is_told() -> None:
    kinds = (WorkloadKind("a", queue="q"), WorkloadKind("b"), WorkloadKind("c"))
    stated = {
        "a": {"priority": "batch", "qos": "BE"},
        "b": {"priority": "prod", "qos": "LSR"},
        "c": {"priority": "free", "qos": "BE"},
    }
    made = cluster(kinds, stated, queues=(Queue("q", limit={"cpu": 8000}),))
    assert list(colocation.notices(made)) == [
        "workload kind a runs as batch: its requests of cpu and memory become kubernetes.io/batch-cpu and "
        "kubernetes.io/batch-memory, so the limit of cpu of queue q does not apply. Limit "
        "kubernetes.io/batch-cpu (in thousandths of a core) and kubernetes.io/batch-memory there",
        "workload kind b runs as LSR: each of its pods must request whole cpus in total, or "
        "Koordinator's webhook refuses it",
        "workload kind c runs as free: Koordinator does not translate its requests, so it uses cpu and "
        "memory as any other pod does",
    ]


@pytest.mark.skipif(SHARED is None, reason="the corpus is not beside the checkout")
def test_a_profile_people_wrote() -> None:
    assert SHARED is not None
    text = (SHARED / "corpus" / "koordinator" / "colocation-profile-spark.yaml").read_text(encoding="utf-8")
    _, data = yaml.safe_load_all(text)
    assert colocation.read(data) == Profile(
        "spark-demo",
        {"sparkoperator.k8s.io/launched-by-spark-operator": "true"},
        qos="BE",
        priority_class="koord-batch",
        priority=1000,
        scheduler="koord-scheduler",
        unread=("namespaceSelector",),
    )


@pytest.mark.parametrize("data", [{}, {"spec": 7}, {"metadata": [], "spec": {"selector": "x"}}])
def test_other_shapes_say_nothing(data: Any) -> None:
    assert colocation.read(data) == Profile("")
