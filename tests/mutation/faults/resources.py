"""Faults of what is asked for: cards, quotas, autoscalers, the shape of a Job."""

from collections.abc import Iterator
from typing import Any

from policykit.kube.requests import effective
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, injected, misspelt, put, remove, rename, replace
from tests.mutation.places import at, containers, has_schema, is_extract, limits


def _beside(path: Path, name: str, subject: Subject) -> Any:
    """The request beside a limit."""
    asked = at(subject, (*path[:-1], "requests"))
    return asked.get(name) if isinstance(asked, dict) else None


def _request_only(subject: Subject) -> Iterator[Change]:
    for path, name, amount in limits(subject):
        request = Patch("add", (*path[:-1], "requests", name), amount)
        yield Change((Patch("remove", (*path, name)), request))


def _two_amounts(subject: Subject) -> Iterator[Change]:
    for path, name, amount in limits(subject):
        yield put((*path[:-1], "requests", name), int(amount) + 1)


def _fraction(value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, name, _ in limits(subject):
            if _beside(path, name, subject) is None:
                yield replace((*path, name), value)

    return inject


def _renamed(new: str) -> Inject:
    """The resource by another name, in limits and requests."""

    def inject(subject: Subject) -> Iterator[Change]:
        for path, name, _ in limits(subject):
            patches = [Patch("rename", (*path, name), new)]
            if _beside(path, name, subject) is not None:
                patches.append(Patch("rename", (*path[:-1], "requests", name), new))
            if name == "nvidia.com/gpu":
                yield Change(tuple(patches))

    return inject


def _whole_for_shared(subject: Subject) -> Iterator[Change]:
    """The name of a whole card, where the configuration of the plugin renames it."""
    for path, name, _ in limits(subject):
        if name.endswith(".shared") and "renameByDefault: true" in subject.text:
            yield Change((Patch("rename", (*path, name), name.removesuffix(".shared")),))


def _not_shared(subject: Subject) -> Iterator[Change]:
    """Volcano's configuration no longer shares the cards of which pods beside it request shares."""
    for line in subject.text.splitlines(keepends=True):
        if line.strip() == "deviceshare.VGPUEnable: true" and "volcano.sh/vgpu-" in subject.text:
            yield Change(text=subject.text.replace(line, line.replace("true", "false")))


def _untolerated(subject: Subject) -> Iterator[Change]:
    """A workload of Kueue loses what tolerates the taint of the flavors beside it."""
    queued = "kueue.x-k8s.io/queue-name" in subject.manifest.labels
    for pod_set in subject.pod_sets if queued and "nodeTaints:" in subject.text else ():
        if "tolerations" in pod_set.spec:
            yield remove(pod_set.place("tolerations"))


def _one_replica(subject: Subject) -> Iterator[Change]:
    """A card that is shared by one pod."""
    for line in subject.text.splitlines(keepends=True) if "timeSlicing:" in subject.text else ():
        if line.strip() == "replicas: 4":
            yield Change(text=subject.text.replace(line, line.replace("4", "1")))


def _no_number(subject: Subject) -> Iterator[Change]:
    """A quantity where a queue of KAI-Scheduler has a number."""
    if subject.manifest.group == "scheduling.run.ai" and subject.manifest.kind == "Queue":
        for name, amounts in (at(subject, ("spec", "resources")) or {}).items():
            if isinstance(amounts, dict) and "quota" in amounts:
                yield replace(("spec", "resources", name, "quota"), "64Gi")


def _with_mig(subject: Subject) -> Iterator[Change]:
    for path, name, _ in limits(subject):
        if name == "nvidia.com/gpu":
            yield put((*path, "nvidia.com/mig-1g.10gb"), 1)


def _with_amd(subject: Subject) -> Iterator[Change]:
    """Where no pool has both."""
    for path, name, _ in limits(subject) if subject.cluster is None else ():
        if name == "nvidia.com/gpu":
            yield put((*path, "amd.com/gpu"), 1)


def _pod_level(subject: Subject) -> Iterator[Change]:
    for pod_set in subject.pod_sets:
        path = pod_set.place("resources")
        plain = path[-2:] in (("spec", "resources"), ("resources",)) and "containers" in pod_set.spec
        if plain and at(subject, path) is None and has_schema(subject) and pod_set.default_place:
            yield put(path, {"limits": {"nvidia.com/gpu": 1}})


def _no_requests(subject: Subject) -> Iterator[Change]:
    """Cards without processor and memory beside them, in pods of one container."""
    for path, container in containers(subject):
        beside = at(subject, path[:-1])
        if len(beside) > 1 or at(subject, (*path[:-2], "initContainers")):
            continue
        resources = container["resources"] if isinstance(container.get("resources"), dict) else {}
        asked = resources.get("limits")
        if (
            isinstance(asked, dict)
            and str(asked.get("nvidia.com/gpu")).isdigit()
            and {"cpu", "memory"} & set(asked)
        ):
            yield replace((*path, "resources"), {"limits": {"nvidia.com/gpu": asked["nvidia.com/gpu"]}})


def _quota(subject: Subject) -> Iterator[tuple[Path, str]]:
    hard = at(subject, ("spec", "hard"))
    if subject.manifest.kind == "ResourceQuota" and isinstance(hard, dict):
        yield from ((("spec", "hard", key), key) for key in hard if key.startswith("requests.nvidia.com/"))


def _quota_key(prefix: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, key in _quota(subject):
            yield rename(path, prefix + key.removeprefix("requests."))

    return inject


def _limit_range(field: str) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if subject.manifest.kind == "LimitRange":
            yield put(("spec", "limits", 0, field, "nvidia.com/gpu"), 1)

    return inject


def _card_metric(subject: Subject) -> Iterator[Change]:
    metrics = at(subject, ("spec", "metrics"))
    if subject.manifest.kind == "HorizontalPodAutoscaler" and isinstance(metrics, list):
        for index, metric in enumerate(metrics):
            if isinstance(metric, dict) and metric.get("type") == "Resource":
                yield replace(("spec", "metrics", index, "resource", "name"), "nvidia.com/gpu")


def _bounds(subject: Subject) -> Iterator[Change]:
    most = at(subject, ("spec", "maxReplicas"))
    if subject.manifest.kind == "HorizontalPodAutoscaler" and type(most) is int:
        yield put(("spec", "minReplicas"), most + 1)


def _job(subject: Subject) -> bool:
    return subject.manifest.kind == "Job" and subject.manifest.group == "batch"


def _parallelism(subject: Subject) -> Iterator[Change]:
    completions = at(subject, ("spec", "completions"))
    if _job(subject) and type(completions) is int:
        yield put(("spec", "parallelism"), completions + 2)


def _indexed(subject: Subject) -> Iterator[Change]:
    if _job(subject) and at(subject, ("spec", "completions")) is not None:
        done = at(subject, ("spec", "completionMode"))
        mode = () if done == "Indexed" else put(("spec", "completionMode"), "Indexed").patches
        yield Change((*mode, *remove(("spec", "completions")).patches))


def _restarts(subject: Subject) -> Iterator[Change]:
    if _job(subject):
        yield put(("spec", "template", "spec", "restartPolicy"), "Always")


_NAMES = "PK211 PK202"


def _narrow_quota(subject: Subject) -> Iterator[Change]:
    """A quota of one pod beside a Volcano Job that starts several at once."""
    manifest = subject.manifest
    alone = len(subject.others) == 1 and manifest.kind == "Job" and manifest.group == "batch.volcano.sh"
    if alone and (at(subject, ("spec", "minAvailable")) or 0) > 1 and not is_extract(subject):
        # One that states no namespace is compared with a quota that states none either.
        namespace = f", namespace: {manifest.namespace}" if manifest.namespace else ""
        quota = f"kind: ResourceQuota\nmetadata: {{name: narrow{namespace}}}\n"
        text = f"{subject.text.rstrip()}\n---\napiVersion: v1\n{quota}spec: {{hard: {{pods: 1}}}}\n"
        yield Change(text=text)


def _low_range(subject: Subject) -> Iterator[Change]:
    """A LimitRange of pods of a thousandth of a processor beside a workload that asks for more."""
    manifest = subject.manifest
    alone = len(subject.others) == 1 and manifest.kind in ("Deployment", "StatefulSet", "DaemonSet")
    asks = any(
        at(subject, (*path, "resources", "requests", "cpu")) is not None for path, _ in containers(subject)
    )
    if alone and asks and not is_extract(subject):
        namespace = f", namespace: {manifest.namespace}" if manifest.namespace else ""
        head = f"apiVersion: v1\nkind: LimitRange\nmetadata: {{name: low{namespace}}}\n"
        spec = "spec: {limits: [{type: Pod, max: {cpu: 1m}}]}\n"
        yield Change(text=f"{subject.text.rstrip()}\n---\n{head}{spec}")


def _admin_access(subject: Subject) -> Iterator[Change]:
    """A claim with an administrator's access in a namespace without the label for it."""
    if len(subject.others) == 1 and subject.manifest.kind == "Deployment" and not is_extract(subject):
        namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: watched}\n"
        head = (
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: all, namespace: watched}\n"
        )
        exactly = "{deviceClassName: gpu.nvidia.com, allocationMode: All, adminAccess: true}"
        spec = f"spec: {{devices: {{requests: [{{name: all, exactly: {exactly}}}]}}}}\n"
        yield Change(text=f"{subject.text.rstrip()}\n---\n{namespace}---\n{head}{spec}")


