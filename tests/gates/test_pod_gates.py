"""Gates besides the pools: which of them hold the pods of a file, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from policykit import api
from policykit.gates.pod_affinity import PodAffinities
from policykit.gates.pod_gates import Answer
from policykit.gates.volumes import Volumes
from policykit.linter.scope import scope_of
from policykit.model.references import AffinePods
from policykit.model.volumes import ClaimUse
from tests.clusters import policy

POLICY: dict[str, Any] = {
    "coverage": "complete",
    "scheme": {"preset": "plain", "usage": False, "product": False},
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"gpu": {"card": "h20", "nodes": 4, "allocatable": {"cpu": 64, "memory": "512Gi"}}},
    "schedulers": ["default-scheduler", "volcano"],
}
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: team-a}
spec:
  schedulerName: volcano
  minAvailable: 4
  queue: research
  tasks:
  - name: worker
    replicas: 4
    template:
      spec:
        schedulerName: volcano
        restartPolicy: Never
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            requests: {cpu: 4, memory: 8Gi}
            limits: {nvidia.com/gpu: 2}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: serve, namespace: team-a}
spec:
  containers:
  - name: main
    image: registry.example/serve:1
    resources: {requests: {cpu: 4, memory: 8Gi}}
"""
QUEUE = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 1}
"""
QUOTA = """\
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: team-a}
spec:
  hard: {requests.nvidia.com/gpu: "8"}
"""
RANGE = """\
---
apiVersion: v1
kind: LimitRange
metadata: {name: bounds, namespace: team-a}
spec:
  limits:
  - type: Container
    max: {cpu: 2}
