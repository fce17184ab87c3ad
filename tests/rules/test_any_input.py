"""No rule fails on a manifest of odd shape: a wrong shape is a finding, never a crash."""

import copy
import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from tests.clusters import cluster

LONG = "9" * 5000
"""More digits than int() takes."""
ODD: list[Any] = [None, True, -1, 0.5, "", "${N}", "7", LONG, f"{LONG}%", [], {}]
ODD += [[None], [[]], ["x"], {"x": None}, {"name": 7}]


@cache
def documents() -> tuple[Any, ...]:
    """Every manifest of the rules' cases."""
    found: list[Any] = []
    for path in sorted(Path(__file__).parent.glob("*/cases/*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        for case in [*data["bad"], *data["good"]]:
            try:
                found.extend(yaml.safe_load_all(case["manifest"]))
            except yaml.YAMLError:
                continue
    return tuple(document for document in found if isinstance(document, dict))


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every (collection, key or index) of a document."""
    for key in list(data) if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


@pytest.mark.parametrize("policy", [None, "profile:hybrid-volcano"], ids=["no-policy", "policy"])
@given(draw=st.data())
@settings(max_examples=300, deadline=None)
def test_one_field_of_another_shape(policy: str | None, draw: st.DataObject) -> None:
    document = copy.deepcopy(draw.draw(st.sampled_from(documents())))
    for _ in range(draw.draw(st.integers(1, 2))):
        owner, key = draw.draw(st.sampled_from(list(places(document))))
        owner[key] = copy.deepcopy(draw.draw(st.sampled_from(ODD)))
    report = api.lint_texts({"odd.json": json.dumps(document, default=str).encode()}, cluster(policy))
    assert report.files == 1
    assert report.failures == ()


ODD_OBJECTS = {
    "an endless amount of a queue of KAI": """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: a}
spec: {resources: {gpu: {quota: .inf, limit: 1e308}}}
""",
    "a list as a format of KServe": """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: a}
spec:
  predictor:
    model:
      modelFormat: {name: [vllm]}
      args: [--tensor-parallel-size=2]
      resources: {limits: {nvidia.com/gpu: 1}}
""",
    "a list as a kind of arguments": """\
apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: [NodeResourcesFit]
    args: {apiVersion: kubescheduler.config.k8s.io/v1beta3, kind: [NodeResourcesFitArgs]}
""",
}


@pytest.mark.parametrize("text", ODD_OBJECTS.values(), ids=ODD_OBJECTS.keys())
def test_what_cannot_be_counted_or_looked_up(text: str) -> None:
    assert api.lint_texts({"odd.yaml": text.encode()}).failures == ()


LAUNCHED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: registry.example/train:1, command: [sh, -c, "TEXT --nnodes --num_gpus"]}
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: train}
spec:
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: a, image: b, command: [sh, -c, "TEXT"]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: a, image: b}]}}}
"""


@pytest.mark.parametrize(
    "word", ["torchrun ", "mpirun ", "deepspeed ", "vllm serve ", "sglang ", "{{", "${", "$(", "<"]
)
def test_a_command_that_repeats_a_word(word: str) -> None:
    """A search from each to the end takes minutes: four times the text, and not sixteen times as long."""
    seconds = []
    for size in (40_000, 160_000):
        text = LAUNCHED.replace("TEXT", word * (size // len(word)))
        start = time.process_time()
        assert api.lint_texts({"long.yaml": text.encode()}).files == 1
        seconds.append(time.process_time() - start)
    assert seconds[1] < 8 * seconds[0] + 0.5