def _second_driver(subject: Subject) -> Iterator[Change]:
    """Two drivers for the same nodes."""
    if len(subject.others) == 1 and subject.manifest.kind == "Deployment" and not is_extract(subject):
        head = "apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {name: %s}\n"
        spec = "spec: {driverType: gpu, image: driver, repository: nvcr.io/nvidia, version: %s}\n"
        drivers = (
            head % name + spec % version for name, version in (("a", "580.95.05"), ("b", "570.195.03"))
        )
        yield Change(text="---\n".join((f"{subject.text.rstrip()}\n", *drivers)))


def _lost_cards(subject: Subject) -> Iterator[Change]:
    """A TrainJob that states more memory and not the cards of its runtime."""
    if len(subject.others) == 1 and subject.manifest.kind == "Deployment" and not is_extract(subject):
        container = "{name: node, image: example/train:1, resources: {limits: {nvidia.com/gpu: 2}}}"
        job = (
            "{name: node, template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: "
            f"trainer}}}}, spec: {{template: {{spec: {{containers: [{container}]}}}}}}}}}}"
        )
        head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: %s\nmetadata: {name: own}\nspec: {%s}\n"
        runtime = head % ("ClusterTrainingRuntime", f"template: {{spec: {{replicatedJobs: [{job}]}}}}")
        stated = "runtimeRef: {name: own}, trainer: {resourcesPerNode: {limits: {memory: 64Gi}}}"
        yield Change(text=f"{subject.text.rstrip()}\n---\n{runtime}---\n{head % ('TrainJob', stated)}")