"""


def answers(text: str, data: dict[str, Any] = POLICY, *, complete: bool = True) -> list[Answer]:
    raw, cluster = text.encode(), policy(data)
    reviewed = [("a.yaml", review) for review in api.where(raw, cluster)]
    return list(api.answers(reviewed, api.facts("a.yaml", raw, cluster), cluster, complete=complete))


def gates(text: str, *, complete: bool = True) -> list[str]:
    """Those of the first pod set that do not accept it."""
    answer = answers(text, complete=complete)[0]
    return [f"{g.name} {g.state}: {g.detail}" for g in answer.gates if g.state != "accepted"]


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (JOB + QUEUE, []),
        (JOB + QUEUE + QUOTA, []),
        (JOB + QUEUE.replace("research", "vision"), ["queue unknown: no file here defines queue research"]),
        (
            JOB + QUEUE.replace("research", "reserch"),
            [
                "queue refused: queue research does not exist: "
                "Volcano refuses jobs and PodGroups of a queue that does not exist"
            ],
        ),
        (
            JOB + QUEUE.replace("{weight: 1}", "{capability: {nvidia.com/gpu: 6}}"),
            [
                "queue refused: the gang of 4 pods requests 8 nvidia.com/gpu, "
                "but queue research may use at most 6"
            ],
        ),
        (
            JOB + QUEUE + QUOTA.replace('"8"', '"7"'),
            [
                "quota refused: the gang of 4 pods requests 8 nvidia.com/gpu, "
                "but ResourceQuota team of the namespace allows 7"
            ],
        ),
        (JOB + QUEUE + QUOTA.replace('"8"', '"7"').replace("team-a", "team-b"), []),
        (
            JOB.replace("gpu: 2", "gpu: 8").replace("4\n  queue", "8\n  queue").replace("s: 4", "s: 8")
            + QUEUE,
            [
                "gang refused: the gang needs 8 pods of 8 nvidia.com/gpu each at once, "
                "but the empty pools (gpu) hold only 4"
            ],
        ),
        (
            POD + QUOTA.replace("requests.nvidia.com/gpu", "limits.memory"),
            [
                "quota refused: ResourceQuota team counts limits.memory, "
                "but a container states no limits of memory"
            ],
        ),
        (POD + QUOTA.replace("requests.nvidia.com/gpu", "cpu"), []),
        (POD.replace("cpu: 4, ", "") + RANGE.replace("max: {cpu: 2}", "defaultRequest: {cpu: 2}"), []),
        (POD + RANGE.replace("max: {cpu: 2}", "defaultRequest: {cpu: 200}"), []),
        (
            POD.replace("cpu: 4, ", "") + RANGE.replace("max: {cpu: 2}", "defaultRequest: {cpu: 200}"),
            [
                "limit-range refused: with LimitRange bounds the pod requests 200 cpu, "
                "but its nodes have at most 64"
            ],
        ),
        (
            POD.replace("cpu: 4, ", "").replace("spec:", "spec:\n  resources: {requests: {cpu: 64}}", 1)
            + RANGE.replace("max: {cpu: 2}", "defaultRequest: {cpu: 2}"),
            [],
        ),
        (
            POD.replace("cpu: 4, ", "")
            + RANGE.replace("max: {cpu: 2}", "default: {cpu: 8}")
            + QUOTA.replace('requests.nvidia.com/gpu: "8"', "requests.cpu: 6"),
            [
                "quota refused: with LimitRange bounds Pod serve requests 8 cpu, "
                "but ResourceQuota team of the namespace allows 6"
            ],
        ),
        (
            POD + RANGE,
            [
                "limit-range refused: Pod serve asks for 4 cpu in one container, "
                "but LimitRange bounds of the namespace allows at most 2"
            ],
        ),
        (
            POD + RANGE.replace("max: {cpu: 2}", "maxLimitRequestRatio: {cpu: 2}\n    default: {cpu: 12}"),
            [
                "limit-range refused: Pod serve has a limit of cpu that is 3 times its request, "
                "but LimitRange bounds of the namespace allows a limit of at most 2 times its request"
            ],
        ),
        (
            POD.replace("spec:", "spec:\n  schedulerName: yunikorn", 1),
            ["scheduler refused: yunikorn is not a scheduler of the policy (default-scheduler, volcano)"],
        ),
        (
            POD.replace("spec:", "spec:\n  priorityClassName: high", 1),
            ["priority unknown: no file here defines PriorityClass high"],
        ),
    ],
    ids=[
        "nothing",
        "quota fits",
        "another queue",
        "nearly the queue",
        "queue too small",
        "quota too small",
        "quota elsewhere",
        "pools too small",
        "limit not stated",
        "request stated",
        "given requests fit",
        "no request is given",
        "given requests above the nodes",
        "the pod asks for more than is given",
        "given requests above the quota",
        "limit range",
        "ratio of a limit range",
        "scheduler",
        "priority",
    ],
)
def test_gates(text: str, held: list[str]) -> None:
    assert gates(text) == held


JOINED = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: train, namespace: team-a}
spec: {minMember: 5, queue: research}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team-a}
spec:
  parallelism: 5
  completions: 5
  template:
    metadata: {annotations: {scheduling.k8s.io/group-name: train}}
    spec:
      schedulerName: volcano
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers:
      - {name: main, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (
            JOINED,
            [
                "gang refused: the gang needs 5 pods of 8 nvidia.com/gpu each at once, "
                "but the empty pools (gpu) hold only 4"
            ],
        ),
        (JOINED.replace("minMember: 5", "minMember: 4"), []),
    ],
    ids=["five", "four"],
)
def test_members_that_join_a_group_by_name(text: str, held: list[str]) -> None:
    assert [each for each in gates(text + QUEUE) if each.startswith("gang")] == held


STATED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: team-a}
spec:
  parallelism: 2
  completions: 2
  template:
    metadata:
      annotations:
        gang.scheduling.koordinator.sh/name: train
        gang.scheduling.koordinator.sh/min-available: "%d"
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/train:1", resources: {requests: {cpu: 1}}}]
"""


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        ((4, 4), []),
        ((5, 5), ["gang refused: gang train needs 5 members but Job a and Job b have 4 pods"]),
        (
            (4, 5),
            ["gang unknown: gang train needs 5 members, as Job b states, but Job a and Job b have 4 pods"],
        ),
    ],
)
def test_members_that_state_their_gang(sizes: tuple[int, int], held: list[str]) -> None:
    jobs = [STATED % pair for pair in zip("ab", sizes, strict=True)]
    assert [each for each in gates("---\n".join(jobs)) if each.startswith("gang")] == held


