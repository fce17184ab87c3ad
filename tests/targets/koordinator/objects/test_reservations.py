"""Reservations: written, read, and made from the policy's."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.kube import affinity, tolerations
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pool import Card, Pool, Shape, Taint, Toleration
from policykit.model.queue import Reservation, Tenant
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator.objects import files as objects
from policykit.targets.koordinator.objects import reservations
from policykit.targets.koordinator.objects.reservations import Owner, reservations_of
from tests.kube.oracle import affinity_matches
from tests.shared import SHARED
from tests.targets.koordinator.crds import needs_crds, problems
from tests.targets.koordinator.strategies import AMOUNTS, NAMES

NEWEST = Version(1, 8, 0)
GPU = "nvidia.com/gpu"
OWNERS = st.builds(Owner, st.just("") | NAMES, st.dictionaries(NAMES, NAMES, max_size=2), st.just("") | NAMES)
TOLERATIONS = st.builds(
    Toleration, NAMES, st.sampled_from(["Equal", "Exists"]), NAMES, st.sampled_from(["", "NoSchedule"])
)
RESERVED = st.builds(
    reservations.Reservation,
    NAMES,
    AMOUNTS,
    st.lists(OWNERS, min_size=1, max_size=3).map(tuple),
    st.integers(0, 10**8),
    st.booleans(),
    st.just("") | NAMES,
    st.lists(st.tuples(NAMES, st.lists(NAMES, min_size=1, max_size=2).map(tuple)), max_size=2).map(tuple),
    st.lists(TOLERATIONS, max_size=2).map(tuple),
    st.dictionaries(NAMES, NAMES, max_size=2),
)


@given(RESERVED)
def test_what_is_written_reads_back(reserved: reservations.Reservation) -> None:
    assert reservations.read(yaml.safe_load(dump(reservations.write(reserved)))) == reserved


@needs_crds
@settings(deadline=None)
@given(RESERVED)
def test_every_reservation_fits_the_crd(reserved: reservations.Reservation) -> None:
    assert problems(reservations.write(reserved)) == []


def pool(name: str, usage: str, **labels: str) -> Pool:
    return Pool(
        name,
        (Shape({"cpu": 96000, GPU: 8}, 2, 2),),
        {"usage": usage, "product": "H20", **labels},
        (Taint("usage", usage), Taint("soft", "", "PreferNoSchedule"), Taint("drain", "", "NoExecute")),
        usage,
        "h20",
        (GPU,),
    )


def cluster(
    *stated: Reservation, pools: tuple[Pool, ...] = (), scheduler: str = "koord-scheduler"
) -> Cluster:
    return Cluster(
        "c",
        pools or (pool("train", "training"), pool("serve", "inference")),
        {"h20": Card("h20", GPU, product_key="product", product="H20", per_node=8)},
        {"training": WorkloadKind("training", ("training",), scheduler=scheduler)},
        "usage",
        targets={"koordinator": TargetSettings("koordinator")},
        tenants=(Tenant("team-a", ("a-dev", "a-prod"), "team-a"), Tenant("empty")),
        reservations=stated,
    )


EVAL = Reservation("eval", {GPU: 8, "cpu": 90000}, 2, "team-a", "training", "train", 86400)


def test_written_in_full() -> None:
    artifacts, said = objects.generate(cluster(EVAL), NEWEST, "koordinator-system")
    assert said == ()
    assert [artifact.path for artifact in artifacts] == ["koordinator/reservations.yaml"]
    start, first, second = artifacts[0].text.split("---\n")
    *comment, first = first.split("\n", 2)
    assert (start, comment[0]) == (
        "",
        "# Each reserves resources for one pod. With a ttl it ends with the first pod that uses it;",
    )
    assert second == first.replace("name: eval-1", "name: eval-2")
    assert (
        first
        == """\
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata:
  name: eval-1
  annotations:
    policykit.io/reservation: eval
    policykit.io/pods: "2"
    policykit.io/tenant: team-a
    policykit.io/pool: train
spec:
  ttl: 24h
  allocateOnce: true
  owners:
    - object:
        namespace: a-dev
      labelSelector:
        matchLabels:
          policykit.io/workload: training
    - object:
        namespace: a-prod
      labelSelector:
        matchLabels:
          policykit.io/workload: training
  template:
    spec:
      schedulerName: koord-scheduler
      containers:
        - name: reserved
          resources:
            requests:
              cpu: "90"
              nvidia.com/gpu: "8"
            limits:
              nvidia.com/gpu: "8"
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: usage
                    operator: In
                    values:
                      - training
                  - key: product
                    operator: In
                    values:
                      - H20
      tolerations:
        - key: usage
          operator: Equal
          value: training
          effect: NoSchedule
        - key: drain
          operator: Exists
          effect: NoExecute