def _other_port(subject: Subject) -> Iterator[Change]:
    """A route to a port that the Service beside it does not have."""
    if len(subject.others) == 1 and subject.manifest.kind == "Deployment" and not is_extract(subject):
        service = "apiVersion: v1\nkind: Service\nmetadata: {name: own, namespace: x}\n"
        backend = "defaultBackend: {service: {name: own, port: {number: 8080}}}"
        head = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: own, namespace: x}\n"
        route = f"{head}spec: {{{backend}}}\n"
        text = f"{subject.text.rstrip()}\n---\n{service}spec: {{ports: [{{port: 80}}]}}\n---\n{route}"
        yield Change(text=text)


def _other_level(subject: Subject) -> Iterator[Change]:
    """A topology of KAI-Scheduler beside a group that must stay within a level that it lacks."""
    if len(subject.others) == 1 and subject.manifest.kind == "Deployment" and not is_extract(subject):
        levels = "spec: {levels: [{nodeLabel: example.com/rack}]}\n"
        topology = f"apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {{name: rows}}\n{levels}"
        head = "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: all}\n"
        within = "topologyConstraint: {topology: rows, requiredTopologyLevel: example.com/row}"
        text = f"{subject.text.rstrip()}\n---\n{topology}---\n{head}spec: {{minMember: 1, {within}}}\n"
        yield Change(text=text)