def test_a_scope_that_is_not_complete_refuses_nothing_for_absence() -> None:
    assert gates(JOB, complete=False) == ["queue unknown: no file here defines queue research"]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (JOB + QUEUE, "accepted"),
        (JOB + QUEUE.replace("research", "vision"), "unknown"),
        (JOB + QUEUE.replace("research", "reserch"), "refused"),
        (POD.replace("spec:", "spec:\n  priorityClassName: high", 1), "unknown"),
        (POD.replace("spec:", "spec:\n  nodeSelector: {disk: ssd}", 1), "refused"),
        (POD.replace("spec:", "spec:\n  nodeSelector: {topology.kubernetes.io/zone: a}", 1), "unknown"),
    ],
)
def test_state(text: str, state: str) -> None:
    assert answers(text)[0].state == state


@pytest.mark.parametrize(
    ("constraint", "held"),
    [
        ("{topologyKey: rack, whenUnsatisfiable: DoNotSchedule}", True),
        ("{topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}", False),
        ("{topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}", False),
        ("{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}", True),
    ],
)
def test_topology(constraint: str, held: bool) -> None:
    text = POD.replace("spec:", f"spec:\n  topologySpreadConstraints: [{constraint}]", 1)
    assert bool(gates(text)) is held


@pytest.mark.parametrize(
    ("replicas", "rest", "held"), [(2, "", True), (1, "", False), (2, ", nodeTaintsPolicy: Honor", False)]
)
def test_a_spread_over_zones_whose_nodes_repel_the_pods(replicas: int, rest: str, held: bool) -> None:
    pools = {
        "a": {"nodes": 2, "labels": {"example.com/row": "a"}, "allocatable": {"cpu": 64, "memory": "512Gi"}},
        "b": {"nodes": 2, "labels": {"example.com/row": "b"}, "taints": ["dedicated=b:NoSchedule"]},
    }
    spread = f"maxSkew: 1, topologyKey: example.com/row, whenUnsatisfiable: DoNotSchedule{rest}"
    text = (
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: serve, namespace: team-a}, spec: "
        f"{{replicas: {replicas}, selector: {{matchLabels: {{app: a}}}}, template: "
        "{metadata: {labels: {app: a}}, spec: {topologySpreadConstraints: "
        f"[{{{spread}, labelSelector: {{matchLabels: {{app: a}}}}}}], "
        "containers: [{name: main, image: registry.example/serve:1}]}}}}"
    )
    answer = answers(text, {**POLICY, "cards": {}, "pools": pools})[0]
    found = [f"{g.name} {g.state}: {g.detail}" for g in answer.gates if g.state != "accepted"]
    assert found == (
        [
            "topology unknown: a constraint of its pods spreads by example.com/row over pool b, "
            "but does not tolerate taint dedicated=b:NoSchedule"
        ]
        if held
        else []
    )


CLAIM = """\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: team-a}
spec: {%s}
"""
VOLUME = """\
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk-1}
spec:
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, values: [b]}]}]}}
"""
CLASS = """\
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
- matchLabelExpressions: [{key: rack, values: [b]}]
"""


MOUNTED = "{name: data, persistentVolumeClaim: {claimName: data}}"


@pytest.mark.parametrize(
    ("beside", "held"),
    [
        (
            CLAIM % "volumeName: disk-1" + VOLUME % "rack",
            [
                "volume refused: claim data: PersistentVolume disk-1 is only for nodes with rack In b, "
                "but the pods run only in pool gpu"
            ],
        ),
        (
            CLAIM % "volumeName: disk-1" + VOLUME % "kubernetes.io/hostname",
            [
                "volume unknown: claim data: PersistentVolume disk-1 is only for nodes with "
                "kubernetes.io/hostname In b"
            ],
        ),
        (
            CLAIM % "storageClassName: fast" + CLASS,
            [
                "volume refused: claim data: StorageClass fast is only for nodes with rack In b, "
                "but the pods run only in pool gpu"
            ],
        ),
        (
            CLAIM % "storageClassName: fast" + CLASS.replace("WaitForFirstConsumer", "Immediate"),
            [
                "volume unknown: claim data: StorageClass fast is only for nodes with rack In b, "
                "but the pods run only in pool gpu"
            ],
        ),
        (CLAIM % "volumeName: disk-2" + VOLUME % "rack", []),
        (CLAIM % "storageClassName: slow" + CLASS, []),
        (VOLUME % "rack", []),
    ],
)
def test_volumes(beside: str, held: list[str]) -> None:
    assert gates(POD.replace("spec:", f"spec:\n  volumes: [{MOUNTED}]", 1) + beside) == held


