"""What grows: for each shape the files of size n, and the command that looks at them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

Files = Mapping[str, str]


_LINT = ("lint", ".", "--no-cache", "--jobs", "1", "--exit-zero")
_HYBRID = ("-p", "profile:hybrid-volcano")


class Shape(NamedTuple):
    """A repository of any size, and a command line."""

    files: Callable[[int], Files]
    words: tuple[str, ...] = _LINT
    work: Callable[[], object] | None = None
    """What is done in place of the command."""
    size: int = 40
    """The smallest n."""


_POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p{0}}}
spec: {{containers: [{{name: main, image: registry.example/a:1, resources: {{limits: {{cpu: 1}}}}}}]}}
"""
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: d{0}, labels: {{n: {0}}}}}
spec:
  selector: {{matchLabels: {{app: d{0}}}}}
  template:
    metadata: {{labels: {{app: d{0}, policykit.io/workload: training}}}}
    spec:
      containers:
      - {{name: main, image: registry.example/a:1, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
"""
_RUNTIME_CLASS = """\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
scheduling: {tolerations: [{operator: Exists}]}
"""
_CLAIM = """\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: c{0}}}
spec: {{volumeName: v{0}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: v{0}}}
spec:
  nodeAffinity:
    required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: rack, operator: Exists}}]}}]}}
"""
_QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: q{0}}}
spec: {{weight: 1, parent: q{1}}}
"""
_CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap}
data:
  volcano-scheduler.conf: |
    actions: "allocate"
    tiers:
    - plugins:
