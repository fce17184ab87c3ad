"""A launcher waits for another number of pods than its job has.

torchrun and servers of several nodes are told how many pods there are. If that is more than the job makes,
or runs at a time, those that run wait for the others until they give up, and hold their cards meanwhile. If
it is less, the pods beyond it are refused. A LeaderWorkerSet runs a server in each of its groups, so it is
the size of a group that counts, and the parallel sizes of the server need as many cards as the group has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policykit.kube import requests
from policykit.kube.gang_units import largest_unit
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import digits, whole
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.placement.card_requests import card_resources_in, has_unknown_amounts
from policykit.rules.resources.launch_commands import MAIN, Command, commands, option_of, server_sizes

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
        command: [torchrun, --nnodes=4, --nproc_per_node=8, train.py]
        resources:
          requests: {cpu: 8, memory: 64Gi}
          limits: {nvidia.com/gpu: 8}
"""

GOOD = BAD.replace("--nnodes=4", "--nnodes=2")

_KINDS = frozenset(
    {
        ("batch", "Job"),
        ("batch.volcano.sh", "Job"),
        ("jobset.x-k8s.io", "JobSet"),
        ("kubeflow.org", "PyTorchJob"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    }
)
"""Kinds that make all the pods that wait for each other."""
_EXACT = frozenset({("batch", "Job"), ("kubeflow.org", "PyTorchJob")})
"""Kinds all of whose pods run one program."""
_ELASTIC: Path = ("spec", "elasticPolicy")
_PROGRAMS = re.compile(
    r"(?:torchrun|torch\.distributed\.(?:run|launch)|sglang|vllm|multi-node-serving|deepspeed)\b"
)
_OPTION = re.compile(
    r"\s(?P<option>--nnodes|--num_nodes|--ray_cluster_size)[= ][\"']?"
    r"(?:(?P<least>\d{1,4})(?P<most>:\d{1,4})?|\$(?:[({](?P<name>\w+)[)}]|(?P<plain>\w+)))(?=[\s\"';&|]|$)"
)
"""A number, a range of which the least counts, or a variable."""


class _Awaited(NamedTuple):
    """The pods that a command waits for."""

    number: int
    place: Path
    option: str
    is_range: bool


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Nothing where a number is not known, and nothing of Jobs of one pod: each may have a rank."""
    kind = (manifest.group, manifest.kind)
    sets = pod_sets(manifest.data) if kind in _KINDS and not manifest.partial else ()
    unit = largest_unit(manifest, sets, sets) if sets else None
    if unit is None or unit.pods < 1 or (kind == ("batch", "Job") and not _is_indexed(manifest, unit.pods)):
        return
    for pod_set in sets:
        for each in _awaited(pod_set) if not lookup(manifest.data, _ELASTIC) else ():
            too_few = each.number > unit.pods
            if too_few or (1 < each.number < unit.pods and kind in _EXACT and not each.is_range):
                then = "those that run wait for the others" if too_few else "it refuses the others"
                yield Violation(
                    each.place,
                    f"{each.option} is {each.number}, but {_what(manifest)} runs {unit.pods} "
                    f"pod{'s' if unit.pods > 1 else ''} at a time: {then}",
                    f"write {unit.pods}, or run {each.number} pods",
                )
    if manifest.kind == "LeaderWorkerSet":
        yield from _beyond_group(sets, unit.pods)


def _what(manifest: Manifest) -> str:
    return "a group" if manifest.kind == "LeaderWorkerSet" else f"the {manifest.kind}"


def _is_indexed(manifest: Manifest, pods: int) -> bool:
    return pods > 1 and lookup(manifest.data, ("spec", "completionMode")) == "Indexed"


def _awaited(pod_set: PodSet) -> Iterator[_Awaited]:
    for command in commands(pod_set):
        line = command.line.replace("\\\n", "  ")
        pair = option_of(line, _PROGRAMS, _OPTION) if command.field == MAIN else None
        if pair is None:
            continue
        _, found = pair
        written = found["least"] or _variable(command, line, found["name"] or found["plain"])
        number = digits(written)
        if number:
            place = command.place(pod_set, found.start("option"))
            yield _Awaited(number, place, found["option"], bool(found["most"]))


def _variable(command: Command, line: str, name: str) -> str:
    """Its value in the container, unless the script sets it; there the only one counts."""
    set_here = re.findall(rf"\b{name}=[\"']?([^\s;\"']*)", line)
    if set_here:
        return set_here[0] if len(set_here) == 1 else ""
    return command.variable(name)


def _beyond_group(sets: Sequence[PodSet], size: int) -> Iterator[Violation]:
    """A server in a group of equal pods."""
    cards: set[int] = set()
    for pod_set in sets:
        asked = requests.effective(pod_set.spec, pod_set.devices)
        if has_unknown_amounts(pod_set, None):
            return
        cards.add(sum(asked[name] for name in card_resources_in(asked, None)))
    if len(cards) != 1 or 0 in cards:
        return
    total = cards.pop() * size
    for pod_set in sets:
        for command in commands(pod_set) if any(whole(each.replicas) for each in sets) else ():
            found = server_sizes(command, pod_set)
            if found is not None and found.cards > total and found.place is not None:
                yield Violation(
                    found.place,
                    f"the parallel sizes of the server need {found.cards} cards, but a group of {size} "
                    f"pods has {total}: the server does not start",
                    "raise the size of the group, or lower the parallel sizes",
                )


RULE = Rule(
    code="PK228",
    name="pods-awaited",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("nnodes", "num_nodes", "ray_cluster_size", "-parallel-size", "_parallel_size"),
)
