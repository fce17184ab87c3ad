from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.model.cluster import TargetSettings
from policykit.model.gang import GangRule
from policykit.model.pod_fields import JobPods, PodContext, PodFields
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import pods as volcano_pods
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import GROUP_MIN_MEMBER, GROUP_NAME, TOPOLOGY_MODE, TOPOLOGY_TIER
from policykit.targets.volcano.objects.topology import NetworkTopology
from policykit.targets.volcano.options import VolcanoOptions
from policykit.targets.volcano.pods import PodGroup
from tests.loaded import loaded
from tests.shared import SHARED
from tests.targets.volcano.clusters import GIB, GPU
from tests.targets.volcano.objects.test_queues import AMOUNTS, NAMES
from tests.targets.volcano.racks import cluster
from tests.targets.volcano.webhook import refused_pod_group

GANG = WorkloadKind("training", gang="all", queue="a", priority_class="high")
CLOSE = WorkloadKind("training", within=TopologyAffinity("rack", hard=True))
ROLLOUT = (
    "each ReplicaSet of a Deployment is a gang of its own, so 4 new pods start together or not at "
    "all: roll out with strategy Recreate, or maxSurge 100%"
)
PARALLEL = (
    "a StatefulSet creates its next pod when the last one is ready, so a gang needs "
    "podManagementPolicy Parallel"
)
REQUESTS = {"cpu": 1000, GPU: 8}


def pods(kind: str, *replicas: int | None, owner: str = "llm") -> PodContext:
    members = tuple(JobPods(f"set-{n}", number, REQUESTS) for n, number in enumerate(replicas))
    return PodContext(owner, kind, "team-a", "set-0", members)


def group(size: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "llm", "namespace": "team-a"},
        "spec": {"minMember": size, **spec},
    }


def owned(size: int, *notices: str) -> PodFields:
    return PodFields(owner_annotations={GROUP_MIN_MEMBER: str(size)}, notices=notices)


def beside(written: dict[str, Any], *notices: str) -> PodFields:
    return PodFields(annotations={GROUP_NAME: "llm"}, objects=(written,), notices=notices)


WHOLE = {"queue": "a", "priorityClassName": "high", "minResources": {"cpu": "4", GPU: "32"}}


