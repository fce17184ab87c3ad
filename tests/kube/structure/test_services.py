"""Ports of a Service: what each needs beside the others, and what its type allows."""

from __future__ import annotations

import pytest
import yaml

from policykit.kube.structure import check
from policykit.kube.structure.problem import DISAGREEING, UNMET


def said(ports: str, type_: str = "") -> list[tuple[str, str]]:
    text = f"{{apiVersion: v1, kind: Service, metadata: {{name: web}}, spec: {{ports: {ports}, {type_}}}}}"
    return [(found.kind, found.message) for found in check(yaml.safe_load(text), "v1", "Service")]


@pytest.mark.parametrize(
    ("ports", "type_", "problems"),
    [
        pytest.param("[{port: 80}]", "", [], id="a lone port needs no name"),
        pytest.param("[{name: a, port: 80}, {name: b, port: 81}]", "", [], id="names"),
        pytest.param("[{name: a, port: 53}, {name: b, port: 53, protocol: UDP}]", "", [], id="two protocols"),
        pytest.param("[{port: 80, nodePort: 30080}]", "type: NodePort", [], id="on nodes"),
        pytest.param("[{port: 80, nodePort: 0}]", "type: ClusterIP", [], id="none on nodes"),
        pytest.param('[{port: 80, nodePort: "${P}"}]', "type: ClusterIP", [], id="a placeholder"),
        pytest.param("[{name: PORT_A, port: 80}, {name: PORT_A, port: 81}]", "", [], id="names to come"),
        pytest.param(
            "[80, null]",
            "",
            [
                ("wrong-type", "spec.ports[0] must be a mapping, but is the number 80"),
                ("missing-field", "spec.ports[1] has no `port`"),
            ],
            id="other shapes",
        ),
        pytest.param(
            "[{name: a, port: 80}, {port: 81}, {port: 82}]",
            "",
            [(DISAGREEING, "spec.ports[1] has no `name`, and the Service has 3 ports")],
            id="no name",
        ),
        pytest.param(
            "[{name: a, port: 80}, {name: a, port: 81}]",
            "",
            [(DISAGREEING, 'spec.ports[1].name is "a", the name of spec.ports[0] too')],
            id="one name twice",
        ),
        pytest.param(
            "[{name: a, port: 80}, {name: b, port: 80, protocol: TCP}]",
            "",
            [(DISAGREEING, "spec.ports[1].port is 80 with TCP, as in spec.ports[0]")],
            id="one port twice",
        ),
        pytest.param(
            "[{port: 80, nodePort: 30080}]",
            "type: ClusterIP",
            [
                (
                    DISAGREEING,
                    "spec.ports[0].nodePort is 30080, but a Service of type ClusterIP has no ports on nodes",
                )
            ],
            id="inside the cluster",
        ),
        pytest.param(
            "[{port: 80, nodePort: 30080}]",
            "",
            [
                (
                    UNMET,
                    "spec.ports[0].nodePort is 30080, but a Service without a type, which means ClusterIP, "
                    "has no ports on nodes",
                )
            ],
            id="a type may come later",
        ),
    ],
)
def test_ports(ports: str, type_: str, problems: list[tuple[str, str]]) -> None:
    assert said(ports, type_) == problems
