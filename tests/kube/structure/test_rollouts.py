"""Strategies of controllers: values that do not go together."""

from __future__ import annotations

import pytest
import yaml

from policykit.kube.structure import check
from policykit.kube.structure.problem import CLASHING, DISAGREEING

TEXT = """
apiVersion: apps/v1
kind: KIND
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: registry.example.com/web:1}]}
"""
FIELDS = {"Deployment": "strategy", "DaemonSet": "updateStrategy", "StatefulSet": "updateStrategy"}


def said(kind: str, strategy: str) -> list[tuple[str, str]]:
    data = yaml.safe_load(TEXT.replace("KIND", kind))
    data["spec"][FIELDS[kind]] = yaml.safe_load(strategy)
    if kind == "StatefulSet":
        data["spec"]["serviceName"] = "web"
    return [(found.kind, found.message) for found in check(data, "apps/v1", kind)]


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        ("Deployment", "{type: Recreate}"),
        ("Deployment", "{type: Recreate, rollingUpdate: null}"),
        ("Deployment", "{rollingUpdate: {maxSurge: 0}}"),
        ("Deployment", "{rollingUpdate: {maxUnavailable: 0}}"),
        ("Deployment", "{rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"),
        ("Deployment", '{rollingUpdate: {maxSurge: "${SURGE}", maxUnavailable: 0}}'),
        ("DaemonSet", "{type: OnDelete, rollingUpdate: {maxUnavailable: 1}}"),
        ("DaemonSet", "{rollingUpdate: {maxUnavailable: 10%}}"),
        ("DaemonSet", "{rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}"),
        ("DaemonSet", "{rollingUpdate: {maxUnavailable: 0%, maxSurge: 30%}}"),
        ("StatefulSet", "{type: RollingUpdate, rollingUpdate: {partition: 1}}"),
    ],
)
def test_what_goes_together(kind: str, strategy: str) -> None:
    assert said(kind, strategy) == []


@pytest.mark.parametrize(
    ("kind", "strategy", "problem"),
    [
        (
            "Deployment",
            "{type: Recreate, rollingUpdate: {maxSurge: 1}}",
            (CLASHING, "spec.strategy.rollingUpdate stands beside type Recreate, which takes none"),
        ),
        (
            "StatefulSet",
            "{type: OnDelete, rollingUpdate: {partition: 1}}",
            (CLASHING, "spec.updateStrategy.rollingUpdate stands beside type OnDelete, which takes none"),
        ),
        (
            "Deployment",
            "{rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}}",
            (
                DISAGREEING,
                "spec.strategy.rollingUpdate lets no pod be away and none be too many: "
                "nothing could be replaced",
            ),
        ),
        (
            "DaemonSet",
            "{rollingUpdate: {maxUnavailable: 0}}",
            (
                DISAGREEING,
                "spec.updateStrategy.rollingUpdate lets no pod be away and none be too many: "
                "nothing could be replaced",
            ),
        ),
        (
            "DaemonSet",
            "{rollingUpdate: {maxSurge: 1}}",
            (
                DISAGREEING,
                "spec.updateStrategy.rollingUpdate has maxUnavailable 1 and maxSurge 1; "
                "a DaemonSet takes one above 0",
            ),
        ),
    ],
)
def test_what_does_not(kind: str, strategy: str, problem: tuple[str, str]) -> None:
    assert said(kind, strategy) == [problem]