@pytest.mark.parametrize(
    ("kind", "given_pods", "version", "expected"),
    [
        pytest.param(WorkloadKind("t", queue="a"), pods("Job", 4), "", PodFields(), id="nothing-asked"),
        pytest.param(GANG._replace(gang="none"), pods("Job", 4), "", PodFields(), id="no-gang"),
        pytest.param(GANG, pods("Job", 4), "", owned(4), id="Job"),
        pytest.param(GANG, pods("CronJob", 4), "", owned(4), id="CronJob"),
        pytest.param(GANG, pods("Deployment", 4), "", owned(4, ROLLOUT), id="Deployment"),
        pytest.param(GANG, pods("StatefulSet", 4), "", owned(4, PARALLEL), id="StatefulSet"),
        pytest.param(GANG, pods("Deployment", 1), "", PodFields(), id="one-pod"),
        pytest.param(GANG._replace(gang_rule=GangRule(2)), pods("Job", 4), "", owned(2), id="size"),
        pytest.param(
            GANG._replace(gang_rule=GangRule(8)),
            pods("Job", 4),
            "",
            owned(4, "the policy asks for a gang of 8, but there are 4 pods: the gang is all of them"),
            id="size-above-pods",
        ),
        pytest.param(GANG, pods("Job", 4), "1.11", beside(group(4, **WHOLE)), id="Job-before-1.12"),
        pytest.param(
            GANG, pods("StatefulSet", 4), "1.11", beside(group(4, **WHOLE), PARALLEL), id="StatefulSet-before"
        ),
        pytest.param(GANG, pods("Deployment", 4), "1.11", beside(group(4, **WHOLE)), id="Deployment-before"),
        pytest.param(
            GANG,
            pods("JobSet", 1, 4),
            "",
            beside(group(5, queue="a", priorityClassName="high", minResources={"cpu": "5", GPU: "40"})),
            id="JobSet",
        ),
        pytest.param(
            GANG._replace(gang_rule=GangRule(3)),
            pods("JobSet", 1, 4),
            "",
            beside(group(3, queue="a", priorityClassName="high")),
            id="which-of-them-is-open",
        ),
        pytest.param(
            GANG,
            pods("PyTorchJob", 1, 4),
            "",
            PodFields(
                notices=("the operator of PyTorchJob creates the PodGroup if it is set to use Volcano",)
            ),
            id="operator",
        ),
        pytest.param(
            GANG._replace(within=TopologyAffinity("rack")),
            pods("PyTorchJob", 1, 4),
            "",
            PodFields(
                notices=(
                    "the operator of PyTorchJob creates the PodGroup if it is set to use Volcano; the "
                    "network topology of workload kind training is not written: set it in its own fields",
                )
            ),
            id="operator-within",
        ),
        pytest.param(GANG, pods("Pod", 1), "", PodFields(), id="Pod"),
        pytest.param(
            GANG._replace(gang_rule=GangRule(4)),
            pods("Pod", 1),
            "",
            PodFields(
                notices=("a single Pod joins a gang only by the annotation scheduling.k8s.io/group-name",)
            ),
            id="Pod-of-several",
        ),
        pytest.param(
            GANG,
            pods("Deployment", None),
            "",
            PodFields(
                notices=("the number of pods that start together is not fixed: set gang.size in the policy",)
            ),
            id="unknown-number",
        ),
        pytest.param(GANG._replace(gang_rule=GangRule(4)), PodContext(), "", owned(4), id="component"),
        pytest.param(GANG, PodContext(), "", PodFields(), id="component-without-number"),
        pytest.param(
            GANG._replace(gang_rule=GangRule(4)),
            PodContext(),
            "1.11",
            PodFields(
                notices=(
                    "Volcano 1.11.2 needs a PodGroup object for this, one for each workload: `policykit "
                    "patch` writes it",
                )
            ),
            id="component-before-1.12",
        ),
        pytest.param(
            CLOSE,
            pods("Job", 4),
            "",
            PodFields(annotations={TOPOLOGY_MODE: "hard", TOPOLOGY_TIER: "2"}),
            id="closeness",
        ),
        pytest.param(
            GANG._replace(within=TopologyAffinity("rack")),
            pods("Job", 4),
            "",
            PodFields(
                annotations={TOPOLOGY_MODE: "soft", TOPOLOGY_TIER: "2"},
                owner_annotations={GROUP_MIN_MEMBER: "4"},
            ),
            id="closeness-and-gang",
        ),
        pytest.param(
            CLOSE,
            pods("Job", 4),
            "1.12",
            beside(
                group(
                    1,
                    minResources={"cpu": "1", GPU: "8"},
                    networkTopology={"mode": "hard", "highestTierAllowed": 2},
                )
            ),
            id="closeness-in-1.12",
        ),
        pytest.param(
            GANG._replace(within=TopologyAffinity("rack", hard=True)),
            pods("JobSet", 4),
            "",
            beside(group(4, **WHOLE, networkTopology={"mode": "hard", "highestTierName": "rack"})),
            id="closeness-of-a-group-of-ours",
        ),
        pytest.param(
            CLOSE,
            pods("Job", 4),
            "1.11",
            PodFields(
                notices=(
                    "Volcano 1.11.2 has no network topology (added in 1.12.0): within one rack is "
                    "not written. Nearest: pod affinity on its label",
                )
            ),
            id="closeness-before-1.12",
        ),
        pytest.param(
            GANG._replace(gang_rule=GangRule(None, 600, "fail")),
            pods("Job", 4),
            "",
            owned(
                4,
                "a PodGroup has no timeout. Nearest: activeDeadlineSeconds of a Job, or the policies "
                "of a Volcano Job",
            ),
            id="timeout",
        ),
        pytest.param(
            GANG._replace(gang_rule=GangRule(None, 600, "start")),
            pods("Job", 4),
            "",
            owned(
                4,
                "Volcano cannot start part of a gang after a timeout. Nearest: a smaller gang size, "
                "with the other pods following when they fit",
            ),
            id="start",
        ),
        pytest.param(
            GANG._replace(gang_rule=GangRule(None, 600, "wait")), pods("Job", 4), "", owned(4), id="wait"
        ),
        pytest.param(
            GANG,
            pods("JobSet", 4, owner="LLM"),
            "",
            PodFields(
                notices=(
                    "no PodGroup can be named after 'LLM': it is not a DNS name, whose parts between dots "
                    "must begin and end with a lower-case letter or digit, with only those and '-' between",
                )
            ),
            id="no-name",
        ),
    ],
)
def test_fields(kind: WorkloadKind, given_pods: PodContext, version: str, expected: PodFields) -> None:
    assert volcano_pods.fields(kind, cluster(kind, version=version), given_pods) == expected


