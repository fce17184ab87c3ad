"""Texts that a CRD leaves open and a pod does not."""

import pytest

from scripts.export_crd_schemas import _with_template
from scripts.schema_files import Schema
from scripts.schema_values import with_values

TEXT: Schema = {"type": "string"}
PULL: Schema = {**TEXT, "enum": ["", "Always", "IfNotPresent", "Never"]}
RESTART: Schema = {**TEXT, "enum": ["", "Always", "OnFailure", "Never"]}


def of(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields}


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        pytest.param(of(imagePullPolicy=TEXT), of(imagePullPolicy=PULL), id="a field of a container"),
        pytest.param(of(restartPolicy=TEXT), of(restartPolicy=RESTART), id="a field of a pod"),
        pytest.param(
            of(replicas={}, template={}, restartPolicy=TEXT),
            of(
                replicas={},
                template={},
                restartPolicy={**RESTART, "enum": [*RESTART["enum"], "ExitCode"]},
            ),
            id="a replica of Kubeflow",
        ),
        pytest.param(
            {"items": {"additionalProperties": of(imagePullPolicy=TEXT)}},
            {"items": {"additionalProperties": of(imagePullPolicy=PULL)}},
            id="below lists and maps",
        ),
        pytest.param(
            of(restartPolicy={**TEXT, "enum": ["Default", "None"]}),
            of(restartPolicy={**TEXT, "enum": ["Default", "None"]}),
            id="values of its own",
        ),
        pytest.param(
            of(restartPolicy=of(type=TEXT)), of(restartPolicy=of(type=TEXT)), id="an object of that name"
        ),
        pytest.param(of(mode=TEXT), of(mode=TEXT), id="another text"),
        pytest.param(
            of(effect={**TEXT, "x-served": ["1.5", ""]}),
            of(
                effect={
                    **TEXT,
                    "x-served": ["1.5", ""],
                    "enum": ["", "NoSchedule", "PreferNoSchedule", "NoExecute"],
                }
            ),
            id="of some releases only",
        ),
    ],
)
def test_open_texts(schema: Schema, closed: Schema) -> None:
    assert with_values(schema) == closed
    assert with_values(closed) == closed


def test_a_template_that_is_left_open() -> None:
    opened = of(spec=of(driver=of(template={"type": "object", "x-served": ["2.0", ""]}, cores={})))
    template = _with_template(opened, ["spec", "driver", "template"])["properties"]["spec"]["properties"][
        "driver"
    ]
    assert template["properties"] == {
        "template": {
            "$ref": "../kubernetes/pod.json#/$defs/PodTemplateSpec",
            "x-partial": True,
            "x-served": ["2.0", ""],
        },
        "cores": {},
    }
