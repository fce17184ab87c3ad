"""Fields of pods that the API server compares with each other."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.kube.structure import check

POD = """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec: SPEC
"""
MAIN = "{name: main, image: 'registry.example.com/train:1'MORE}"


def said(spec: str, more: str = "") -> list[str]:
    main = MAIN.replace("MORE", f", {more}" if more else "")
    text = POD.replace("SPEC", f"{{containers: [{main}]{spec}}}")
    data: dict[str, Any] = yaml.safe_load(text)
    return [found.message for found in check(data, "v1", "Pod")]


@pytest.mark.parametrize(
    ("spec", "more", "message"),
    [
        (
            ", schedulingGates: [{name: a.b/c}, {name: a.b/c}]",
            "",
            "spec.schedulingGates[1].name is a.b/c, which is listed twice",
        ),
        (
            ", schedulingGates: [{name: a b}]",
            "",
            "spec.schedulingGates[0].name is a b, which must begin and end with a letter or digit, with only "
            "letters, digits, '-', '_' and '.' between",
        ),
        (
            ", hostNetwork: true",
            "args: [--to, 'http://loki.logs.svc.cluster.local:3100']",
            "spec.containers[0].args[1] has loki.logs.svc, a name that only the DNS of the cluster knows",
        ),
        (
            ", hostNetwork: true",
            "ports: [{containerPort: 80, hostPort: 81}]",
            "spec.containers[0].ports[0].hostPort is 81, but with hostNetwork it is containerPort 80",
        ),
        (
            ", resourceClaims: [{name: gpu, resourceClaimName: a}, {name: gpu, resourceClaimName: b}]",
            "",
            "spec.resourceClaims[1].name is gpu, which is listed twice",
        ),
        (
            ", resourceClaims: [{name: gpu, resourceClaimName: a}]",
            "resources: {claims: [{name: gpu, request: a}, {name: gpu, request: a}]}",
            "spec.containers[0].resources.claims[1].name is gpu, which is listed twice",
        ),
        (
            ", priority: 5",
            "",
            "spec.priority is 5, but the pod names no PriorityClass: it is refused unless the default is 5",
        ),
    ],
)
def test_refused(spec: str, more: str, message: str) -> None:
    assert said(spec, more) == [message]


@pytest.mark.parametrize(
    ("spec", "more"),
    [
        (", schedulingGates: [{name: a.b/c}, {name: '${GATE}'}]", ""),
        (", hostNetwork: true", "ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81}]"),
        ("", "ports: [{containerPort: 80, hostPort: 81}]"),
        (
            ", resourceClaims: [{name: gpu, resourceClaimName: a}, {name: nic, resourceClaimName: b}]",
            "resources: {claims: [{name: gpu, request: a}, {name: gpu, request: b}]}",
        ),
        (", priority: 5, priorityClassName: high", ""),
        (", priority: 0", ""),
        (", hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet", "args: [http://a.b.svc:80]"),
        (", hostNetwork: true", "args: [http://a.svc.example.com, my.b.svc-x]"),
    ],
)
def test_taken(spec: str, more: str) -> None:
    assert said(spec, more) == []