def _no_room_to_update(subject: Subject) -> Iterator[Change]:
    """A quota of as many pods as a Deployment has, which starts a new one before it removes one."""
    manifest, replicas = subject.manifest, at(subject, ("spec", "replicas"))
    alone = len(subject.others) == 1 and manifest.kind == "Deployment" and manifest.group == "apps"
    few = isinstance(replicas, int) and 0 < replicas < 4 and at(subject, ("spec", "strategy")) is None
    if alone and few and not is_extract(subject):
        namespace = f", namespace: {manifest.namespace}" if manifest.namespace else ""
        quota = f"kind: ResourceQuota\nmetadata: {{name: narrow{namespace}}}\n"
        spec = f"spec: {{hard: {{pods: {replicas}}}}}\n"
        yield Change(text=f"{subject.text.rstrip()}\n---\napiVersion: v1\n{quota}{spec}")


def _memory_as_annotation(subject: Subject) -> Iterator[Change]:
    for pod_set in subject.pod_sets if has_schema(subject) else ():
        path = pod_set.place("annotations", "nvidia.com/gpumem")
        if path[-1] == "nvidia.com/gpumem":
            yield put(path, "4000")


def _unknown_card_policy(subject: Subject) -> Iterator[Change]:
    for pod_set in subject.pod_sets if has_schema(subject) else ():
        path = pod_set.place("annotations", "hami.io/gpu-scheduler-policy")
        shared = "nvidia.com/gpu" in effective(pod_set.spec, pod_set.devices)
        if shared and path[-1] == "hami.io/gpu-scheduler-policy":
            yield put(path, "bin-pack")


def _without_index(subject: Subject) -> Iterator[Change]:
    """Jobs of a set that has racks to itself lose their index."""
    jobs = at(subject, ("spec", "replicatedJobs"))
    if subject.manifest.kind == "JobSet" and isinstance(jobs, list):
        mark = put(
            ("metadata", "annotations", "alpha.jobset.sigs.k8s.io/exclusive-topology"), "example.com/rack"
        )
        mode = put(("spec", "replicatedJobs", 0, "template", "spec", "completionMode"), "NonIndexed")
        yield Change((*mark.patches, *mode.patches))


def _too_many_replicas(subject: Subject) -> Iterator[Change]:
    """More replicas with cards than the pools hold, where the policy lists them all."""
    cluster, kinds = subject.cluster, ("Deployment", "StatefulSet")
    known = cluster is not None and cluster.complete and all(p.shapes[0].maximum for p in cluster.pools)
    if known and subject.manifest.kind in kinds and list(limits(subject)) and not is_extract(subject):
        yield put(("spec", "replicas"), 4000)


def _too_many_processes(subject: Subject) -> Iterator[Change]:
    if subject.manifest.kind == "PyTorchJob" and list(limits(subject)) and has_schema(subject):
        yield put(("spec", "nprocPerNode"), "64")


def _more_awaited(subject: Subject) -> Iterator[Change]:
    """torchrun that waits for more pods than a job makes."""
    kind = subject.manifest.kind, subject.manifest.group
    if (
        kind != ("PyTorchJob", "kubeflow.org")
        or at(subject, ("spec", "elasticPolicy"))
        or not has_schema(subject)
    ):
        return
    for path, _, _ in limits(subject):
        container = path[:-2]
        if path[-4:-2] == ("containers", 0) and at(subject, (*container, "args")) is None:
            yield put((*container, "command"), ["torchrun", "--nnodes=512", "train.py"])


def _one_index_for_all(subject: Subject) -> Iterator[Change]:
    """A rank from the index of a Job that has none."""
    spec = at(subject, ("spec",))
    if (subject.manifest.kind, subject.manifest.group) != ("Job", "batch") or "completionMode" in spec:
        return
    container = ("spec", "template", "spec", "containers", 0)
    if isinstance(spec.get("completions"), int) and spec["completions"] > 1 and has_schema(subject):
        yield put((*container, "args"), ["--rank=$(JOB_COMPLETION_INDEX)"])