def test_volumes_of_one_pod() -> None:
    job = JOB.replace("schedulerName: volcano\n        rest", f"volumes: [{MOUNTED}]\n        rest")
    held = [
        "volume unknown: claim data: ReadWriteOncePod lets one pod use the volume, but Job train has 4: "
        "the others stay pending"
    ]
    modes = CLAIM % "accessModes: [ReadWriteOncePod]"
    assert [each for each in gates(job + QUEUE + modes) if each.startswith("volume")] == held
    assert gates(job + QUEUE + CLAIM % "accessModes: [ReadWriteMany]") == []


NEAR: dict[str, Any] = {
    "coverage": "complete",
    "scheme": {"preset": "plain", "usage": False, "product": False},
    "pools": {
        "web": {"nodes": 2, "allocatable": {"cpu": 16, "memory": "64Gi"}, "labels": {"pool": "web"}},
        "data": {"nodes": 2, "allocatable": {"cpu": 16, "memory": "64Gi"}, "labels": {"pool": "data"}},
    },
}
CACHE = POD.replace("serve", "cache").replace("team-a}", "team-a, labels: {app: cache}}")
TERM = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}"


def _near(pool: str, *terms: str) -> str:
    required = f"{{requiredDuringSchedulingIgnoredDuringExecution: [{', '.join(terms)}]}}"
    fields = f"spec:\n  nodeSelector: {{pool: {pool}}}\n  affinity: {{podAffinity: {required}}}"
    return POD.replace("spec:", fields, 1)


@pytest.mark.parametrize(
    ("text", "beside", "held"),
    [
        (_near("web", TERM % "cache"), CACHE, []),
        (_near("web", TERM % "cache"), CACHE.replace("spec:", "spec:\n  nodeSelector: {pool: web}"), []),
        (
            _near("web", TERM % "cache"),
            CACHE.replace("spec:", "spec:\n  nodeSelector: {pool: data}"),
            [
                "affinity refused: "
                "affinity needs a node with pods of Pod cache, which run only in pool data, "
                "but these pods run only in pool web: they stay pending"
            ],
        ),
        (
            _near("web", TERM % "cache"),
            CACHE.replace("cpu: 4", "cpu: 13"),
            [
                "affinity refused: affinity needs a node with a pod of Pod cache, but the two request 17 cpu "
                "together, and a node of pool web has 16: these stay pending"
            ],
        ),
        (
            _near("web", TERM % "cache", TERM % "store"),
            CACHE,
            [
                "affinity refused: a pod counts only if all terms match it, but no pod has both "
                "app: cache and app: store: these stay pending"
            ],
        ),
        (
            _near("web", TERM % "store"),
            CACHE,
            ["affinity unknown: no file here makes pods with app: store"],
        ),
        (
            _near("web", "{topologyKey: kubernetes.io/hostname, labelSelector: {}, namespaces: [team-c]}"),
            CACHE,
            ["affinity unknown: no file here makes pods in namespace team-c"],
        ),
        (
            _near("web", TERM % "cache"),
            CACHE.replace("team-a", "team-b"),
            [
                "affinity unknown: affinity selects pods of namespace team-a, but Pod cache is in team-b: "
                "these stay pending"
            ],
        ),
    ],
    ids=[
        "anywhere",
        "same pool",
        "other pool",
        "no room",
        "two terms",
        "nobody",
        "an empty namespace",
        "other namespace",
    ],
)
def test_affinity(text: str, beside: str, held: list[str]) -> None:
    found = answers(f"{text}---\n{beside}", NEAR)[0].gates
    assert [f"{g.name} {g.state}: {g.detail}" for g in found if g.state != "accepted"] == held