OWNERS = ["", "Deployment", "StatefulSet", "Job", "Pod", "JobSet", "ReplicationController", "Rollout"]


@given(
    st.sampled_from(OWNERS),
    st.lists(st.none() | st.integers(0, 5), max_size=2),
    st.none() | st.integers(1, 6),
    st.none() | st.sampled_from(["zone", "rack", "switch"]),
    st.sampled_from(["1.8", "1.11", "1.12", "1.13", "1.14.0", "1.15.1"]),
)
def test_no_group_is_larger_than_its_pods_or_refused(
    owner: str, replicas: list[int | None], size: int | None, level: str | None, version: str
) -> None:
    kind = GANG._replace(
        gang_rule=GangRule(size) if size else None, within=TopologyAffinity(level) if level else None
    )
    found = volcano_pods.fields(kind, cluster(kind, version=version), pods(owner, *replicas))
    there = None if None in replicas or not replicas else sum(number or 0 for number in replicas)
    stated = found.owner_annotations.get(GROUP_MIN_MEMBER)
    assert stated is None or there is None or int(stated) <= there
    for each in found.objects:
        assert refused_pod_group(each, versions.parse(version)) == []
        assert found.annotations[GROUP_NAME] == each["metadata"]["name"]
        assert there is None or each["spec"]["minMember"] <= max(there, 1)


def test_a_group_where_the_policy_asks_for_objects() -> None:
    there = cluster()
    settings = TargetSettings("volcano", "1.15.1", options=VolcanoOptions(gang_objects=True))
    there = there._replace(targets={"volcano": settings})
    assert volcano_pods.fields(GANG, there, pods("Job", 4)) == beside(group(4, **WHOLE))
    assert volcano_pods.fields(GANG, there, pods("Deployment", 1)) == PodFields()


TEXT = st.just("") | NAMES
BOUNDS = (
    st.none()
    | st.tuples(st.sampled_from(["hard", "soft"]), st.none() | st.integers(0, 5)).map(
        lambda b: NetworkTopology(*b)
    )
    | NAMES.map(lambda name: NetworkTopology("hard", None, name))
)
GROUPS = st.builds(
    PodGroup,
    namespace=TEXT,
    name=NAMES,
    min_member=st.integers(0, 99),
    queue=TEXT,
    priority_class=TEXT,
    min_resources=AMOUNTS,
    bound=BOUNDS,
    min_task_member=st.dictionaries(NAMES, st.integers(0, 9), max_size=2),
)


@given(GROUPS)
def test_what_is_written_reads_back(group: PodGroup) -> None:
    assert volcano_pods.read_pod_group(volcano_pods.write_pod_group(group)) == group
    assert volcano_pods.read_pod_group(loaded(writer.dump(volcano_pods.write_pod_group(group)))) == group


def test_written_in_full() -> None:
    group = PodGroup(
        "team-a", "llm", 4, "a", "high", {GPU: 32, "memory": GIB}, NetworkTopology("hard", 1), {"worker": 3}
    )
    written = volcano_pods.write_pod_group(group)
    assert written == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "llm", "namespace": "team-a"},
        "spec": {
            "minMember": 4,
            "minTaskMember": {"worker": 3},
            "queue": "a",
            "priorityClassName": "high",
            "minResources": {"memory": "1Gi", GPU: "32"},
            "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
        },
    }


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"metadata": [], "spec": "x"},
        {"spec": {"minMember": "4", "queue": 1, "minTaskMember": {"a": "b"}}},
    ],
    ids=["empty", "shapes", "types"],
)
def test_other_shapes_are_empty(data: dict[str, Any]) -> None:
    assert volcano_pods.read_pod_group(data) == PodGroup("", "", 0)


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_valid_by_the_crd() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = loaded((SHARED / "corpus/crds/volcano/scheduling.volcano.sh_podgroups.yaml").read_text())
    served = {version["name"]: version for version in crd["spec"]["versions"]}
    schema = served["v1beta1"]["schema"]["openAPIV3Schema"]
    group = PodGroup("a", "b", 4, "q", "high", {GPU: 8}, NetworkTopology("soft", tier_name="rack"), {"w": 4})
    written = volcano_pods.write_pod_group(group)
    jsonschema.validate(written, schema)
    assert set(written["spec"]) <= set(schema["properties"]["spec"]["properties"])