"""
    )


@pytest.mark.parametrize(
    ("stated", "pools"),
    [
        (EVAL, ["train"]),
        (EVAL._replace(pool=""), ["train"]),
        (EVAL._replace(pool="", workload=""), ["train", "serve"]),
        (EVAL._replace(pool="serve"), ["serve"]),
        (EVAL._replace(pool="", requests={"cpu": 1000}), ["train", "serve"]),
    ],
    ids=["a pool", "a kind's", "any with the card", "another pool", "no card"],
)
def test_the_template_lands_where_the_reservation_is_for(stated: Reservation, pools: list[str]) -> None:
    made = cluster(stated)
    found, _ = reservations_of(made, "koord-scheduler", NEWEST)
    spec = reservations.write(found[0])["spec"]["template"]["spec"]
    tolerated = tolerations.read(spec.get("tolerations"))
    fitting = [
        each.name
        for each in made.pools
        if affinity_matches(affinity.read(spec), each.labels, "n")
        and not tolerations.untolerated(each.hard_taints, tolerated)
    ]
    assert fitting == pools


def test_pools_are_told_apart_by_what_differs() -> None:
    alike = (pool("train", "training", rack="1"), pool("other", "training", rack="2"))
    (first, _), said = reservations_of(cluster(EVAL, pools=alike), "koord-scheduler", NEWEST)
    assert first.required == (("usage", ("training",)), ("product", ("H20",)), ("rack", ("1",)))
    assert said == ()


@pytest.mark.parametrize(
    ("stated", "more", "said"),
    [
        (EVAL, {"scheduler": "volcano"}, "only pods with schedulerName koord-scheduler can use it"),
        (EVAL._replace(tenant="", workload=""), {}, "has neither tenant nor workload"),
        (EVAL._replace(tenant="empty"), {}, "owns no namespace"),
        (
            EVAL,
            {"pools": (pool("train", "training"), pool("other", "training"))},
            "which no label distinguishes from pool other",
        ),
    ],
    ids=["another scheduler", "anybody's", "no namespaces", "the same labels"],
)
def test_what_people_should_hear(stated: Reservation, more: dict[str, Any], said: str) -> None:
    _, notices = reservations_of(cluster(stated, **more), "koord-scheduler", NEWEST)
    assert len(notices) == 1
    assert said in notices[0]


def test_owners_and_names() -> None:
    stated = (
        Reservation("a", {GPU: 1}, 3, "team-a"),
        Reservation("a-2", {GPU: 1}, workload="training"),
        Reservation("open", {GPU: 1}),
    )
    found, _ = reservations_of(cluster(*stated), "koord-scheduler", NEWEST)
    assert [each.name for each in found] == ["a-1", "a-3", "a-4", "a-2", "open"]
    assert found[0].owners == (Owner("a-dev"), Owner("a-prod"))
    assert found[3].owners == (Owner(labels={"policykit.io/workload": "training"}),)
    assert [each.allocate_once for each in found] == [False] * 5
    assert reservations.write(found[4])["spec"]["owners"] == [{"labelSelector": {}}]
    assert reservations.write(found[4])["spec"]["ttl"] == "0s"


@given(
    st.lists(st.builds(Reservation, NAMES, st.just({GPU: 1}), st.integers(1, 4)), unique_by=lambda r: r.name)
)
def test_names_are_never_taken_twice(stated: list[Reservation]) -> None:
    found, _ = reservations_of(cluster(*stated), "koord-scheduler", NEWEST)
    assert len({each.name for each in found}) == len(found) == sum(each.pods for each in stated)


def test_cards_are_reserved_under_the_names_that_pods_have() -> None:
    (found,), _ = reservations_of(
        cluster(Reservation("a", {"koordinator.sh/gpu": 50}, workload="training")), "koord-scheduler", NEWEST
    )
    assert found.requests == {"koordinator.sh/gpu-core": 50, "koordinator.sh/gpu-memory-ratio": 50}


@pytest.mark.skipif(SHARED is None, reason="the corpus is not beside the checkout")
def test_a_reservation_people_wrote() -> None:
    assert SHARED is not None
    text = (SHARED / "corpus" / "koordinator" / "reservation-object-owner.yaml").read_text(encoding="utf-8")
    assert reservations.read(yaml.safe_load(text)) == reservations.Reservation(
        "reservation-demo",
        {"cpu": 500, "memory": 800 * 2**20},
        (Owner("default", pod="pod-demo-0"),),
        3600,
        scheduler="koord-scheduler",
    )


@pytest.mark.parametrize(
    "data", [{}, {"metadata": [], "spec": 7}, {"spec": {"template": {"spec": "x"}, "owners": {}}}]
)
def test_other_shapes_say_nothing(data: Any) -> None:
    assert reservations.read(data) == reservations.Reservation("", {})
