"""A pod starts more processes than it has cards.

Launchers start one process for each card: torchrun as `nprocPerNode` or its own option says, mpirun as
`slotsPerWorker`, a server of language models as its tensor and pipeline parallel sizes. Beyond the cards of
the pod a process finds no device of its own, and the job fails once its pods run. A server without such a
size uses one card, whatever its container requests. Ray counts as many cards as
`num-gpus` says, and places tasks that find none; it never places a replica of Ray Serve that needs more cards
or processors than any of its pods has. The parts of a model by `tensor` of an LLMInferenceService are in one
pod. Where CUDA_VISIBLE_DEVICES lists fewer devices than the container requests, the
others are idle; where it lists more, CUDA finds none from the first that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import requests
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import digits, mapping, mappings, text, whole
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.placement.card_requests import card_resources_in, has_unknown_amounts
from policykit.rules.resources.launch_commands import MAIN, commands, option_of, servers

BAD = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: train
spec:
  nprocPerNode: "8"
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example/train:1
            resources:
              requests: {cpu: 8, memory: 64Gi}
              limits: {nvidia.com/gpu: 4}
"""

GOOD = BAD.replace('"8"', '"4"')


class _Processes(NamedTuple):
    """A number of processes, and what states it."""

    number: int
    path: Path
    why: str
    """What happens beyond the cards."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Pods without a card, and those whose number is not known, are left alone."""
    seen: set[Path] = set()
    if manifest.group == "ray.io" and not manifest.partial:
        from policykit.rules.resources.ray_placement import never_placed

        yield from never_placed(manifest, context.cluster)
    if manifest.kind == "MPIJob" and not manifest.partial:
        yield from _beyond_slots(manifest)
        yield from _few_slots(manifest, context.cluster)
    for pod_set in () if manifest.partial else pod_sets(manifest.data):
        asked = requests.effective(pod_set.spec, pod_set.devices)
        names = card_resources_in(asked, context.cluster)
        if not names or has_unknown_amounts(pod_set, context.cluster):
            continue
        cards = sum(asked[name] for name in names)
        yield from _visible(manifest, pod_set, context.cluster)
        for found in () if _OF_SEVERAL_DEVICES.intersection(names) else _processes(manifest, pod_set):
            if found.number > cards and found.path not in seen:
                seen.add(found.path)
                there = f"{cards} {names[0] if len(names) == 1 else 'cards'}"
                yield Violation(
                    found.path,
                    f"{found.number} processes for each pod, but it requests {there}: {found.why}",
                    f"write {cards}, or request {found.number} cards",
                )
        if len(names) == 1 and names[0] in _WHOLE and (manifest.group, manifest.kind) in _ALONE:
            yield from _idle(manifest, pod_set, names[0])


_WHOLE = ("nvidia.com/gpu", "amd.com/gpu")


def _idle(manifest: Manifest, pod_set: PodSet, name: str) -> Iterator[Violation]:
    """Cards that a server does not use. Without a size, vLLM and SGLang use one."""
    for server in servers(manifest, pod_set):
        command = server.command
        asked = requests.requested(command.container).get(name, 0)
        if server.certain and server.cards < asked:
            place: Path = ("resources", "limits", name)
            at = pod_set.place(command.field, command.position, *place)
            yield Violation(
                server.place or at,
                f"the server uses {server.cards} of the {asked} {name} of the container: the others are idle",
                f"write --tensor-parallel-size {asked}, or request {server.cards}",
            )


_OF_SEVERAL_DEVICES = frozenset(
    {
        "google.com/tpu",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neurondevice",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
    }
)
"""Resources of which one may be several devices of a program: chips of two cores, cards of two tiles.

Sources: TPU7x in the documentation of Cloud TPU, Neuron's device plugin, Intel's `ZE_FLAT_DEVICE_HIERARCHY`.
"""
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")


def _visible(manifest: Manifest, pod_set: PodSet, cluster: Cluster | None) -> Iterator[Violation]:
    """Lists of indices; the devices of a container are counted from 0."""
    for path, container in _with_resources(manifest, pod_set):
        asked = requests.requested(container)
        names = card_resources_in(asked, cluster)
        cards = sum(asked[name] for name in names)
        there = f"the container requests {cards} {names[0] if len(names) == 1 else 'cards'}"
        listed = container.get("env") if cards else None
        for at, each in enumerate(listed if isinstance(listed, list) else ()):
            name, value = mapping(each).get("name"), text(mapping(each).get("value"))
            if name not in _VISIBLE or not _INDICES.fullmatch(value):
                continue
            indices = {int(index) for index in value.split(",")}
            if indices != set(range(cards)):
                most = max(indices)
                why = (
                    f"{there}, so device {most} does not exist"
                    if most >= cards
                    else f"{there}: {cards - len(indices)} of them stay idle"
                )
                yield Violation(
                    (*path, "env", at, "value"),
                    f"{name} lists {value}, but {why}",
                    "delete it: the container sees the cards that it requests",
                )