"""


_TASK = """\
  - name: t{0}
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - {{name: main, image: registry.example/a:1, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
"""


def _documents(texts: list[str]) -> Files:
    return {"a.yaml": "---\n".join(texts)}


def _pods(n: int) -> Files:
    return _documents([_POD.format(number) for number in range(n)])


def _deployments(n: int) -> Files:
    return _documents([_DEPLOYMENT.format(number) for number in range(n)])


def _nodes(n: int) -> Files:
    labels = {"nvidia.com/gpu.product": "NVIDIA-L20"}
    size = {"cpu": "90", "memory": "700Gi", "nvidia.com/gpu": "8"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{number}", "labels": labels},
            "status": {"allocatable": size, "capacity": size},
        }
        for number in range(n)
    ]
    return {"nodes.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes})}


def _files(n: int) -> Files:
    return {f"{number}.yaml": _POD.format(number) for number in range(n)}


def _queue_cycle(n: int) -> Files:
    return _documents([_QUEUE.format(number, (number + 1) % n) for number in range(n)])


def _misspelt_queues(n: int) -> Files:
    """Jobs whose queue is a slip: each finding about the scope has a fix."""
    return _documents(
        [_QUEUE.format("esearch", "root")]
        + [
            f"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: j{number}}}\n"
            "spec:\n  schedulerName: volcano\n  queue: qsearch\n  minAvailable: 1\n  tasks:\n"
            "  - replicas: 1\n    name: main\n    template:\n      spec:\n"
            "        restartPolicy: Never\n"
            "        containers: [{name: main, image: registry.example/a:1}]\n"
            for number in range(n)
        ]
    )


def _queue_chain(n: int) -> Files:
    return _documents([_QUEUE.format(number, number - 1 if number else "root") for number in range(n)])


def _ignored_names(n: int) -> Files:
    return {".gitignore": "*a" * n + "b\n", "a" * n + ".yaml": _POD.format(0)}


def _broken(n: int) -> Files:
    return _documents(["a: [1\n" for _ in range(n)])


def _in_a_string(n: int) -> Files:
    plugins = "".join(f"    - name: gamg{number}\n" for number in range(n))
    return {"a.yaml": _CONFIGURATION + plugins}


def _doubled_bases(n: int) -> Files:
    head = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: demo}\n"
    files = {
        f"{number}.yaml": f"{head}extends: [{number + 1}.yaml, {number + 1}.yaml]\n" for number in range(n)
    }
    return {**files, f"{n}.yaml": f"{head}domain: ai.example.com\n"}


def _brackets(n: int) -> Files:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, annotations: {{x: '{'[' * n * 100}'}}}}\n"
    return {"a.yaml": text + "spec: {containers: [{name: main, image: registry.example/a:1}]}\n"}


def _list(n: int) -> Files:
    """The Deployments of `_deployments` as items of one document."""
    items = ["- " + _DEPLOYMENT.format(number).replace("\n", "\n  ").rstrip(" ") for number in range(n)]
    return {"a.yaml": "apiVersion: v1\nkind: List\nitems:\n" + "".join(items)}


def _json_list(n: int) -> Files:
    items = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": f"d{number}"},
            "spec": {
                "selector": {"matchLabels": {"app": f"d{number}"}},
                "template": {
                    "metadata": {"labels": {"app": f"d{number}", "policykit.io/workload": "training"}},
                    "spec": {
                        "containers": [
                            {
                                "name": "main",
                                "image": "registry.example/a:1",
                                "resources": {"limits": {"nvidia.com/gpu": 1}},
                            }
                        ]
                    },
                },
            },
        }
        for number in range(n)
    ]
    return {"a.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2)}


def _tasks(n: int) -> Files:
    """One object with findings everywhere."""
    head = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\n"
        f"spec:\n  minAvailable: {n}\n  schedulerName: volcano\n  tasks:\n"
    )
    return {"a.yaml": head + "".join(_TASK.format(number) for number in range(n))}


def _own_names(n: int) -> Files:
    """A configuration with plugins that Volcano does not have."""
    plugins = "".join(f"  - name: plug{number}\n" for number in range(n))
    return {"volcano-scheduler.conf.yaml": f'actions: "allocate"\ntiers:\n- plugins:\n{plugins}'}


def _mounts(n: int) -> Files:
    """Mounts of one container, none of which has its volume."""
    mounts = ", ".join(f"{{name: m{number}, mountPath: /{number}}}" for number in range(n))
    volumes = ", ".join(f"{{name: v{number}}}" for number in range(n))
    container = f"{{name: a, image: registry.example/a:1, volumeMounts: [{mounts}]}}"
    head = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: "
    return {"a.yaml": f"{head}{{containers: [{container}], volumes: [{volumes}]}}\n"}


def _anchors(n: int) -> Files:
    return {"a.yaml": "".join(f"- &a{number} x\n- *a{number}\n" for number in range(n))}


def _blank_lines(n: int) -> Files:
    return {"a.yaml": "#\r\n" * n * 100}


def _without_markers(n: int) -> Files:
    """Objects with no line between them: keys that stand many times in one mapping."""
    head = "apiVersion: v1\nkind: Namespace\nmetadata: {{name: a{0}}}\n"
    return {"a.yaml": "".join(head.format(number) for number in range(n))}


def _flow(n: int) -> Files:
    """One document in flow style."""
    pods = [json.dumps({"a": 1, "b": [{"c": "d"}, number]}) for number in range(n * 10)]
    return {"a.yaml": f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{x: [{', '.join(pods)}]}}\n"}


def _comments(n: int) -> Files:
    """A suppression on every line of a document."""
    lines = [f"  l{number}: a # policykit: ignore[PK101] -- x\n" for number in range(n)]
    return {"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + "".join(lines)}


def _hidden(n: int) -> Files:
    """A finding and a suppression for each document."""
    return _documents([_DEPLOYMENT.format(number) + "# policykit: ignore -- x\n" for number in range(n)])


_GROUP = """\
apiVersion: {1}
kind: PodGroup
metadata: {{name: g{0}}}
spec: {{minMember: 2, queue: q{0}}}
---
"""
_MEMBER = """\
apiVersion: v1
kind: Pod
metadata:
  name: {1}{0}
  labels: {{policykit.io/workload: training, pod-group.scheduling.sigs.k8s.io: g{0}}}
  annotations: {{scheduling.k8s.io/group-name: g{0}, scheduling.volcano.sh/queue-name: q{0}}}
spec:
  schedulerName: {2}
  containers: [{{name: main, image: registry.example/a:1, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]
"""
_APPLICATION = """\
apiVersion: v1
kind: Pod
metadata:
  name: {1}
  labels: {{applicationId: {0}, queue: root.q{1}}}
  annotations: {{yunikorn.apache.org/app-id: {0}, yunikorn.apache.org/queue: root.r{1}}}
spec:
  schedulerName: yunikorn
  containers: [{{name: main, image: registry.example/a:1, resources: {{limits: {{cpu: 1}}}}}}]
"""


def _volcano_groups(n: int) -> Files:
    head = "scheduling.volcano.sh/v1beta1"
    members = [_MEMBER.format(g, name, "volcano") for g in range(n) for name in "ab"]
    return _documents([*(_GROUP.format(g, head).removesuffix("---\n") for g in range(n)), *members])


def _koordinator_groups(n: int) -> Files:
    head = "scheduling.sigs.k8s.io/v1alpha1"
    members = [_MEMBER.format(g, name, "koord-scheduler") for g in range(n) for name in "ab"]
    return _documents([*(_GROUP.format(g, head).removesuffix("---\n") for g in range(n)), *members])


def _one_gang(n: int) -> Files:
    group = _GROUP.format(0, "scheduling.volcano.sh/v1beta1").removesuffix("---\n")
    return _documents([group, *(_MEMBER.format(0, f"a{g}-", "volcano") for g in range(n))])


def _volcano_jobs(n: int) -> Files:
    queues = [_QUEUE.format(number, "root") for number in range(n)]
    jobs = [
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
        f"metadata: {{name: j{number}}}\n"
        f"spec:\n  minAvailable: 3\n  schedulerName: volcano\n  queue: q{number}\n  tasks:\n"
        + _TASK.format(0)
        * 2
        for number in range(n)
    ]
    return _documents(queues + jobs)


def _applications(n: int) -> Files:
    return _documents([_APPLICATION.format(f"app{pod // 2}", pod) for pod in range(2 * n)])


def _one_application(n: int) -> Files:
    return _documents([_APPLICATION.format("app", pod) for pod in range(n)])


def _copies(n: int) -> Files:
    return {f"{copy}.yaml": _APPLICATION.format("app", 0) for copy in range(n)}


def _apart(n: int) -> Files:
    """Groups that no Pod joins, Pods of groups that are elsewhere, queues that hold others."""
    groups = [
        _GROUP.format("", "scheduling.volcano.sh/v1beta1")
        .removesuffix("---\n")
        .replace("name: g", f"name: g, namespace: n{number}")
        for number in range(n)
    ]
    members = [
        _MEMBER.format("", f"p{number}-", "volcano").replace("name: p", f"namespace: m{number}\n  name: p")
        for number in range(n)
    ]
    queues = [_QUEUE.format(f"q{number}", "q") for number in range(n)]
    return _documents([_QUEUE.format("", "root"), *queues, *groups, *members])


def _same_tasks(n: int) -> Files:
    head = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\n"
        f"spec:\n  minAvailable: {n}\n  schedulerName: volcano\n  tasks:\n"
    )
    return {"a.yaml": head + _TASK.format(0) * n}


_POLICY = """\
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {{name: demo}}
domain: ai.example.com
scheme: seed
cards: {{h20: {{product: NVIDIA-H20}}}}
workloads:
  training: {{usages: [training], scheduler: volcano}}
pools:
{pools}queues:
{queues}targets: {{volcano: {{version: "1.15.1"}}}}
generate: {{out: generated}}
"""


def _pools_and_queues(n: int) -> Files:
    pools = "".join(
        f"  p{number}: {{usage: training, card: h20, nodes: {{names: [p{number}]}},"
        " allocatable: {cpu: 180, memory: 1900Gi}}\n"
        for number in range(n)
    )
    queues = "".join(f"  q{number}: {{weight: 1}}\n" for number in range(n))
    return {"policykit.yaml": _POLICY.format(pools=pools, queues=queues)}


def _pods_of_a_policy(n: int) -> Files:
    """A few pods and their policy, which has n pools and queues."""
    return {**_pools_and_queues(n), **_deployments(3)}


def _pools_and_nodes(n: int) -> Files:
    nodes = _nodes(n)["nodes.json"].replace('"name": "n', '"name": "p').replace("L20", "H20")
    return {**_pools_and_queues(n), "nodes.json": nodes}


def _flat_queues(n: int) -> Files:
    return _documents([_QUEUE.format(number, "root") for number in range(n)])


def _jobs_in_files(n: int) -> Files:
    """Jobs whose queues are in other files."""
    jobs = _misspelt_queues(n)["a.yaml"].split("---\n")
    return {f"{number}.yaml": text for number, text in enumerate(jobs)}


def _runtime_classes(n: int) -> Files:
    """Files whose pods name a RuntimeClass of another file."""
    named = _DEPLOYMENT.replace("    spec:\n", "    spec:\n      runtimeClassName: kata\n")
    files = {f"{i}.yaml": named.format(i) for i in range(n)}
    return {**files, "class.yaml": _RUNTIME_CLASS}


def _claims(n: int) -> Files:
    """Pods, each with a claim of its own and the volume of it."""
    pod = _POD.replace(
        "spec: {{", "spec: {{volumes: [{{name: v, persistentVolumeClaim: {{claimName: c{0}}}}}], "
    )
    return {"a.yaml": "---\n".join((pod + _CLAIM).format(i) for i in range(n))}


def _deployments_in_files(n: int) -> Files:
    return {f"{number}.yaml": _DEPLOYMENT.format(number) for number in range(n)}


_CARD = {
    "containers": [
        {"name": "main", "image": "registry.example/a:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    ]
}


def _objects(*objects: Mapping[str, object]) -> Files:
    """JSON is YAML."""
    return _documents([json.dumps({"metadata": {"name": "a"}, **each}) + "\n" for each in objects])


def _replica_types(n: int) -> Files:
    replicas = {
        f"T{number}": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": _CARD}}
        for number in range(n)
    }
    return _objects(
        {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": replicas}}
    )


def _worker_groups(n: int) -> Files:
    """Half of them with a name that others have."""
    groups = [
        {"groupName": f"g{number % (7 if number % 2 else n)}", "minReplicas": 2, "template": {"spec": _CARD}}
        for number in range(n)
    ]
    spec = {"headGroupSpec": {"template": {"spec": _CARD}}, "workerGroupSpecs": groups}
    return _objects({"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": spec})


def _replicated_jobs(n: int) -> Files:
    """Each waits for the one before, and all are named by policies."""
    jobs = [
        {
            "name": f"j{number}",
            "dependsOn": [{"name": f"j{number - 1}", "status": "Ready"}],
            "template": {"spec": {"template": {"spec": {**_CARD, "restartPolicy": "Never"}}}},
        }
        for number in range(n)
    ]
    rules = [{"action": "FailJobSet", "targetReplicatedJobs": [f"j{number}"]} for number in range(n)]
    spec = {
        "replicatedJobs": jobs,
        "successPolicy": {"operator": "All", "targetReplicatedJobs": [f"x{number}" for number in range(n)]},
        "failurePolicy": {"rules": rules},
    }
    return _objects({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": spec})


def _limits(n: int) -> Files:
    limits = [
        {
            "type": "Container",
            "max": {"cpu": 1, f"r{number}": 1},
            "min": {"cpu": 2},
            "default": {"nvidia.com/gpu": 1},
        }
        for number in range(n)
    ]
    return _objects({"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": limits}})


_KUEUE = "kueue.x-k8s.io/v1beta2"


def _kueue(n: int) -> Files:
    """References, none of which leads anywhere, and a cycle of cohorts."""
    objects: list[Mapping[str, object]] = []
    for number in range(n):
        flavor = {"name": f"flavr{number}", "resources": [{"name": "cpu", "nominalQuota": 1}]}
        queue = {
            "cohortName": f"cohort{number}",
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
        }
        for kind, name, spec in (
            ("ResourceFlavor", "flavor", {"topologyName": f"t{number}"}),
            ("ClusterQueue", "queue", queue),
            ("LocalQueue", "local", {"clusterQueue": f"quue{number}"}),
            ("Cohort", "c", {"parentName": f"c{(number + 1) % n}"}),
        ):
            metadata = {"name": f"{name}{number}"}
            objects.append({"apiVersion": _KUEUE, "kind": kind, "metadata": metadata, "spec": spec})
    return _objects(*objects)


def _chart_values(n: int) -> Files:
    """Values for n workloads of a chart, each with a mistake."""
    tolerations = "  tolerations: [{key: nvidia.com/gpu, operator: Equals, effect: NoSchedule}]"
    return {"values.yaml": "".join(f"worker{number}:\n{tolerations}\n" for number in range(n))}


def _flavors(n: int) -> Files:
    """One ClusterQueue."""
    flavors = [
        {"name": f"f{number}", "resources": [{"name": "cpu", "nominalQuota": 1}]} for number in range(n)
    ]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    return _objects({"apiVersion": _KUEUE, "kind": "ClusterQueue", "spec": {"resourceGroups": groups}})


def _overlays(n: int) -> Files:
    """Of one base."""
    base = {"base/a.yaml": _DEPLOYMENT.format(0), "base/kustomization.yaml": "resources: [a.yaml]\n"}
    overlay = "resources: [../base]\nnameSuffix: -{}\n"
    return base | {f"o{number}/kustomization.yaml": overlay.format(number) for number in range(n)}


def _policies(n: int) -> Files:
    """Each with a folder of its own, and a kustomization of that and of what all have in common."""
    files = {"base/a.yaml": _DEPLOYMENT.format(n), "base/kustomization.yaml": "resources: [a.yaml]\n"}
    for number in range(n):
        files[f"t{number}/policykit.yaml"] = _POLICY.format(pools="  {}\n", queues="  {}\n")
        files[f"t{number}/a.yaml"] = _DEPLOYMENT.format(number)
        files[f"t{number}/kustomization.yaml"] = "resources: [../base, a.yaml]\n"
    return files


def _in_an_editor() -> object:
    from policykit.cli.lsp.diagnostics import lint

    path = Path("a.yaml").resolve()
    return lint(str(path), {str(path): path.read_text(encoding="utf-8")}, reference="profile:hybrid-volcano")


def _fleet(clusters: int, apps: int) -> Files:
    """Overlays of bases, all of which every cluster applies."""
    files = {".git/HEAD": ""}
    for app in range(apps):
        files[f"bases/{app}/kustomization.yaml"] = "resources: [a.yaml]\n"
        files[f"bases/{app}/a.yaml"] = _DEPLOYMENT.format(app)
        files[f"apps/{app}/kustomization.yaml"] = f"resources: [../../bases/{app}]\nnamePrefix: a-\n"
    applies = [{"path": f"../../apps/{app}"} for app in range(apps)]
    head = {"apiVersion": "policykit.io/v1alpha1", "kind": "Policy", "extends": ["profile:hybrid-volcano"]}
    for number in range(clusters):
        policy = {**head, "metadata": {"name": f"c{number}"}, "applies": applies}
        files[f"clusters/{number}/policykit.yaml"] = json.dumps(policy)
    return files


SHAPES: Mapping[str, Shape] = {
    "clusters of one tree": Shape(lambda n: _fleet(n, 2), size=2),
    "builds of three clusters": Shape(lambda n: _fleet(3, n), size=2),
    "documents of a file": Shape(_pods, size=10),
    "files": Shape(_files, size=16),
    "a cycle of queues": Shape(_queue_cycle, size=14),
    "a chain of queues": Shape(_queue_chain, size=40),
    "a pattern of .gitignore and a name": Shape(_ignored_names, size=20),
    "broken documents": Shape(_broken),
    "findings in a string": Shape(_in_a_string, size=30),
    "bases named twice": Shape(_doubled_bases, ("gen", "-p", "0.yaml", "--no-cache", "-o", "-"), size=6),
    "brackets in an annotation": Shape(_brackets),
    "where": Shape(_deployments, ("where", "a.yaml", "-p", "profile:hybrid-volcano", "--no-cache"), size=25),
    "patch": Shape(_deployments, ("patch", "a.yaml", "-p", "profile:hybrid-volcano", "--no-cache"), size=6),
    "fixes": Shape(_deployments, (*_LINT, "--fix", *_HYBRID), size=2),
    "a diff of fixes": Shape(_deployments, (*_LINT, "--diff", *_HYBRID), size=2),
    "fixes in a list": Shape(_list, (*_LINT, "--diff", *_HYBRID), size=2),
    "fixes in a list as JSON": Shape(_json_list, (*_LINT, "--diff", *_HYBRID), size=2),
    "fixes in one object": Shape(_tasks, (*_LINT, "--unsafe-fixes", *_HYBRID), size=3),
    "fixes of scopes": Shape(_misspelt_queues, (*_LINT, "--unsafe-fixes", *_HYBRID), size=4),
    "fixes in a string": Shape(_in_a_string, (*_LINT, "--unsafe-fixes", *_HYBRID), size=4),
    "an editor": Shape(_deployments, work=_in_an_editor, size=4),
    "gen": Shape(_pools_and_queues, ("gen", "--no-cache", "-o", "-"), size=20),
    "mounts without volumes": Shape(_mounts, size=60),
    "plugins that Volcano does not have": Shape(_own_names, size=60),
    "anchors": Shape(_anchors, size=100),
    "blank lines": Shape(_blank_lines),
    "objects without a line between": Shape(_without_markers, size=100),
    "sarif": Shape(_deployments, (*_LINT, "--format", "sarif", *_HYBRID), size=3),
    "a baseline": Shape(_deployments, ("baseline", ".", "--no-cache", *_HYBRID), size=12),
    "nodes": Shape(_nodes, ("nodes", "--check", "nodes.json", "--no-cache", *_HYBRID)),
    "a document in flow style": Shape(_flow, size=20),
    "suppressions on every line": Shape(_comments, size=60),
    "suppressions of findings": Shape(_hidden, (*_LINT, *_HYBRID), size=12),
    "groups of Volcano": Shape(_volcano_groups, (*_LINT, *_HYBRID), size=4),
    "groups of Koordinator": Shape(_koordinator_groups, (*_LINT, *_HYBRID), size=4),
    "Pods of one gang": Shape(_one_gang, (*_LINT, *_HYBRID), size=5),
    "jobs and their queues": Shape(_volcano_jobs, (*_LINT, *_HYBRID), size=3),
    "applications": Shape(_applications, size=5),
    "Pods of one application": Shape(_one_application, size=6),
    "copies of an application": Shape(_copies, size=5),
    "groups and Pods in other namespaces": Shape(_apart, (*_LINT, *_HYBRID), size=4),
    "tasks of one name": Shape(_same_tasks, (*_LINT, *_HYBRID), size=4),
    "nodes of an import": Shape(_nodes, ("import", "nodes.json"), size=20),
    "replica types of a job": Shape(_replica_types, (*_LINT, *_HYBRID), size=10),
    "worker groups": Shape(_worker_groups, (*_LINT, *_HYBRID), size=10),
    "replicated jobs": Shape(_replicated_jobs, (*_LINT, *_HYBRID), size=10),
    "limits of a LimitRange": Shape(_limits, (*_LINT, *_HYBRID)),
    "references of Kueue": Shape(_kueue, size=50),
    "values of a chart": Shape(_chart_values, size=20),
    "flavors of a ClusterQueue": Shape(_flavors),
    "overlays of a base": Shape(_overlays, (*_LINT, "--kustomize", "never"), size=10),
    "a file among others": Shape(_jobs_in_files, ("lint", "1.yaml", *_LINT[2:], *_HYBRID), size=8),
    "where, by files": Shape(_deployments_in_files, ("where", ".", "--no-cache", *_HYBRID), size=8),
    "runtime classes": Shape(_runtime_classes, (*_LINT, *_HYBRID), size=4),
    "volumes of pods": Shape(_claims, ("where", "a.yaml", "--no-cache", *_HYBRID), size=10),
    "patch, by files": Shape(_deployments_in_files, ("patch", ".", "--no-cache", *_HYBRID), size=4),
    "fixes, by files": Shape(_deployments_in_files, (*_LINT, "--fix", *_HYBRID), size=3),
    "lint, by pools and queues": Shape(_pods_of_a_policy, size=20),
    "where, by pools and queues": Shape(_pods_of_a_policy, ("where", "a.yaml", "--no-cache"), size=20),
    "patch, by pools and queues": Shape(_pods_of_a_policy, ("patch", "a.yaml", "--no-cache"), size=20),
    "fixes, by pools and queues": Shape(_pods_of_a_policy, (*_LINT, "--diff"), size=20),
    "nodes, by pools": Shape(_pools_and_nodes, ("nodes", "--check", "nodes.json", "--no-cache"), size=20),
    "queues of an import": Shape(_flat_queues, ("import", "a.yaml"), size=40),
    "policies": Shape(_policies, (*_LINT, "--kustomize", "never"), size=6),
}