def _little_shared_memory(subject: Subject) -> Iterator[Change]:
    """A server of two cards without a volume in memory."""
    for path, name, amount in limits(subject) if subject.manifest.kind == "Deployment" else ():
        container = path[:-2]
        fits = name == "nvidia.com/gpu" and str(amount).isdecimal() and int(amount) > 1
        if fits and path[-4:-2] == ("containers", 0) and at(subject, (*container, "volumeMounts")) is None:
            words = ["vllm", "serve", "example/model", f"--tensor-parallel-size={amount}"]
            yield put((*container, "command"), words)


def _shared_port(subject: Subject) -> Iterator[Change]:
    """A port of the host in two containers of a pod."""
    listed = at(subject, ("spec", "template", "spec", "containers"))
    if subject.manifest.kind != "Deployment" or not has_schema(subject) or not isinstance(listed, list):
        return
    if len(listed) == 1 and is_extract(subject) is False:
        port = [{"containerPort": 8123, "hostPort": 8123}]
        other = {"name": "another", "image": "registry.example/other:1", "ports": port}
        path: Path = ("spec", "template", "spec", "containers")
        if "ports" not in listed[0]:
            yield Change((Patch("add", (*path, 0, "ports"), port), Patch("add", (*path, 1), other)))


def _second_autoscaler(subject: Subject) -> Iterator[Change]:
    target = at(subject, ("spec", "scaleTargetRef"))
    scaled = isinstance(target, dict) and target.get("kind") == "Deployment" and target.get("name")
    if subject.manifest.kind == "HorizontalPodAutoscaler" and scaled and not subject.manifest.namespace:
        head = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: another}\n"
        spec = f"spec: {{scaleTargetRef: {{name: {scaled}}}, maxReplicaCount: 2, triggers: []}}\n"
        yield Change(text=f"{subject.text.rstrip()}\n---\n{head}{spec}")


def _misspelt_claim(subject: Subject) -> Iterator[Change]:
    """The name of a claim template of the same file."""
    for pod_set in subject.pod_sets if "ResourceClaimTemplate" in subject.others else ():
        path = pod_set.place("resourceClaims", 0, "resourceClaimTemplateName")
        if isinstance(name := at(subject, path), str):
            yield replace(path, misspelt(name))


def _large_shared_memory(subject: Subject) -> Iterator[Change]:
    """A volume in memory that the container of a Deployment cannot fill."""
    for path, _, _ in limits(subject) if subject.manifest.kind == "Deployment" else ():
        if path[-4:-2] != ("containers", 0) or _beside(path, "memory", subject) is None:
            continue
        there = at(subject, (*path[:-2], "volumeMounts")), at(subject, (*path[:-4], "volumes"))
        if there == (None, None) and is_extract(subject) is False:
            volume = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Ti"}}
            mount = Patch("add", (*path[:-2], "volumeMounts"), [{"name": "shm", "mountPath": "/dev/shm"}])
            limit = Patch("add", (*path, "memory"), _beside(path, "memory", subject))
            yield Change((mount, limit, Patch("add", (*path[:-4], "volumes"), [volume])))


def _by_variable(subject: Subject) -> Iterator[Change]:
    """All cards of a node, instead of those that are requested."""
    for path, name, _ in limits(subject):
        alone = len(list(containers(subject))) == 1 and _beside(path, name, subject) is None
        if alone and subject.manifest.kind in ("Deployment", "Pod") and name == "nvidia.com/gpu":
            env = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
            yield Change((Patch("remove", (*path, name)), Patch("add", (*path[:-2], "env"), env)))


def _claim_for_one_pod(subject: Subject) -> Iterator[Change]:
    """The only volume of a Deployment of several pods becomes a claim for one of them."""
    replicas = at(subject, ("spec", "replicas"))
    if subject.manifest.kind == "Deployment" and isinstance(replicas, int) and replicas > 1:
        path: Path = ("spec", "template", "spec", "volumes")
        if at(subject, path) is None and not subject.manifest.namespace and has_schema(subject):
            head = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: one}\n"
            spec = "spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}\n"
            volume = [{"name": "one", "persistentVolumeClaim": {"claimName": "one"}}]
            if text := injected(subject, put(path, volume)):
                yield Change(text=f"{text.rstrip()}\n---\n{head}{spec}")


