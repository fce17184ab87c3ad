"""What an unknown field was meant to be."""

from typing import Any

import pytest
import yaml

from policykit.kube.structure import check
from policykit.manifests.path import Path

CONTAINER = "containers: [{name: main, image: app:1}]"

POD = "apiVersion: v1\nkind: Pod\n"
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
JOB = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n"
INFERENCE = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat}\n"

CASES: list[tuple[str, str, list[str]]] = [
    (
        "labels not indented",
        POD + "metadata: {name: app, labels: null, queue: root.a}\nspec: {" + CONTAINER + "}\n",
        ["metadata.queue: probably meant as the label queue, since `labels:` next to it is empty"],
    ),
    (
        "node selector not indented",
        POD + "metadata: {name: app}\nspec: {nodeSelector: null, disk: ssd, " + CONTAINER + "}\n",
        [
            "spec.disk: probably meant as an entry of `nodeSelector`, since `nodeSelector:` next to it "
            "is empty"
        ],
    ),
    (
        "spec beside an empty template",
        JOB + "spec: {tasks: [{name: w, template: null, spec: {" + CONTAINER + "}}]}\n",
        [
            "spec.tasks[0].spec: it belongs under `template:`, which is empty: "
            "the block is not indented deep enough"
        ],
    ),
    (
        "a misplaced block is looked into as what it was meant to be",
        JOB
        + "spec: {tasks: [{template: null, spec: {containers: "
        + "[{name: a, resources: null, limits: {memory: 1GB}}]}}]}\n",
        [
            "spec.tasks[0].spec: it belongs under `template:`, which is empty: "
            "the block is not indented deep enough",
            "spec.tasks[0].spec.containers[0].limits: it belongs under `resources:`, which is empty: "
            "the block is not indented deep enough",
        ],
    ),
    (
        "name beside empty metadata: nothing is missing as well",
        POD + "metadata: null\nname: app\nspec: {" + CONTAINER + "}\n",
        ["name: it belongs under `metadata:`, which is empty: the block is not indented deep enough"],
    ),
    (
        "a slip of the pen in a required field: it is not missing as well",
        POD + "metadata: {name: app}\nspec: {contianers: [{name: main, image: app:1}]}\n",
        ["spec.contianers: did you mean `containers`?"],
    ),
    (
        "other case",
        POD + "metadata: {name: app}\nspec: {nodeselector: {a: b}, " + CONTAINER + "}\n",
        ["spec.nodeselector: did you mean `nodeSelector`?"],
    ),
    (
        "too high",
        DEPLOYMENT + "spec: {selector: {}, schedulerName: volcano, template: {spec: {" + CONTAINER + "}}}\n",
        ["spec.schedulerName: it belongs in spec.template.spec"],
    ),
    (
        "a container's resources beside the containers",
        DEPLOYMENT + "spec: {selector: {}, resources: {}, template: {spec: {" + CONTAINER + "}}}\n",
        ["spec.resources: it belongs in spec.template.spec.containers[0]"],
    ),
    (
        "too high, the one of several places that is written",
        INFERENCE + "spec: {nodeName: a, predictor: {model: {modelFormat: {name: b}}}}\n",
        ["spec.nodeName: it belongs in spec.predictor"],
    ),
    (
        "too high, for one of two places",
        INFERENCE + "spec: {nodeName: a, predictor: {containers: []}, transformer: {containers: []}}\n",
        ["spec.nodeName"],
    ),
    (
        "too low",
        POD + "metadata: {name: app}\nspec: {containers: [{name: a, image: b, tolerations: []}]}\n",
        ["spec.containers[0].tolerations: it belongs in spec"],
    ),
    (
        "at the top level",
        POD + "metadata: {name: app, spec: {}}\nspec: {" + CONTAINER + "}\n",
        ["metadata.spec: it belongs at the top level"],
    ),
    (
        "an amount beside limits",
        POD + "metadata: {name: app}\nspec: {containers: [{name: a, image: b, resources: {cpu: 1}}]}\n",
        ["spec.containers[0].resources.cpu: resource amounts belong under `limits` or `requests`"],
    ),
    (
        "cards beside limits",
        POD + "metadata: {name: app}\n"
        "spec: {containers: [{name: a, image: b, resources: {nvidia.com/gpu: 1}}]}\n",
        ["spec.containers[0].resources['nvidia.com/gpu']: resource amounts belong under `limits`"],
    ),
    (
        "the same name elsewhere holds another type",
        JOB + "spec: {topologyPolicy: {mode: affinity}}\n",
        ["spec.topologyPolicy"],
    ),
]


@pytest.mark.parametrize(("text", "said"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_said(text: str, said: list[str]) -> None:
    data: dict[str, Any] = yaml.safe_load(text)
    found = check(data, data["apiVersion"], data["kind"])
    unknown = [problem for problem in found if problem.kind == "unknown-field"]
    assert [problem.message for problem in unknown] == [f"unknown field {words}" for words in said]
    assert all(problem.key and problem.help for problem in unknown)
    assert [problem.message for problem in found if problem.kind == "missing-field"] == []


def test_faults_inside_a_misplaced_block_are_found() -> None:
    data = yaml.safe_load(
        POD + "metadata: {name: app}\n"
        "spec: {containers: [{name: a, image: b, resources: null, limits: {memory: 1GB}}]}\n"
    )
    assert [(p.kind, p.path[3:]) for p in check(data, "v1", "Pod")] == [
        ("unknown-field", ("limits",)),
        ("invalid-quantity", ("limits", "memory")),
    ]


MEANT = {
    "under the empty field": (
        "metadata: {name: app, labels: null, queue: root.a}\nspec: {" + CONTAINER + "}\n",
        ("metadata", "labels", "queue"),
    ),
    "a slip of the pen": (
        "metadata: {name: app}\nspec: {hostname: a, Containers: []}\n",
        ("spec", "containers"),
    ),
    "letters left out": (
        "metadata: {name: app}\nspec: {hostAlias: [], " + CONTAINER + "}\n",
        ("spec", "hostAliases"),
    ),
    "too distant to act on": ("metadata: {name: app}\nspec: {nodes: a, " + CONTAINER + "}\n", ()),
    "above": (
        "metadata: {name: app}\nspec: {containers: [{name: a, image: b, tolerations: []}]}\n",
        ("spec", "tolerations"),
    ),
    "a card": (
        "metadata: {name: a}\nspec: {containers: [{name: a, image: b, resources: {nvidia.com/gpu: 1}}]}\n",
        ("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"),
    ),
    "cpu, on either side": (
        "metadata: {name: a}\nspec: {containers: [{name: a, image: b, resources: {cpu: 1}}]}\n",
        (),
    ),
    "nothing like it": ("metadata: {name: app}\nspec: {quux: 1, " + CONTAINER + "}\n", ()),
}


@pytest.mark.parametrize(("text", "meant"), MEANT.values(), ids=MEANT)
def test_where_it_was_meant_to_stand(text: str, meant: Path) -> None:
    data: dict[str, Any] = yaml.safe_load(POD + text)
    (unknown,) = [p for p in check(data, "v1", "Pod") if p.kind == "unknown-field"]
    assert unknown.intended == meant
