"""`where` and lint beside kube-scheduler, for random clusters and objects that depend on each other.

Other than in test_kube_scheduler.py, whole objects are tried with all that holds their pods: affinity to
pods, spread constraints, volumes, quotas, host ports.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from policykit import api
from policykit.gates import ACCEPTED, REFUSED
from policykit.gates.pod_gates import Answer
from policykit.linter.finding import Report
from policykit.manifests.writer import dump
from policykit.model.severity import Severity
from policykit.workspace.inputs import cluster_of_text
from tests.cluster.api_server import api_server
from tests.cluster.cluster import Cluster
from tests.cluster.random_objects import Draw, RandomCluster
from tests.cluster.scenes import Fates, count, is_maker, scene, summary
from tests.cluster.scheduler import kube_scheduler

SCENES = int(os.environ.get("POLICYKIT_CLUSTER_SCENES", "40"))
FIRST = int(os.environ.get("POLICYKIT_CLUSTER_FIRST_SCENE", "0"))
_READY = [{"type": "Ready", "status": "True"}]
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 100,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 2,
    "profiles": [{"schedulerName": "default-scheduler"}],
}


class Opinion(NamedTuple):
    """What policykit makes of a scene: of each object, and of all of it."""

    answers: dict[str, Answer]
    report: Report

    @property
    def errors(self) -> list[str]:
        found = [each for each in self.report.findings if each.severity is Severity.ERROR]
        return [f"{each.code} {each.message}" for each in found]

    @property
    def hopes(self) -> frozenset[str]:
        return frozenset(name for name, answer in self.answers.items() if answer.state == ACCEPTED)


def opinion(drawn: RandomCluster) -> Opinion:
    """From the nodes as the server shows them, and from the objects as one complete file."""
    nodes = [{**node, "status": {**node["status"], "conditions": _READY}} for node in drawn.nodes]
    cluster = cluster_of_text(json.dumps({"kind": "List", "items": nodes}).encode(), "nodes.json")
    text = "---\n".join(map(dump, drawn.objects)).encode()
    reviewed = [("objects.yaml", review) for review in api.where(text, cluster)]
    answers = api.answers(reviewed, api.facts("objects.yaml", text, cluster), cluster, complete=True)
    report = api.lint_texts({"objects.yaml": text}, cluster)
    return Opinion({each.review.manifest.name: each for each in answers}, report)


def disagreements(drawn: RandomCluster, thought: Opinion, fates: Fates) -> Iterator[str]:
    for name, words in fates.invalid.items():
        if not thought.errors:
            yield f"{name}: lint has no error, but the API server says: {words}"
    makers = {one["metadata"]["name"]: one for one in drawn.objects if is_maker(one)}
    alone = len(makers) == 1
    for name, pods in fates.pods.items():
        answer, wanted = thought.answers[name], count(makers[name])
        landings = {each.pool.name: each for each in answer.review.landings}
        placed = [each for each in pods if each.node]
        for pod in placed:
            if landings[pod.node].verdict == "refused":
                landing = landings[pod.node]
                yield f"{name}: on {pod.node}, where {landing.reason} refuses it: {landing.detail}"
        gates = [f"{each.name} {each.state} {each.detail}" for each in answer.gates]
        if answer.state == REFUSED and placed:
            yield f"{name}: refused, {gates}, but {summary(pods)}"
        # Other objects may take the room, or be those that it must be near.
        whole = wanted or sum(1 for each in landings.values() if each.accepts)
        if answer.state == ACCEPTED and alone and len(placed) < whole:
            yield f"{name}: accepted, but {summary(pods)}"
    every = [pod for pods in fates.pods.values() for pod in pods]
    runs = all(fates.pods.values()) and all(pod.node for pod in every) and not fates.invalid
    if runs and all(wanted in (None, len(fates.pods[name])) for name, wanted in _counts(makers)):
        yield from (f"all pods are placed, but lint says: {error}" for error in thought.errors)


def _counts(makers: dict[str, dict[str, object]]) -> Iterator[tuple[str, int | None]]:
    return ((name, count(maker)) for name, maker in makers.items())


def test_whole_objects_beside_kube_scheduler(cluster: Cluster, tmp_path: Path) -> None:
    found: list[str] = []
    states: Counter[str] = Counter()
    with (
        api_server(cluster.plane) as server,
        kube_scheduler(cluster.plane, tmp_path / "scheduler", CONFIGURATION),
    ):
        for seed in range(FIRST, FIRST + SCENES):
            drawn = Draw(seed).cluster()
            thought = opinion(drawn)
            with scene(server, drawn, thought.hopes) as made:
                fates = made.settled()
            states.update(answer.state for answer in thought.answers.values())
            said = list(disagreements(drawn, thought, fates))
            if said:
                text = "---\n".join(map(dump, (*drawn.objects, *drawn.nodes)))
                found.append("\n".join([f"scene {seed}:", *said, text]))
    print(f"{SCENES} scenes, states of objects: {dict(sorted(states.items()))}")
    assert not found, "\n\n".join(found)
    assert states[ACCEPTED] >= SCENES // 10