def test_affinity_is_refused_only_where_all_is_known() -> None:
    text = (
        _near("web", TERM % "cache") + "---\n" + CACHE.replace("spec:", "spec:\n  nodeSelector: {pool: data}")
    )
    assert not any(gate.name == "affinity" for gate in answers(text, NEAR, complete=False)[0].gates)
    partial = {**NEAR, "coverage": "partial"}
    assert not any(gate.name == "affinity" for gate in answers(text, partial)[0].gates)


@pytest.mark.parametrize("name", ["test", "other"])
def test_facts_of_another_policy_say_nothing_of_these_pools(name: str) -> None:
    text = (
        _near("web", TERM % "cache") + "---\n" + CACHE.replace("spec:", "spec:\n  nodeSelector: {pool: data}")
    )
    mounted = text.replace("spec:", f"spec:\n  volumes: [{MOUNTED}]", 1) + CLAIM % "volumeName: disk-1"
    raw = (mounted + VOLUME % "rack").encode()
    racks = {
        pool: {**stated, "labels": {**stated["labels"], "rack": "a"}}
        for pool, stated in NEAR["pools"].items()
    }
    pools = {f"{pool}-{name}": stated for pool, stated in racks.items()}
    known = scope_of(
        api.facts("a.yaml", raw, policy({**NEAR, "metadata": {"name": name}, "pools": pools})), complete=True
    )
    near, uses = [each.value for each in known.of(AffinePods)], [each.value for each in known.of(ClaimUse)]
    assert near
    assert uses
    assert not any(PodAffinities(known, policy(NEAR)).unmet(each) for each in near)
    assert not any(Volumes(known, policy(NEAR)).problem(each) for each in uses)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("schedulerName: kai-scheduler", "unknown"),
        ("schedulerName: default-scheduler", "accepted"),
    ],
)
def test_a_policy_without_schedulers_refuses_none(text: str, held: str) -> None:
    """It does not say that only the default one runs."""
    found = answers(POD.replace("spec:", f"spec:\n  {text}", 1), SHARED)[0]
    assert [gate.state for gate in found.gates if gate.name == "scheduler"] == [held]


@pytest.mark.parametrize("mark", ["# policykit: partial\n", ""])
def test_excerpts_are_not_answered_for_certain(mark: str) -> None:
    """Their missing fields may be written elsewhere: no gate is asked, and `where` does not fail for them."""
    text = mark + POD.replace("spec:", "spec:\n  nodeSelector: {disk: ssd}", 1)
    text = text if mark else text.replace("spec:", "spec:\n  volumes: [...]", 1)
    found = answers(text)[0]
    assert (found.review.manifest.partial, found.gates) == (True, ())


@pytest.mark.parametrize(
    ("mode", "name"), [("hami", "nvidia.com/gpu"), ("volcano-vgpu", "volcano.sh/vgpu-number")]
)
@pytest.mark.parametrize(("number", "held"), [(8, False), (9, True)])
def test_shares_of_a_container_are_of_different_cards(mode: str, name: str, number: int, held: bool) -> None:
    data = {
        **SHARED,
        "pools": {
            **SHARED["pools"],
            "gpu": {**SHARED["pools"]["gpu"], "sharing": {"mode": mode, "slots": 10}},
        },
    }
    found = answers(SHARES % (name, number), data)[0]
    assert [gate.state for gate in found.gates if gate.name == "cards"] == ["refused"] * held


SHARED: dict[str, Any] = {
    "apiVersion": "policykit.io/v1alpha1",
    "kind": "Policy",
    "metadata": {"name": "shared"},
    "domain": "ai.example.com",
    "kubernetes": "1.36",
    "coverage": "complete",
    "scheme": {"preset": "plain"},
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"gpu": {"card": "h20", "nodes": 4, "allocatable": {"cpu": 180}}, "web": {"nodes": 2}},
}
SHARES = """\
apiVersion: v1
kind: Pod
metadata: {name: serve}
spec:
  containers:
  - {name: main, image: "registry.example/serve:1", resources: {limits: {%s: %d}}}
"""