def _with_resources(manifest: Manifest, pod_set: PodSet) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Containers, and what a kind has instead of one, such as the model of an InferenceService."""
    for field, position, container in requests.containers(pod_set.spec):
        yield pod_set.place(field, position), container
    for path in dict.fromkeys(device.path[:-3] for device in pod_set.devices):
        yield path, mapping(lookup(manifest.data, path))


_INDICES = re.compile(r"[0-9]{1,3}(?:,[0-9]{1,3})*")
_NO_DEVICE = "those beyond find no device"
_FIELDS: Mapping[tuple[str, str], tuple[tuple[Path, str], ...]] = {
    ("kubeflow.org", "PyTorchJob"): (
        (("spec", "nprocPerNode"), _NO_DEVICE),
        (("spec", "elasticPolicy", "nProcPerNode"), _NO_DEVICE),
    ),
    ("trainer.kubeflow.org", "TrainJob"): ((("spec", "trainer", "numProcPerNode"), _NO_DEVICE),),
}
"""Fields that torchrun gets as `nproc_per_node`. Sources: the training operator (v1.9), Trainer (v2.1)."""
_SLOTS: Path = ("spec", "slotsPerWorker")
_START: Path = ("rayStartParams", "num-gpus")


def _processes(manifest: Manifest, pod_set: PodSet) -> Iterator[_Processes]:
    kind = (manifest.group, manifest.kind)
    for path, why in _FIELDS.get(kind, ()):
        if number := _number(lookup(manifest.data, path)):
            yield _Processes(number, path, why)
    if kind == ("kubeflow.org", "MPIJob") and "Worker" in pod_set.path:
        # Ranks that share the only card of a node are usual in simulations.
        slots = _number(lookup(manifest.data, _SLOTS))
        if slots and _has_several(pod_set):
            yield _Processes(slots, _SLOTS, "ranks share cards, or find no device")
    if kind == ("serving.kserve.io", "LLMInferenceService"):
        yield from _of_parallelism(manifest, pod_set)
    if manifest.group == "ray.io":
        path = (*pod_set.path[:-1], *_START)
        if number := _number(lookup(manifest.data, path)):
            yield _Processes(number, path, "Ray places tasks that find no device")
    yield from _of_launchers(pod_set)
    if kind in _ALONE or kind == _STATEFUL:
        for server in servers(manifest, pod_set):
            if server.place is not None and (kind in _ALONE or server.name == _IN_ONE_POD):
                yield _Processes(server.cards, server.place, "the server does not start")


def _of_parallelism(manifest: Manifest, pod_set: PodSet) -> Iterator[_Processes]:
    """What KServe's own template gives the server, of which a part may be elsewhere only with workers.

    Source: `config-llm-template.yaml` of KServe (0.20)."""
    base = pod_set.path[:-1]
    alone = lookup(manifest.data, (*base, "worker")) is None and pod_set.path[-1:] == ("template",)
    main = next((each for _, _, each in requests.containers(pod_set.spec) if each.get("name") == "main"), {})
    own = main.get("command") or "tensor" in str(main.get("args"))
    path = (*base, "parallelism", "tensor")
    if alone and not own and (number := _number(lookup(manifest.data, path))):
        yield _Processes(number, path, "parts by tensor are in one pod, and the server does not start")


_MPIRUN = re.compile(r"\b(?:mpirun|mpiexec|horovodrun)\b")
_RANKS = re.compile(r"(?:(?<=mpirun|piexec|vodrun) -n|\s-np)[= ](\d{1,5})\b")
"""-n further on may be an option of the program."""
_OWN_HOSTS = re.compile(
    r"oversubscribe|\s--?(?:host|hostfile|machinefile|host-discovery-script|H)\b", re.IGNORECASE
)
"""Options by which mpirun starts more processes than slots, or on other hosts."""


def _beyond_slots(manifest: Manifest) -> Iterator[Violation]:
    """Where Open MPI finds too few slots in the hosts of the operator. Source: `newConfigMap` of the MPI
    operator (0.6)."""
    sets = {each.name: each for each in pod_sets(manifest.data)}
    launcher, workers = sets.get("launcher"), sets.get("worker")
    spec = mapping(manifest.data.get("spec"))
    each = _number(spec.get("slotsPerWorker", 1))
    if not launcher or not workers or not workers.replicas or not each:
        return
    if spec.get("mpiImplementation", "OpenMPI") != "OpenMPI" or spec.get("runLauncherAsWorker"):
        return
    slots = workers.replicas * each
    for command in commands(launcher):
        variables = mappings(command.container.get("env"))
        found = option_of(command.line, _MPIRUN, _RANKS)
        set_here = [command.line, *(text(one.get("name")) for one in variables)]
        if found is None or any(map(_OWN_HOSTS.search, set_here)):
            continue
        program, ranks = found
        if int(ranks[1]) > slots:
            yield Violation(
                command.place(launcher, ranks.start(1)),
                f"{program[0]} starts {ranks[1]} processes, but {workers.replicas} workers with "
                f"slotsPerWorker {each} have {slots} slots: Open MPI starts none without --oversubscribe",
                f"write {slots}, or raise the workers or slotsPerWorker",
            )


_OWN_PLACES = re.compile(r"torchrun|torch\.distributed|npernode|\s-N[ =]|ppr:|oversubscribe")
"""Where a command says itself how many processes a worker has."""


def _few_slots(manifest: Manifest, cluster: Cluster | None) -> Iterator[Violation]:
    """mpirun starts one process for each slot, which may be one for several cards on purpose."""
    sets = {each.name: each for each in pod_sets(manifest.data)}
    launcher, workers = sets.get("launcher"), sets.get("worker")
    slots = _number(lookup(manifest.data, _SLOTS))
    if not launcher or not workers or not slots:
        return
    asked = requests.effective(workers.spec, workers.devices)
    names = card_resources_in(asked, cluster)
    lines = [command.line for each in (launcher, workers) for command in commands(each)]
    if len(names) != 1 or slots >= asked[names[0]] or any(map(_OWN_PLACES.search, lines)):
        return
    if any(map(_MPIRUN.search, lines)):
        there = f"{asked[names[0]]} {names[0]}"
        yield Violation(
            _SLOTS,
            f"slotsPerWorker is {slots}, but each worker requests {there}: mpirun starts one process for "
            "each slot, and the other cards are idle unless a process uses several",
            f"write {asked[names[0]]}, or request {slots} cards",
            severity=Severity.INFO,
        )


def _has_several(pod_set: PodSet) -> bool:
    asked = requests.effective(pod_set.spec)
    return any(asked[name] > 1 for name in card_resources_in(asked, None))


def _number(written: object) -> int | None:
    return whole(written) if whole(written) is not None else digits(written)


_ALONE = frozenset(
    {
        ("", "Pod"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("batch", "Job"),
        ("serving.knative.dev", "Service"),
        ("serving.kserve.io", "InferenceService"),
    }
)
"""Kinds whose pods work without each other, so that the sizes of a server are those of one pod."""


_STATEFUL = ("apps", "StatefulSet")
_IN_ONE_POD = "text-generation"
"""A server whose parts are all in one pod, whatever makes it."""
_LAUNCHERS = (
    (
        re.compile(r"(?:torchrun|torch\.distributed\.(?:run|launch))\b"),
        re.compile(r"\s--nproc[-_]per[-_]node[= ][\"']?(\d{1,3})\b"),
    ),
    (re.compile(r"\bdeepspeed\b"), re.compile(r"\s--num_gpus[= ](\d{1,3})\b")),
)
"""Commands that start a process for each card. Sources: torchrun (2.9), DeepSpeed (0.18)."""


def _of_launchers(pod_set: PodSet) -> Iterator[_Processes]:
    for command in commands(pod_set):
        for launcher in _LAUNCHERS if command.field == MAIN else ():
            if found := option_of(command.line.replace("\\\n", "  "), *launcher):
                number = found[1]
                yield _Processes(int(number[1]), command.place(pod_set, number.start(1)), _NO_DEVICE)


RULE = Rule(
    code="PK222",
    name="processes-exceed-cards",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(
        "rocPerNode",
        "slotsPerWorker",
        "num-gpus",
        "numProcPerNode",
        "-parallel",
        "_parallel",
        "--tp",
        "-tp",
        "--num-shard",
        "VISIBLE_DEVICES",
        "serveConfigV2",
        "entrypointNum",
        "parallelism",
        "nproc",
        "mpiReplicaSpecs",
        "--num_gpus",
        "vllm",
        "sglang",
    ),
)
