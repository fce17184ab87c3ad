"""Components that make workloads land: one folder per workload kind and card."""

from typing import Any

import pytest
import yaml

from policykit.generator.artifact import Role
from policykit.model.cluster import Cluster
from policykit.model.pool import Card, Pool, Shape, Taint
from policykit.model.topology import Level, TopologyAffinity, TopologySpread
from policykit.model.workload import WorkloadKind
from policykit.placement.desired_placement import desired_placement
from policykit.targets.volcano.job_patches import spec_patch
from policykit.targets.workloads.components import BUILT_IN, BuiltIn
from policykit.targets.workloads.generate import generate, pod_spec, strategic_patch
from tests.clusters import policy

GPU = "nvidia.com/gpu"
USAGE = "maip.mxsf.io/node.usage"
PRODUCT = f"{GPU}.product"
TRAINING = WorkloadKind(
    "training",
    ("training", "hybrid"),
    {"training": 100},
    scheduler="volcano",
    priority_class="high",
    queue="research",
)

AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": USAGE, "operator": "In", "values": ["training", "hybrid"]}]}
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "preference": {
                    "matchExpressions": [{"key": USAGE, "operator": "In", "values": ["training"]}]
                },
            }
        ],
    }
}
TOLERATIONS = [
    {"key": USAGE, "operator": "Equal", "value": "training", "effect": "NoSchedule"},
    {"key": USAGE, "operator": "Equal", "value": "hybrid", "effect": "NoSchedule"},
    {"key": PRODUCT, "operator": "Equal", "value": "NVIDIA-H20", "effect": "NoSchedule"},
]


def pool(usage: str, card: str = "h20") -> Pool:
    taints = (Taint(USAGE, usage), *((Taint(PRODUCT, "NVIDIA-H20"),) if card else ()))
    labels = {USAGE: usage, **({PRODUCT: "NVIDIA-H20"} if card else {})}
    shape = Shape({GPU: 8} if card else {"cpu": 8000}, 4, 4)
    return Pool(f"{usage}-{card or 'cpu'}", (shape,), labels, taints, usage, card, (GPU,) if card else ())


def cluster(*kinds: WorkloadKind, pools: tuple[Pool, ...] = (), cards: tuple[str, ...] = ("h20",)) -> Cluster:
    return Cluster(
        "maip",
        pools or tuple(pool(usage) for usage in ("training", "inference", "hybrid")),
        {name: Card(name, GPU, "nvidia", "NVIDIA-H20", PRODUCT, per_node=8) for name in cards},
        {kind.name: kind for kind in kinds or (TRAINING,)},
        usage_key=USAGE,
    )


def folders(made: Cluster) -> list[str]:
    return sorted({artifact.path.rpartition("/")[0] for artifact in generate(made).artifacts})


def texts(made: Cluster) -> dict[str, str]:
    return {artifact.path: artifact.text for artifact in generate(made).artifacts}


def test_placement_is_that_of_the_seed() -> None:
    made = cluster()
    assert pod_spec(TRAINING, desired_placement(made, TRAINING, made.cards["h20"])) == {
        "affinity": AFFINITY,
        "tolerations": TOLERATIONS,
        "schedulerName": "volcano",
        "priorityClassName": "high",
    }


@pytest.mark.parametrize("built_in", BUILT_IN, ids=lambda built_in: built_in.kind)
def test_each_kind_is_patched_at_its_template(built_in: BuiltIn) -> None:
    made = cluster()
    want = desired_placement(made, TRAINING, made.cards["h20"])
    patch: Any = strategic_patch(built_in, TRAINING, want, made)
    assert (patch["apiVersion"], patch["kind"]) == (built_in.api_version, built_in.kind)
    template = patch
    for step in built_in.template:
        template = template[step]
    assert template["spec"] == pod_spec(TRAINING, want)
    assert template["metadata"]["labels"] == {"policykit.io/workload": "training"}
    assert template["metadata"]["annotations"] == {"scheduling.volcano.sh/queue-name": "research"}


def job_operations(made: Cluster, kind: WorkloadKind) -> tuple[dict[str, Any], ...]:
    want = desired_placement(made, kind, made.cards["h20"])
    return spec_patch(kind, pod_spec(kind, want), made)


def test_a_volcano_job_is_patched_by_index() -> None:
    made = cluster()
    operations = job_operations(made, TRAINING)
    assert [(operation["op"], operation["path"]) for operation in operations] == [
        ("add", "/spec/queue"),
        ("add", "/spec/priorityClassName"),
        ("add", "/spec/tasks/0/template/spec/affinity"),
        ("add", "/spec/tasks/0/template/spec/tolerations"),
        ("add", "/spec/tasks/0/template/spec/schedulerName"),
    ]
    assert operations[2]["value"] == AFFINITY


def test_another_scheduler_is_named_on_the_job() -> None:
    made = cluster()
    other = TRAINING._replace(scheduler="koord-scheduler", queue="")
    first, *_ = job_operations(made, other)
    assert first == {"op": "add", "path": "/spec/schedulerName", "value": "koord-scheduler"}
    patch = strategic_patch(BUILT_IN[0], other, desired_placement(made, other, made.cards["h20"]), made)
    assert "annotations" not in str(patch)