FAULTS = (
    fault("shared memory beyond the limit", "PK225", _large_shared_memory),
    fault("a port of the host twice", "PK004", _shared_port),
    fault("more pods awaited than there are", "PK228", _more_awaited),
    fault("an index in a Job without one", "PK210", _one_index_for_all),
    fault("a server of several cards with little shared memory", "PK229", _little_shared_memory),
    fault("cards by a variable", "PK227 PK124", _by_variable),
    fault("a claim for one pod of several", "PK226", _claim_for_one_pod, elsewhere=True),
    fault("more replicas than the pools hold", "PK221 PK304", _too_many_replicas),
    fault("more processes than cards", "PK222", _too_many_processes),
    fault("a second autoscaler", "PK223", _second_autoscaler, elsewhere=True),
    fault("a misspelt claim template", "PK224", _misspelt_claim),
    fault("a card that one pod shares", "PK220", _one_replica),
    fault("a quantity in a queue of KAI-Scheduler", "PK414", _no_number),
    fault("no toleration of the flavors of the queue", "PK932", _untolerated),
    fault("a whole card where the plugin renames it", "PK219", _whole_for_shared),
    fault("shares of cards that nothing accounts for", "PK517", _not_shared, elsewhere=True),
    fault("a quota below a gang", "PK215", _narrow_quota, elsewhere=True),
    fault("a quota without room for an update", "PK215", _no_room_to_update, elsewhere=True),
    fault("an administrator's access without its label", "PK224", _admin_access, elsewhere=True),
    fault("a level that a topology lacks", "PK224", _other_level, elsewhere=True),
    fault("two drivers for the same nodes", "PK230", _second_driver, elsewhere=True),
    fault("a job without the cards of its runtime", "PK231", _lost_cards, elsewhere=True),
    fault("a port that a Service lacks", "PK224", _other_port, elsewhere=True),
    fault("a pod above the LimitRange of pods", "PK215", _low_range, elsewhere=True),
    fault("a card's memory as an annotation", "PK216", _memory_as_annotation),
    fault("a policy of cards that HAMi does not know", "PK216", _unknown_card_policy),
    fault("jobs without an index that have racks to themselves", "PK210", _without_index),
    fault("a card only under requests", "PK201", _request_only),
    fault("a request that is not the limit", "PK201", _two_amounts),
    fault("half a card", "PK201 PK005", _fraction("500m")),
    fault("half a card as a decimal", "PK201 PK004 PK005", _fraction(0.5)),
    fault("a bare gpu", _NAMES, _renamed("gpu")),
    fault("a card of another domain", _NAMES, _renamed("nvidia/gpu")),
    fault("a card in the plural", _NAMES, _renamed("nvidia.com/gpus")),
    fault("a label key as a resource", _NAMES, _renamed("nvidia.com/gpu.product")),
    fault("a MIG profile with a plus", f"{_NAMES} PK006", _renamed("nvidia.com/mig-1g.10gb+me")),
    fault("whole cards and MIG in one container", "PK213", _with_mig),
    fault("cards of two makers in one container", "PK213", _with_amd),
    fault("a card in the pod's own resources", "PK212 PK003 PK004", _pod_level),
    fault("cards without processor and memory", "PK205", _no_requests),
    fault("a quota key without requests.", "PK206", _quota_key("")),
    fault("a quota key with limits.", "PK206", _quota_key("limits.")),
    fault("cards in a LimitRange's default", "PK207", _limit_range("default")),
    fault("cards in a LimitRange's min", "PK207", _limit_range("min")),
    fault("an autoscaler that looks at cards", "PK208", _card_metric),
    fault("an autoscaler with min above max", "PK208", _bounds),
    fault("more pods at a time than in all", "PK210", _parallelism),
    fault("Indexed without completions", "PK210", _indexed),
    fault("a Job that restarts for ever", "PK210 PK004", _restarts),
)