@pytest.mark.parametrize(
    ("scheduler", "metadata"),
    [
        ("volcano", {"annotations": {"scheduling.volcano.sh/queue-name": "research"}}),
        ("koord-scheduler", {"labels": {"quota.scheduling.koordinator.sh/name": "research"}}),
        ("yunikorn", {"labels": {"yunikorn.apache.org/queue": "root.research"}}),
        ("", {}),
        ("unknown", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_queue_stands_where_the_scheduler_reads_it(scheduler: str, metadata: dict[str, Any]) -> None:
    made = cluster()
    kind = TRAINING._replace(scheduler=scheduler)
    patch = strategic_patch(BUILT_IN[3], kind, desired_placement(made, kind, made.cards["h20"]), made)
    del patch["metadata"]["labels"]["policykit.io/workload"], patch["metadata"]["name"]
    assert {where: entries for where, entries in patch["metadata"].items() if entries} == metadata
    queued = any(one["path"] == "/spec/queue" for one in job_operations(made, kind))
    assert queued == (scheduler in ("volcano", ""))


def patches(made: Cluster, folder: str = "training-h20") -> list[Any]:
    """The patches of a component."""
    component = yaml.safe_load(texts(made)[f"workloads/{folder}/kustomization.yaml"])
    assert (component["apiVersion"], component["kind"]) == ("kustomize.config.k8s.io/v1alpha1", "Component")
    found: list[Any] = component["patches"]
    return found


def test_a_component_says_what_it_replaces() -> None:
    text = texts(cluster())["workloads/training-h20/kustomization.yaml"]
    assert "replace the affinity and tolerations" in text
    assert "handle every task" in text


def test_a_component_selects_objects_by_label() -> None:
    label = "policykit.io/workload=training"
    assert [patch["target"] for patch in patches(cluster())] == [
        {"group": "batch", "kind": "CronJob", "labelSelector": label},
        {
            "group": "^(apps|batch)?$",
            "kind": "Deployment|Job|ReplicaSet|ReplicationController|StatefulSet",
            "labelSelector": label,
        },
        {"group": "^$", "kind": "Pod", "labelSelector": label},
        {"group": "^$", "kind": "PodTemplate", "labelSelector": label},
        {"group": "batch.volcano.sh", "kind": "Job", "labelSelector": label},
        {"group": "batch.volcano.sh", "kind": "Job", "labelSelector": label},
    ]


def test_components_of_several_cards_leave_each_others_objects_alone() -> None:
    pools = (pool("training"), pool("hybrid", "/odd name/"), pool("system", ""))
    made = cluster(pools=pools, cards=("h20", "/odd name/"))
    selectors = {
        folder: patches(made, folder)[0]["target"]["labelSelector"]
        for folder in ("training-h20", "training--odd-name-", "training-helpers")
    }
    assert selectors == {
        "training-h20": "policykit.io/workload=training,policykit.io/card notin (none,odd-name)",
        "training--odd-name-": "policykit.io/workload=training,policykit.io/card notin (h20,none)",
        "training-helpers": "policykit.io/workload=training,policykit.io/card notin (h20,odd-name)",
    }


def test_nothing_is_applied_by_itself() -> None:
    assert {artifact.role for artifact in generate(cluster()).artifacts} == {Role.COMPONENT}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (cluster(), ["workloads/training-h20"]),
        (
            cluster(pools=(pool("training"), pool("system", ""))),
            ["workloads/training-h20", "workloads/training-helpers"],
        ),
        (cluster(TRAINING._replace(cards=())), []),
        (cluster(WorkloadKind("serving", ("inference",))), ["workloads/serving-h20"]),
        (cluster(WorkloadKind("none", ("batch",))), []),
    ],
    ids=["cards", "helpers", "no cards", "other usage", "no pool"],
)
def test_folders(made: Cluster, expected: list[str]) -> None:
    assert folders(made) == expected


def test_a_pair_without_pool_is_told_where_the_policy_asks_for_it() -> None:
    asked = WorkloadKind("none", ("batch",), cards=("h20",))
    assert [notice.message for notice in generate(cluster(asked)).notices] == [
        "no pool serves none on card h20"
    ]
    assert generate(cluster(asked._replace(cards=None))).notices == ()


def test_pairs_of_one_name_have_folders_of_their_own() -> None:
    kinds = (TRAINING._replace(name="a"), TRAINING._replace(name="a-b"))
    pools = tuple(pool("training", card) for card in ("b-c", "c"))
    made = cluster(*kinds, pools=pools, cards=("b-c", "c"))
    assert folders(made) == ["workloads/a-b-b-c", "workloads/a-b-c", "workloads/a-b-c-2", "workloads/a-c"]
    paths = [artifact.path for artifact in generate(made).artifacts]
    assert len(set(paths)) == len(paths)


def test_no_name_leads_out_of_the_folder() -> None:
    made = cluster(pools=(pool("training", "/../../x"),), cards=("/../../x",))
    assert folders(made) == ["workloads/training--..-..-x"]


def test_a_kind_that_asks_for_nothing_has_no_empty_json_patch() -> None:
    bare = Pool("any", (Shape({GPU: 8}, 1, 1),), card="h20", resources=(GPU,))
    made = Cluster("a", (bare,), {"h20": Card("h20", GPU)}, {"x": WorkloadKind("x")})
    jobs = [each for each in patches(made, "x-h20") if each["target"]["group"] == "batch.volcano.sh"]
    assert [yaml.safe_load(each["patch"])["kind"] for each in jobs] == ["Job"]


def asked(scheduler: str, **more: Any) -> Cluster:
    made = cluster(TRAINING._replace(scheduler=scheduler, **more))
    return made._replace(levels=(Level("rack", "example.com/rack"),))


SPREAD = {
    "maxSkew": 1,
    "topologyKey": "example.com/rack",
    "whenUnsatisfiable": "DoNotSchedule",
    "nodeTaintsPolicy": "Honor",
    "labelSelector": {"matchLabels": {"policykit.io/workload": "training"}},
}


@pytest.mark.parametrize("scheduler", ["", "volcano", "koord-scheduler", "yunikorn", "unknown"])
@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("Deployment", {"matchLabelKeys": ["pod-template-hash"]}),
        ("StatefulSet", {"matchLabelKeys": ["controller-revision-hash"]}),
        ("Pod", {}),
    ],
)
def test_spreading_is_in_every_component(scheduler: str, kind: str, keys: dict[str, Any]) -> None:
    made = asked(scheduler, across=TopologySpread("rack", hard=True))
    built_in = next(one for one in BUILT_IN if one.kind == kind)
    training = made.workloads["training"]
    patch: Any = strategic_patch(
        built_in, training, desired_placement(made, training, made.cards["h20"]), made
    )
    for step in built_in.template:
        patch = patch[step]
    assert patch["spec"]["topologySpreadConstraints"] == [{**SPREAD, **keys}]
    assert (
        "cannot spread the pods of a Volcano Job" in texts(made)["workloads/training-h20/kustomization.yaml"]
    )


def test_closeness_is_said_where_no_number_of_pods_is_needed() -> None:
    made = asked("volcano", within=TopologyAffinity("rack", hard=True), gang="all")
    training = made.workloads["training"]
    want = desired_placement(made, training, made.cards["h20"])
    (network,) = (one for one in job_operations(made, training) if one["path"] == "/spec/networkTopology")
    assert network["value"] == {"mode": "hard", "highestTierAllowed": 1}
    for built_in in BUILT_IN:
        patch = str(strategic_patch(built_in, training, want, made))
        owned = built_in.kind in ("CronJob", "Deployment", "Job", "ReplicaSet", "StatefulSet")
        assert ("volcano.sh/network-topology-mode" in patch) == owned
        assert "group-min-member" not in patch


@pytest.mark.parametrize("scheduler", ["volcano", "koord-scheduler", "yunikorn"])
def test_a_gang_is_left_to_patch(scheduler: str) -> None:
    made = asked(scheduler, gang="all")
    (notice,) = (one for one in generate(made).notices if "`policykit patch`" in one.message)
    assert notice.target == "workloads"
    assert notice.message.startswith("training: ")
    assert (
        "# Components cannot set a gang, because its size"
        in texts(made)["workloads/training-h20/kustomization.yaml"]
    )


def test_a_scheduler_without_gangs_has_nothing_to_leave() -> None:
    made = asked("", gang="all")
    assert generate(made).notices == ()
    assert "gang" not in texts(made)["workloads/training-h20/kustomization.yaml"]


def test_what_a_scheduler_cannot_be_told_is_a_notice() -> None:
    made = asked("yunikorn", across=TopologySpread("rack"))
    assert [notice.message.split(" in YuniKorn")[0] for notice in generate(made).notices][-1] == (
        "training: a soft spread over rack has no effect"
    )


@pytest.mark.parametrize(
    ("scheduler", "skipped"),
    [("volcano", True), ("hami-scheduler", False), ("default-scheduler", False), ("", False)],
)
def test_hami_shares_no_cards_with_pods_of_another_scheduler(scheduler: str, skipped: bool) -> None:
    pools = {"shared": {"card": "h20", "nodes": 2, "sharing": {"mode": "hami"}}}
    kind = {"role": "serving", **({"scheduler": scheduler} if scheduler else {})}
    cluster = policy(
        {
            "scheme": "plain",
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": pools,
            "workloads": {"chat": kind},
        }
    )
    said = [notice.message for notice in generate(cluster).notices if "HAMi" in notice.message]
    text = (
        "chat: HAMi shares the cards of shared, but its webhook leaves pods with schedulerName volcano "
        "alone: they get no part of a card. Set scheduler: hami-scheduler on a workload kind for these "
        "pools, or leave it out"
    )
    assert said == ([text] if skipped else [])
